package api

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckName returns the name of a thing without the spaces around it. It stands in lists and logs, so it is one line.
func CheckName(wrong *Fields, field, text string, most int) string {
	text = strings.TrimSpace(text)
	if text == "" || utf8.RuneCountInString(text) > most || !isLine(text) {
		wrong.Add(field, fmt.Sprintf("Must be one line of 1 to %d characters.", most))
	}
	return text
}

// CheckLine returns a line that somebody wrote, if anything, without the spaces around it.
func CheckLine(wrong *Fields, field, text string, most int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > most || !isLine(text) {
		wrong.Add(field, fmt.Sprintf("Must be one line of at most %d characters.", most))
	}
	return text
}

// CheckText returns a text that somebody wrote, in any number of lines, without the spaces around it.
func CheckText(wrong *Fields, field, text string, most int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > most || strings.ContainsRune(text, 0) {
		wrong.Add(field, fmt.Sprintf("Must have at most %d characters and no NUL.", most))
	}
	return text
}

func isLine(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

package message

import (
	"regexp"
	"strings"
)

// maxIntroduction is how many lines the words before a quotation may take: mail programs fold them.
const maxIntroduction = 3

// introduction is what mail programs put before what they quote, in the languages that most of them speak. It is matched against a
// single line, so it costs no more than its length.
var introduction = regexp.MustCompile(`(?i)^\s*(?:` +
	`on\b.{1,300}\bwrote|am\b.{1,300}\bschrieb\b.{0,100}|le\b.{1,300}\ba écrit|el\b.{1,300}\bescribió|em\b.{1,300}\bescreveu|il\b.{1,300}\bha scritto|op\b.{1,300}\bschreef\b.{0,100}` +
	`|.{1,300}\bwrote|.{1,300}<[^<>\s]+@[^<>\s]+>` +
	`)\s*:\s*$`)

// divider is a line that parts an answer from the message below it.
var divider = regexp.MustCompile(`(?i)^\s*(?:-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale)\s*-{2,}|_{20,})\s*$`)

// copiedHead is the first line of a header that some programs copy above what they quote.
var copiedHead = regexp.MustCompile(`(?i)^\s*\*?(?:from|von|de|da|van)\*?\s?:\s?\*?.+`)

// copiedField is a line that follows it.
var copiedField = regexp.MustCompile(`(?i)^\s*\*?(?:sent|date|to|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|para|asunto|assunto|inviato|a|oggetto|verzonden|aan|onderwerp)\*?\s?:`)

// Unquoted returns what somebody wrote, without the message they answer and without their signature. It goes by the marks that mail
// programs leave, and returns the whole text rather than nothing: a text that is all quotation is what they sent.
func Unquoted(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	kept := make([]string, 0, len(lines))
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case line == "-- " || divider.MatchString(line), copiedHead.MatchString(line) && followedByHead(lines[i+1:]):
			return orWhole(kept, text)
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), ">"):
			continue
		}
		if n := introduces(lines[i:]); n > 0 {
			i += n - 1
			continue
		}
		kept = append(kept, strings.TrimRight(line, " \t\r"))
	}
	return orWhole(kept, text)
}

// introduces tells how many lines are the words before a quotation, which must follow.
func introduces(lines []string) int {
	joined := ""
	for n := 1; n <= min(maxIntroduction, len(lines)); n++ {
		line := strings.TrimSpace(lines[n-1])
		if line == "" || len(joined)+len(line) > maxIntroductionBytes {
			return 0
		}
		joined = strings.TrimSpace(joined + " " + line)
		if strings.HasSuffix(line, ":") && quotationFollows(lines[n:]) && introduction.MatchString(joined) {
			return n
		}
	}
	return 0
}

// maxIntroductionBytes keeps long lines from being matched at all.
const maxIntroductionBytes = 600

func quotationFollows(lines []string) bool {
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			return strings.HasPrefix(line, ">")
		}
	}
	return false
}

// followedByHead tells whether a copied header goes on; a lone "From:" is somebody's text.
func followedByHead(lines []string) bool {
	found := 0
	for _, line := range lines[:min(len(lines), 6)] {
		if copiedField.MatchString(line) {
			found++
		}
	}
	return found >= 2
}

func orWhole(kept []string, text string) string {
	if left := strings.TrimSpace(strings.Join(kept, "\n")); left != "" {
		return left
	}
	return strings.TrimSpace(text)
}

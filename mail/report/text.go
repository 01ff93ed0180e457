package report

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxHint is the longest wait that a server may ask for; beyond it the normal schedule knows better.
const maxHint = time.Hour

var (
	// enhancedAtStart is where RFC 2034 puts the code: first, or right after the basic code.
	enhancedAtStart = regexp.MustCompile(`^\s*(?:[245]\d\d[ -])?\s*[<(\[#]{0,2}([245]\.\d{1,3}\.\d{1,3})(?:[^\d.]|\.\D|\.?$)`)
	// enhancedMarked is where older servers put it: anywhere, behind a "#".
	enhancedMarked = regexp.MustCompile(`#([245]\.\d{1,3}\.\d{1,3})\b`)
	// waitFor asks for a preposition, so that "100 messages per 60 minutes" is not a wait.
	waitFor = regexp.MustCompile(`(?i)\b(?:in|after|for|wait|least|about)\s+(\d{1,6})\s*(seconds?|secs?|s|minutes?|mins?|m)\b`)
)

// ParseEnhanced returns the enhanced status code in the text of a reply, or "". Version numbers and IP addresses are not codes.
func ParseEnhanced(text string) string {
	text = text[:min(len(text), maxText)]
	if m := enhancedAtStart.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := enhancedMarked.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// splitEnhanced returns the subject and the detail of an enhanced code, which are empty for anything else.
func splitEnhanced(code string) (subject, detail string) {
	parts := strings.Split(code, ".")
	if len(parts) != 3 {
		return "", ""
	}
	return parts[1], parts[2]
}

// RetryHint returns how long a reply asks to wait ("try again in 4 minutes"), an hour at most.
func RetryHint(text string) (time.Duration, bool) {
	m := waitFor.FindStringSubmatch(text[:min(len(text), maxText)])
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n == 0 {
		return 0, false
	}
	unit := time.Second
	if strings.HasPrefix(strings.ToLower(m[2]), "m") {
		unit = time.Minute
	}
	return min(time.Duration(n)*unit, maxHint), true
}

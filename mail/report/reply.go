package report

import (
	"regexp"
	"strconv"
	"strings"

	"postrider/mail/smtp"
)

// found is a reply of a server inside a text.
type found struct {
	code     int
	enhanced string
	start    int
}

// Replies in a text, from the surest form to the least sure. Subjects end at 7, which keeps version numbers out.
var (
	codeAndStatus = regexp.MustCompile(`(?:^|[^\d.])([45]\d\d)[ \-:]{1,3}[#(<\[]{0,2}([45]\.[0-7]\.\d{1,3})(?:[^\d.]|\.\D|\.?$)`)
	codeAlone     = regexp.MustCompile(`(?im)(?:^[ \t>*<\-]*|(?:said|was|error|response|reason|replied|returned|code|status|smtp)[:;][ \t]*['"(]?|(?:error|code|returned|smtp)[ \t]+['"(#]?|['"(] ?)([45]\d\d)(?:[ \-:][ \t]?[^\d\s]|\r?$)`)
	statusAlone   = regexp.MustCompile(`(?m)(?:^|[\s#(<\[:])([45]\.[0-7]\.\d{1,3})(?:[\s),:;>\]]|\.\D|\.?$)`)
)

// findReply looks for what a server said. Numbers of other kinds abound in texts, so a code counts only where replies have it.
func findReply(text string) (found, bool) {
	text = text[:min(len(text), maxNotice)]
	if m := codeAndStatus.FindStringSubmatchIndex(text); m != nil {
		return found{code: number(text[m[2]:m[3]]), enhanced: text[m[4]:m[5]], start: m[2]}, true
	}
	code, status := codeAlone.FindStringSubmatchIndex(text), statusAlone.FindStringSubmatchIndex(text)
	switch {
	case code != nil && status != nil:
		return found{code: number(text[code[2]:code[3]]), enhanced: text[status[2]:status[3]], start: min(code[2], status[2])}, true
	case code != nil:
		return found{code: number(text[code[2]:code[3]]), start: code[2]}, true
	case status != nil:
		return found{enhanced: text[status[2]:status[3]], start: status[2]}, true
	}
	return found{}, false
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the patterns let three digits through
	return n
}

// stageIn tells at which command a reply came, from the words in which servers tell it.
func stageIn(text string) smtp.Stage {
	text = strings.ToLower(text)
	for _, said := range []struct {
		words string
		stage smtp.Stage
	}{
		{"in reply to rcpt to", smtp.StageRcptTo}, {"after rcpt to", smtp.StageRcptTo}, {">>> rcpt to", smtp.StageRcptTo},
		{"in reply to mail from", smtp.StageMailFrom}, {"after mail from", smtp.StageMailFrom},
		{"in reply to end of data", smtp.StageData}, {"after end of data", smtp.StageData}, {"in reply to data", smtp.StageData},
		{">>> data", smtp.StageData},
	} {
		if strings.Contains(text, said.words) {
			return said.stage
		}
	}
	return ""
}

package report

import (
	"bytes"
	"regexp"
	"strings"

	"postrider/mail/message"
)

// notice is the text for people of a report.
type notice struct {
	text   string // what the server says
	copied []byte // the message that came back below it
	blocks []block
	first  string // the first address that may be the one that failed
}

// block is what is said about one recipient.
type block struct{ address, text string }

var (
	addressPattern = regexp.MustCompile(`[\pL\pN_][\pL\pN.!#$%&'*+/=?^_{|}~-]{0,63}@[\pL\pN][\pL\pN.-]{0,250}[\pL\pN]`)
	// listed is how lines begin that name a recipient: with the address itself, or with a word for it.
	listed = regexp.MustCompile(`(?i)^[\s<*"'\-•]*(?:(?:to|rcpt to|recipient(?: address)?|failed recipient|e-?mail(?: address)?|user|address|undeliverable to|user unknown)\s*:?[\s<"']*)?$`)
)

// maxListed bounds what may stand before an address on a line that names it.
const maxListed = 60

// readNotice takes a text apart.
func (l *letter) readNotice(text string) {
	n := &l.notice
	n.text, n.copied = cutCopy(text)
	own := ownAddresses(l.header)
	start := 0
	for at := 0; at < len(n.text); {
		line, _, _ := strings.Cut(n.text[at:], "\n")
		place := addressPattern.FindStringIndex(line)
		if place == nil || isDaemon(line[place[0]:place[1]]) || strings.Contains(own, strings.ToLower(line[place[0]:place[1]])) {
			at += len(line) + 1
			continue
		}
		address := line[place[0]:place[1]]
		if n.first == "" {
			n.first = address
		}
		again := len(n.blocks) > 0 && n.blocks[len(n.blocks)-1].address == address
		if !again && place[0] <= maxListed && listed.MatchString(line[:place[0]]) && len(n.blocks) < maxRecipients {
			n.endBlock(start, at)
			start = at + place[1]
			n.blocks = append(n.blocks, block{address: address})
		}
		at += len(line) + 1
	}
	n.endBlock(start, len(n.text))
}

func (n *notice) endBlock(start, end int) {
	if last := len(n.blocks) - 1; last >= 0 {
		n.blocks[last].text = n.text[start:end]
	}
}

// ownAddresses returns the addresses of the report's sender and recipient, which are not what failed, in lower case.
func ownAddresses(header []message.Field) string {
	var own strings.Builder
	for _, f := range header {
		switch strings.ToLower(f.Name) {
		case "to", "from", "return-path", "delivered-to", "x-original-to":
			if own.Len() < maxValue {
				own.WriteString(strings.ToLower(f.Value[:min(len(f.Value), maxValue)]) + "\n")
			}
		}
	}
	return own.String()
}

// account returns what is said about a recipient. What is not said about any one of several is not guessed at.
func (n *notice) account(address string) Recipient {
	text := n.text
	for _, b := range n.blocks {
		if strings.EqualFold(b.address, address) {
			text = b.text
			break
		}
	}
	said, ok := findReply(text)
	if !ok && len(n.blocks) < 2 {
		text = n.text
		said, ok = findReply(text)
	}
	r := Recipient{Stage: stageIn(text)}
	switch {
	case ok:
		paragraph, _, _ := strings.Cut(strings.ReplaceAll(text[said.start:], "\r\n", "\n"), "\n\n")
		r.Diagnostic = clean(paragraph, maxDiagnostic)
		if r.Status = said.enhanced; r.Status == "" {
			r.Status = string(rune('0'+said.code/100)) + ".0.0"
		}
	case len(n.blocks) > 0:
		r.Diagnostic = clean(text, maxDiagnostic/4)
	}
	return r
}

// cutCopy splits a text into what the server says and the message that came back with it.
func cutCopy(text string) (said string, copied []byte) {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		lower := strings.ToLower(line)
		switch {
		case containsAny(lower, copyMarks):
			return text[:at], bytes.TrimLeft([]byte(text[next:]), " \t\r\n-")
		case strings.HasPrefix(lower, "return-path: <"), strings.HasPrefix(lower, "received: from "), strings.HasPrefix(lower, "received: by "):
			return text[:at], []byte(text[at:])
		}
		at = next
	}
	return text, nil
}

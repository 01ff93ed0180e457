package spam

import (
	"bytes"
	"strings"
)

var (
	adviceUnsubscribe = advice{"add_list_unsubscribe", "Add List-Unsubscribe with an https link and List-Unsubscribe-Post to every mailing (RFC 8058)."}
	advicePriority    = advice{"remove_priority", "Remove the headers that claim a high priority."}
	adviceRecipients  = advice{"send_individually", "Send one message to each recipient instead of one to all."}
	adviceForeign     = advice{"remove_headers", "Remove headers that belong to mail servers and scripts."}
	adviceCompose     = advice{"compose_properly", "Let a mail library write the message: one Date, From and Message-ID, and no line over 998 bytes."}
)

const (
	// manyRecipients is more than a person writes to, and hugeRecipients more than most servers take.
	manyRecipients = 20
	hugeRecipients = 100
	// maxLineBytes is the longest line of a message (RFC 5322 §2.1.1).
	maxLineBytes = 998
)

var headerRules = []rule{
	{
		id: "UNSUBSCRIBE_MISSING", severity: Warning, score: 0.8,
		description: "This looks like a mailing, but has no List-Unsubscribe header.",
		advice:      adviceUnsubscribe,
		when:        func(f *facts) bool { return f.header("list-unsubscribe") == "" && isMailing(f) },
	},
	{
		id: "UNSUBSCRIBE_BROKEN", severity: Warning, score: 0.8,
		description: "The List-Unsubscribe header has no link in angle brackets.",
		advice:      adviceUnsubscribe,
		when: func(f *facts) bool {
			value := strings.ToLower(f.header("list-unsubscribe"))
			return value != "" && !strings.Contains(value, "<https://") && !strings.Contains(value, "<mailto:") &&
				!strings.Contains(value, "<http://") && !hasMarkOfMergeField(value)
		},
	},
	{
		id: "UNSUBSCRIBE_NOT_ONE_CLICK", severity: Info, score: 0.3,
		description: "Readers cannot unsubscribe with one click.",
		advice:      adviceUnsubscribe,
		when: func(f *facts) bool {
			return f.header("list-unsubscribe") != "" && !strings.EqualFold(f.header("list-unsubscribe-post"), "List-Unsubscribe=One-Click")
		},
	},
	{
		id: "PRIORITY_HIGH", severity: Warning, score: 0.8,
		description: "The headers claim a high priority.",
		advice:      advicePriority,
		when:        claimsPriority,
	},
	{
		id: "PRECEDENCE_JUNK", severity: Warning, score: 1,
		description: "The message calls itself junk.",
		advice:      adviceForeign,
		when:        func(f *facts) bool { return strings.EqualFold(f.header("precedence"), "junk") },
	},
	{
		id: "RECIPIENTS_MANY", severity: Warning, score: 1,
		description: "The message goes to more than 20 recipients who see each other.",
		advice:      adviceRecipients,
		when:        func(f *facts) bool { return len(f.To) > manyRecipients },
	},
	{
		id: "RECIPIENTS_HUGE", severity: Critical, score: 1.5,
		description: "The message goes to more than 100 recipients at once.",
		advice:      adviceRecipients,
		when:        func(f *facts) bool { return len(f.To) > hugeRecipients },
	},
	{
		id: "TRUST_FORGED", severity: Warning, score: 1.5,
		description: "The sender wrote headers in which mail servers note their own findings.",
		advice:      adviceForeign,
		when:        forgesTrust,
	},
	{
		id: "PHP_SCRIPT", severity: Warning, score: 1,
		description: "The headers name a PHP script as the sender.",
		advice:      adviceForeign,
		when:        func(f *facts) bool { return f.header("x-php-originating-script")+f.header("x-php-script") != "" },
	},
	{
		id: "RAW_NO_DATE", severity: Warning, score: 1,
		description: "The message has no Date.",
		advice:      adviceCompose,
		when:        func(f *facts) bool { return len(f.Raw) > 0 && countFields(f, "Date") == 0 },
	},
	{
		id: "RAW_NO_MESSAGE_ID", severity: Warning, score: 0.6,
		description: "The message has no Message-ID.",
		advice:      adviceCompose,
		when:        func(f *facts) bool { return len(f.Raw) > 0 && countFields(f, "Message-ID") == 0 },
	},
	{
		id: "RAW_REPEATED_FIELD", severity: Critical, score: 2,
		description: "A header that may occur once occurs several times.",
		advice:      adviceCompose,
		when: func(f *facts) bool {
			for _, name := range []string{"From", "To", "Subject", "Date", "Message-ID", "Reply-To"} {
				if countFields(f, name) > 1 {
					return true
				}
			}
			return false
		},
	},
	{
		id: "RAW_LONG_LINE", severity: Warning, score: 0.8,
		description: "A line of the message is longer than the protocol allows.",
		advice:      adviceCompose,
		when:        hasLongLine,
	},
}

// isMailing tells whether a message goes to many. A receipt that can be unsubscribed from is a mailing to receivers, too.
func isMailing(f *facts) bool {
	precedence := strings.ToLower(f.header("precedence"))
	return f.header("list-id") != "" || precedence == "bulk" || precedence == "list" || len(f.To) > manyRecipients ||
		f.said[unsubscribing] > 0
}

func hasMarkOfMergeField(value string) bool { return strings.Contains(value, "{{") }

func claimsPriority(f *facts) bool {
	for _, name := range []string{"x-priority", "priority", "importance", "x-msmail-priority"} {
		value := strings.ToLower(f.header(name))
		if strings.HasPrefix(value, "1") || strings.HasPrefix(value, "2") || value == "high" || value == "urgent" || value == "highest" {
			return true
		}
	}
	return false
}

// forgesTrust looks only at what the sender wrote: in a message that was received these fields are the servers' own.
func forgesTrust(f *facts) bool {
	for name := range f.Headers {
		switch strings.ToLower(name) {
		case "authentication-results", "arc-authentication-results", "received-spf", "x-spam-status", "x-spam-score", "x-spam-flag",
			"x-virus-scanned", "x-spam-checker-version", "x-forefront-antispam-report", "x-ms-exchange-organization-scl":
			return len(f.Raw) == 0
		}
	}
	return false
}

func countFields(f *facts, name string) int {
	n := 0
	for _, field := range f.fields {
		if field.Is(name) {
			n++
		}
	}
	return n
}

func hasLongLine(f *facts) bool {
	for rest := f.Raw; len(rest) > maxLineBytes; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 || end > maxLineBytes+1 { // the CR is not counted
			return true
		}
		rest = rest[end+1:]
	}
	return false
}

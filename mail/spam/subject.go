package spam

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	adviceSubject      = advice{"rewrite_subject", "Write a short, plain subject in normal case that says what the message is about."}
	adviceReplySubject = advice{"remove_reply_prefix", "Remove \"Re:\" or \"Fwd:\" from the subject unless the message answers another one."}
)

// maxSubject is the length in characters from which on no mail program shows the whole subject.
const maxSubject = 120

var subjectRules = []rule{
	{
		id: "SUBJECT_EMPTY", severity: Warning, score: 1.2,
		description: "The subject is empty.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return strings.TrimSpace(f.Subject) == "" },
	},
	{
		id: "SUBJECT_ALL_CAPS", severity: Warning, score: 1.5,
		description: "The subject is written in capital letters.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return shouts(f.subject, 8) && f.subject.words >= 2 },
	},
	{
		id: "SUBJECT_PUNCTUATION", severity: Warning, score: 1,
		description: "The subject has several exclamation or question marks.",
		advice:      adviceSubject,
		when: func(f *facts) bool {
			return f.subject.outcries > 0 || strings.Count(f.Subject, "!")+strings.Count(f.Subject, "！") >= 3
		},
	},
	{
		id: "SUBJECT_FAKE_REPLY", severity: Warning, score: 1.8,
		description: "The subject pretends to answer or forward a message.",
		advice:      adviceReplySubject,
		when: func(f *facts) bool {
			return replyPrefix.MatchString(f.Subject) && f.header("in-reply-to") == "" && f.header("references") == ""
		},
	},
	{
		id: "SUBJECT_TOO_LONG", severity: Info, score: 0.5,
		description: "The subject is longer than mail programs show.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return utf8.RuneCountInString(f.Subject) > maxSubject },
	},
	{
		id: "SUBJECT_MONEY", severity: Warning, score: 1.5,
		description: "The subject shouts with currency signs or large sums.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return bigMoney.MatchString(f.Subject) },
	},
	{
		id: "SUBJECT_EMOJI", severity: Info, score: 0.6,
		description: "The subject has three or more pictograms.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return f.subject.emoji >= 3 },
	},
	{
		id: "SUBJECT_SPACED_LETTERS", severity: Warning, score: 2,
		description: "The letters of a word in the subject are pulled apart.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return spacedWord.MatchString(f.Subject) },
	},
	{
		id: "SUBJECT_WIDE_GAP", severity: Warning, score: 1,
		description: "The subject has a wide gap, as if to hide what follows it.",
		advice:      adviceSubject,
		when:        func(f *facts) bool { return strings.Contains(strings.TrimSpace(f.Subject), "     ") },
	},
	{
		id: "SUBJECT_UNDECODED", severity: Warning, score: 1,
		description: "The subject shows the codes of an encoding instead of text.",
		advice:      adviceEncoding,
		when:        func(f *facts) bool { return encodedWord.MatchString(f.Subject) },
	},
	{
		id: "SUBJECT_SPAM_PHRASE", severity: Warning, score: 1.5,
		description: "The subject has phrases that are typical of spam.",
		advice:      advicePhrases,
		points: func(f *facts) float64 {
			sum := 0.0
			for t, weight := range f.saidInSubject {
				if topic(t) != unsubscribing && topic(t) != filler {
					sum += weight
				}
			}
			return counted(sum)
		},
	},
}

// spaced is a letter of the scripts in which to pull words apart is a trick.
const spaced = `[\p{Latin}\p{Cyrillic}\p{Greek}\p{Han}]`

var (
	replyPrefix = regexp.MustCompile(`(?i)^\s*(re|fw|fwd|aw|wg|sv|vs|tr|rv|res|enc|antw|回复|转发)\s*(\[\d+\])?\s*[:：]`)
	// bigMoney leaves the sums of receipts alone.
	bigMoney = regexp.MustCompile(`[$€£¥]{2,}|[$€£]\s?(\d{6,}|\d{3}([,.]\d{3})+|\d{1,3}([,.]\d{3}){2,}|(?i:\d+([,.]\d+)?\s?(million|billion)))`)
	// spacedWord leaves abbreviations alone, which end with a dot ("R.S.V.P."), and scripts in which many words have one letter.
	spacedWord  = regexp.MustCompile(`(?:^|[^\pL\pN])` + spaced + `(?:(?:[ *_-]` + spaced + `){3,}(?:[^\pL\pN]|$)|(?:\.` + spaced + `){3,}(?:[^\pL\pN.]|$))`)
	encodedWord = regexp.MustCompile(`=\?[A-Za-z0-9-]+\?[BbQq]\?`)
)

// shouts tells whether a text of at least so many letters is mostly in capitals.
func shouts(p prose, letters int) bool { return p.cased >= letters && p.upper*10 >= p.cased*8 }

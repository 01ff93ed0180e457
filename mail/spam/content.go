package spam

import (
	"regexp"
	"strings"
)

var (
	advicePhrases      = advice{"rewrite_phrases", "Say the same in your own plain words; leave out phrases that are known from spam."}
	advicePlainLetters = advice{"use_plain_letters", "Write every word with the ordinary letters of one alphabet and without invisible characters."}
	adviceMerge        = advice{"fill_merge_fields", "Give a value to every merge field, or remove the field from the message."}
	advicePlaceholder  = advice{"replace_placeholder", "Replace the placeholder text with the real one."}
	adviceBody         = advice{"write_body", "Write a body of at least a few sentences that says why the reader gets this message."}
	adviceCalm         = advice{"calm_text", "Use normal case and single punctuation marks in the text."}
	adviceEncoding     = advice{"fix_encoding", "Send subject and body as UTF-8 text and leave the encoding to the service."}
	adviceTokens       = advice{"remove_data", "Move long codes into an attachment or behind a link."}
	adviceTestPattern  = advice{"remove_test_pattern", "Remove the test pattern when the test is over."}
	adviceGreeting     = advice{"greet_by_name", "Greet readers by their name, or leave the greeting out."}
)

// testPattern is the Generic Test for Unsolicited Bulk Email, by which people try out whether a filter works.
const testPattern = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"

var contentRules = []rule{
	{
		id: "GTUBE", severity: Critical, score: MaxScore,
		description: "The text has the test pattern that every filter takes for spam.",
		advice:      adviceTestPattern,
		when: func(f *facts) bool {
			return strings.Contains(f.page.visible, testPattern) || strings.Contains(f.Text, testPattern)
		},
	},
	topicRule("PHRASES_ADVANCE_FEE", advanceFee, Critical, 4, "The text reads like the offer of a large sum from a stranger."),
	topicRule("PHRASES_PRIZE", prize, Warning, 3, "The text promises a prize."),
	topicRule("PHRASES_PRESSURE", pressure, Warning, 1.8, "The text urges the reader to act at once."),
	topicRule("PHRASES_PHARMACY", pharmacy, Critical, 3.5, "The text advertises medicine."),
	topicRule("PHRASES_CRYPTO", crypto, Critical, 3.5, "The text promises profits with crypto currency or asks for a wallet."),
	topicRule("PHRASES_CREDENTIALS", credentials, Critical, 3.5, "The text reads like a fraud that asks for passwords or bank details."),
	topicRule("PHRASES_LOAN", loan, Warning, 2.5, "The text offers loans or a way out of debt."),
	topicRule("PHRASES_INCOME", income, Warning, 2.5, "The text promises easy income."),
	topicRule("PHRASES_GAMBLING", gambling, Warning, 2.5, "The text advertises gambling."),
	topicRule("PHRASES_ADULT", adult, Critical, 3, "The text advertises adult content."),
	topicRule("PHRASES_DIET", diet, Warning, 2.5, "The text promises to lose weight or to stay young."),
	topicRule("PHRASES_PROMOTION", promotion, Warning, 2.5, "The text reads like an unasked offer of marketing services."),
	topicRule("PHRASES_EXTORTION", extortion, Critical, 5, "The text threatens the reader and asks for money."),
	topicRule("PHRASES_DISCLAIMER", disclaimer, Warning, 1.5, "The text says that it is not spam."),
	{
		id: "GREETING_IMPERSONAL", severity: Info, score: 0.6,
		description: "The greeting is one that fits everybody.",
		advice:      adviceGreeting,
		when:        func(f *facts) bool { return f.said[greeting] > 0 },
	},
	{
		id: "BODY_EMPTY", severity: Warning, score: 1.5,
		description: "There is nothing to read in the body.",
		advice:      adviceBody,
		when:        func(f *facts) bool { return f.body.words == 0 && !f.page.pictured() },
	},
	{
		id: "BODY_ONLY_LINK", severity: Warning, score: 1.2,
		description: "The body is hardly more than a link.",
		advice:      adviceBody,
		when:        onlyLink,
	},
	{
		id: "BODY_SHOUTING", severity: Warning, score: 1.2,
		description: "Most of the text is in capital letters.",
		advice:      adviceCalm,
		when:        func(f *facts) bool { return shouts(f.body, 80) },
	},
	{
		id: "BODY_OUTCRIES", severity: Info, score: 0.8,
		description: "The text has many runs of exclamation or question marks.",
		advice:      adviceCalm,
		when:        func(f *facts) bool { return f.body.outcries >= 3 },
	},
	{
		id: "LOOK_ALIKE_LETTERS", severity: Critical, score: 2.5,
		description: "Words mix letters of several alphabets that look the same.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return f.subject.disguised+f.body.disguised+f.text.disguised > 0 },
	},
	{
		id: "LETTERS_AS_DIGITS", severity: Warning, score: 2,
		description: "Digits stand for letters in words that are typical of spam.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return f.subject.leet+f.body.leet > 0 },
	},
	{
		id: "FANCY_LETTERS", severity: Warning, score: 1.5,
		description: "Words are written in mathematical or enclosed letters.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return f.subject.fancy+f.body.fancy >= 5 },
	},
	{
		id: "INVISIBLE_CHARACTERS", severity: Warning, score: 1.8,
		description: "Words hold invisible characters.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return f.subject.joiners > 0 || f.body.joiners >= 3 },
	},
	{
		id: "DIRECTION_OVERRIDE", severity: Critical, score: 2.5,
		description: "Hidden characters turn the order of letters around.",
		advice:      advicePlainLetters,
		when:        func(f *facts) bool { return f.subject.overrides+f.body.overrides+f.text.overrides > 0 },
	},
	{
		id: "MERGE_FIELD", severity: Warning, score: 1,
		description: "A merge field such as {{name}} was not filled in.",
		advice:      adviceMerge,
		when: func(f *facts) bool {
			return hasMergeField(f.Subject) || hasMergeField(f.From) || hasMergeField(f.page.visible) || hasMergeField(f.Text)
		},
	},
	{
		id: "PLACEHOLDER_TEXT", severity: Warning, score: 1,
		description: "The text is a placeholder such as lorem ipsum.",
		advice:      advicePlaceholder,
		when:        func(f *facts) bool { return f.said[filler] > 0 },
	},
	{
		id: "LONG_TOKENS", severity: Info, score: 0.6,
		description: "The text has long codes that nobody can read.",
		advice:      adviceTokens,
		when:        func(f *facts) bool { return f.body.tokens > 0 },
	},
	{
		id: "GARBLED_TEXT", severity: Info, score: 0.6,
		description: "Some characters were decoded in the wrong way.",
		advice:      adviceEncoding,
		when:        func(f *facts) bool { return f.subject.garbled+f.body.garbled+f.text.garbled > 0 },
	},
}

// topicRule makes the rule for a topic of phraseTable.
func topicRule(id string, t topic, severity Severity, most float64, description string) rule {
	return rule{
		id: id, severity: severity, score: most, description: description, advice: advicePhrases,
		points: func(f *facts) float64 { return counted(f.said[t]) },
	}
}

// counted drops a weight that is too light to matter.
func counted(weight float64) float64 {
	if weight < countsFrom {
		return 0
	}
	return weight
}

// onlyLink leaves pictures alone: IMAGE_ONLY speaks about them.
func onlyLink(f *facts) bool {
	if f.linkCount == 0 || f.page.pictured() {
		return false
	}
	if f.HTML != "" {
		return f.body.words < 6
	}
	words := 0
	for word := range strings.FieldsSeq(f.Text) {
		if !strings.Contains(word, "://") {
			words += max(1, len(word)/20) // scripts without spaces have long "words"
		}
		if words >= 6 {
			return false
		}
	}
	return true
}

// maxMergeSearch is how much of a text is searched for merge fields; a template that was not filled in shows it early.
const maxMergeSearch = 256 << 10

var mergeField = regexp.MustCompile(`\{\{\{?[#/^&>]?\s*[\w.$-]{1,64}(?:\s*\|[^{}\n]{0,64})?\s*\}\}|\{%-?\s*\w[^{}\n]{0,80}%\}|%[A-Z][A-Z_]{2,30}%|` +
	`\*\|[A-Z][A-Z0-9_:]{0,40}\|\*|\[\[?(?i:first|last|full|user|company)[ _]?name\]|\$\{[\w.]{1,40}\}|<%=?\s*\w[^<>\n]{0,80}%>`)

// hasMergeField leaves fields for the unsubscribe link alone; the service fills them in when it sends.
func hasMergeField(text string) bool {
	if !strings.ContainsAny(text, "{%*[") {
		return false // one of these is in every field, and to look for them costs next to nothing
	}
	for _, field := range mergeField.FindAllString(cut(text, maxMergeSearch), 20) {
		if !strings.Contains(strings.ToLower(field), "unsub") {
			return true
		}
	}
	return false
}

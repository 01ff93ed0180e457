// Package spam says how much a message looks like spam, why, and what its author can do about it.
//
// Check is the built-in engine: a table of rules over facts that are read off the message once, in linear time. It needs no
// training and no network, and the same message always gets the same answer. Rspamd and SpamAssassin put a daemon behind the
// same Result, for operators who run one.
//
// To add a rule, add an entry to the table of its category (subject.go, content.go, structure.go, links.go, headers.go,
// sender.go, authentication.go) and a case to rules_test.go.
//
// Pure but for the daemons, which are reached by the dialer and the clock they are given.
package spam

import "context"

// Message is what is checked. Everything but From may be empty.
type Message struct {
	// From is the author as in the header, decoded: a@b.c or Name <a@b.c>. It need not be valid; that is one of the findings.
	From    string
	To      []string
	Subject string
	HTML    string
	Text    string
	// Headers are the other header fields, decoded. Their names may be in any case.
	Headers map[string]string
	// Raw is the whole message (RFC 5322), if there is one. Its header fields count where Headers has none of that name. The
	// daemons are sent Raw; without it they are sent a message that is composed of the other fields.
	Raw []byte
	// Authentication is what the caller knows about the sender's domain.
	Authentication Authentication
}

// Authentication tells how well a message can prove where it comes from. It is found out by the caller and goes into the Result
// as it is.
type Authentication struct {
	Domain   string
	Verified bool
	// SPF, DKIM and DMARC are results in the words of RFC 8601 ("pass", "fail", "none"). An empty one is not judged.
	SPF   string
	DKIM  string
	DMARC string
}

// Engine checks messages. An error means there is no result; whether to ask another engine is up to the caller.
type Engine interface {
	Check(ctx context.Context, m Message) (Result, error)
}

const (
	// Threshold is the score from which on a message is spam. Scores of other engines are scaled to it.
	Threshold = 5.0
	// MaxScore is where scores end; worse than twice the threshold has no meaning.
	MaxScore = 10.0
	// reviewFrom is the score from which on a person should have a look.
	reviewFrom = 2.0
)

// Result is the outcome of a check. No slice in it is nil.
type Result struct {
	// Score is from 0, which is good, to MaxScore, with one decimal.
	Score     float64
	Threshold float64
	MaxScore  float64
	// Sendable means the score is below the threshold and the sender's domain is verified.
	Sendable bool
	Verdict  Verdict
	// Rules are those that apply, the costliest first.
	Rules []Hit
	// Recommendations are what to do about the rules, in their order, each once.
	Recommendations []Recommendation
	Authentication  Authentication
	// Engine is "builtin", "rspamd" or "spamassassin".
	Engine        string
	EngineVersion string
}

// Verdict is a score in a word.
type Verdict string

// The verdicts.
const (
	OK     Verdict = "ok"
	Review Verdict = "review"
	Spam   Verdict = "spam"
)

// Category is the part of a message that a rule looks at.
type Category string

// The categories.
const (
	CategorySubject        Category = "subject"
	CategoryContent        Category = "content"
	CategoryStructure      Category = "structure"
	CategoryLinks          Category = "links"
	CategoryHeaders        Category = "headers"
	CategorySender         Category = "sender"
	CategoryAuthentication Category = "authentication"
	// CategoryEngine is that of all rules of a daemon.
	CategoryEngine Category = "engine"
)

// Severity says how much a rule matters to a person.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Hit is a rule that applies to a message.
type Hit struct {
	ID       string
	Category Category
	Severity Severity
	// Score is what the rule adds to the sum. Rules of daemons may lower it. Next to a daemon the built-in rules add nothing.
	Score       float64
	Description string
}

// Recommendation tells the author what to do.
type Recommendation struct {
	Code    string
	Message string
	// RuleIDs are the rules that it would satisfy.
	RuleIDs []string
}

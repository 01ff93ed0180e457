package email

import (
	"net/netip"
	"time"

	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/platform/api"
)

// Attempt is one conversation with a mail server about one recipient.
type Attempt struct {
	ID         string
	Number     int
	Outcome    AttemptOutcome
	Stage      smtp.Stage
	StartedAt  time.Time
	FinishedAt time.Time
	NextAt     time.Time
	AttemptDetails
}

// AttemptDetails are the facts of an attempt that are only read, never searched.
type AttemptDetails struct {
	ISP      string      `json:"isp"`
	Node     string      `json:"node"`
	LocalIP  netip.Addr  `json:"local_ip"`
	Helo     string      `json:"helo"`
	MXHost   string      `json:"mx_host"`
	MXIP     netip.Addr  `json:"mx_ip"`
	MXPort   int         `json:"mx_port"`
	TLS      TLSFacts    `json:"tls"`
	Code     int         `json:"smtp_code"`
	Enhanced string      `json:"enhanced_code"`
	Response string      `json:"response"`
	Class    *ClassFacts `json:"classification"`
	// Ambiguous tells that the server may have taken the message although we never heard so.
	Ambiguous bool `json:"ambiguous"`
	// Dialogue is what was said, as far as it is kept.
	Dialogue []Step `json:"dialogue,omitempty"`
}

// Step is one exchange with a server.
type Step struct {
	// AtMS is when the answer came, in milliseconds since the attempt began.
	AtMS    int64  `json:"at_ms" example:"84"`
	Command string `json:"command" example:"RCPT TO:<ann@example.net>"`
	Reply   string `json:"reply" example:"250 2.1.5 OK"`
}

// TLSFacts say how a connection was secured.
type TLSFacts struct {
	Used     bool    `json:"used" example:"true"`
	Version  api.Ref `json:"version" example:"TLS1.3"`
	Cipher   api.Ref `json:"cipher" example:"TLS_AES_128_GCM_SHA256"`
	Policy   string  `json:"policy" example:"opportunistic"`
	Verified bool    `json:"verified" example:"false"`
}

// ClassFacts say what kind of failure an attempt was.
type ClassFacts struct {
	Class    string `json:"class" example:"hard"`
	Category string `json:"category" example:"no_mailbox"`
	Suppress bool   `json:"suppress" example:"true"`
}

// NewClassFacts returns the facts of a class.
func NewClassFacts(c report.Verdict) *ClassFacts {
	return &ClassFacts{Class: string(c.Class), Category: string(c.Category), Suppress: c.Suppress}
}

// AttemptOutcome is how an attempt ended.
type AttemptOutcome string

// Outcomes of attempts.
const (
	AttemptAccepted         AttemptOutcome = "accepted"
	AttemptDeferred         AttemptOutcome = "deferred"
	AttemptBounced          AttemptOutcome = "bounced"
	AttemptConnectionFailed AttemptOutcome = "connection_failed"
	AttemptTLSFailed        AttemptOutcome = "tls_failed"
	AttemptDNSFailed        AttemptOutcome = "dns_failed"
)

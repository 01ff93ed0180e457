// Package smtp speaks the Simple Mail Transfer Protocol from both ends.
//
// A Server turns the bytes of a peer into calls of a Session: who signs in, from whom, to whom, and a reader of the message.
// A Client owns one connection and hands messages over it. Both know the wire (RFC 5321 and the extensions they offer) and
// nothing else: no queue, no policy, no store, no name service. They trust nobody: every line, reply, count and wait has
// a limit, a message ends at CRLF.CRLF and nowhere else, and nothing said before TLS is remembered after it.
package smtp

import "fmt"

// Stage names the step of a delivery at which something happened.
type Stage string

// The stages of a delivery in the order they are passed. The first two happen before a Client exists; they are here so that
// one vocabulary covers a whole attempt.
const (
	StageDNS       Stage = "dns"
	StageConnect   Stage = "connect"
	StageBanner    Stage = "banner"
	StageEHLO      Stage = "ehlo"
	StageStartTLS  Stage = "starttls"
	StageMailFrom  Stage = "mail_from"
	StageRcptTo    Stage = "rcpt_to"
	StageData      Stage = "data"
	StageEndOfData Stage = "end_of_data"
)

// Error is a dialogue that could not go on. Either the server refused (Reply is set) or the connection failed (Err is set).
type Error struct {
	Stage Stage
	Reply Reply
	Err   error
}

// Error says where the dialogue stopped and why.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("smtp %s: refused: %s", e.Stage, e.Reply)
	}
	if e.Reply.Code == 0 {
		return fmt.Sprintf("smtp %s: %v", e.Stage, e.Err)
	}
	return fmt.Sprintf("smtp %s: %v (last reply: %s)", e.Stage, e.Err, e.Reply)
}

// Unwrap returns the failure of the connection, if that is what stopped the dialogue.
func (e *Error) Unwrap() error { return e.Err }

// ProtocolError is a peer that broke the rules of the protocol, so that nothing it says later can be trusted.
type ProtocolError struct {
	Problem string
}

// Error names the broken rule.
func (e *ProtocolError) Error() string { return "protocol broken: " + e.Problem }

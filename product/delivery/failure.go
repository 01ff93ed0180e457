package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
)

// unsendable is what is wrong with a message today and tomorrow.
var unsendable = []error{message.ErrTooLarge, message.ErrHeader, message.ErrHeaderTooLarge, message.ErrMessageID, message.ErrContentID, dkim.ErrNoFrom, dkim.ErrLineEnds}

func isUnsendable(err error) bool {
	var unreadable *address.InvalidError
	return errors.As(err, &unreadable) || slices.ContainsFunc(unsendable, func(reason error) bool { return errors.Is(err, reason) })
}

// refuseLocally ends an attempt that never came to a server.
func (t *talk) refuseLocally(err error) {
	s, o, a := t.service, &t.outcome, &t.outcome.Attempt
	a.FinishedAt, a.Stage, t.heard.Failure = s.now(), smtp.StageDNS, shape.OurOwn
	s.world.Log.Error("message could not be made", "email", o.Taken.Email.ID, "error", err)
	if isUnsendable(err) {
		a.Outcome, a.Response = email.AttemptBounced, "The message cannot be sent as it is: "+err.Error()
		o.Decision, o.Failure = email.GivenUp, &email.Failure{Reason: "message_rejected_locally", Message: a.Response}
		return
	}
	a.Outcome, a.Response = email.AttemptDeferred, "The message could not be prepared; it will be tried again."
	o.Class = report.Classify(report.Reply{Enhanced: "4.3.0"})
	s.decide(o)
}

// leaseOver ends an attempt before the server had the message. If another node has made one since, this is not even written down.
func (t *talk) leaseOver() {
	a := &t.outcome.Attempt
	t.stopped("4.3.0 This node was held up for too long; the message was not handed over and will be tried again.")
	a.Enhanced = "4.3.0"
	t.outcome.Class = report.Classify(report.Reply{Enhanced: a.Enhanced})
	t.service.decide(&t.outcome)
}

// calledBack ends an attempt, and with it the mail, before the server had the message.
func (t *talk) calledBack() {
	t.stopped("The mail was cancelled during the conversation; the message was not handed over.")
	t.outcome.Decision = email.CalledBack
}

// stopped notes that we ended the conversation. What a server that was tried before had answered has no part in it.
func (t *talk) stopped(why string) {
	a := &t.outcome.Attempt
	a.Stage, a.Outcome, a.Response, t.heard.Failure = smtp.StageData, email.AttemptDeferred, why, shape.OurOwn
	a.Code, a.Enhanced, a.Class, a.NextAt, t.outcome.Class = 0, "", nil, time.Time{}, report.Verdict{}
}

// dnsFailed notes that no server could be found. That says nothing about any of them.
func (t *talk) dnsFailed(err error) {
	a := &t.outcome.Attempt
	a.FinishedAt, a.Stage, a.Outcome, t.heard.Failure = t.service.now(), smtp.StageDNS, email.AttemptDNSFailed, shape.OurOwn
	reply := report.Reply{Stage: smtp.StageDNS, Text: err.Error()}
	switch {
	case errors.Is(err, errNoDomain) && !t.goneFor(unnamedFor):
		reply.Enhanced = "4.1.2" // registrars and name servers have bad hours; look again
	case errors.Is(err, errNoDomain):
		reply.Enhanced = "5.1.2"
	case errors.Is(err, errNullMX):
		reply.Enhanced = "5.1.10"
	case errors.Is(err, errPrivate):
		reply.Enhanced = "5.4.4"
	case errors.Is(err, errLoop):
		reply.Enhanced = "5.4.6"
	case errors.Is(err, errOtherFamily):
		reply.Enhanced = "4.4.1"
	default:
		reply.Enhanced, reply.Text = "4.4.3", "The name servers of the recipient's domain did not answer."
	}
	a.Enhanced, a.Response = reply.Enhanced, reply.Enhanced+" "+reply.Text
	if errors.Is(err, errNullMX) || errors.Is(err, errPrivate) || errors.Is(err, errLoop) {
		a.Outcome = email.AttemptBounced // a published refusal, not a failed look-up
	}
	t.classify(reply)
}

// goneFor tells whether the recipient's domain has been missing for so long.
func (t *talk) goneFor(long time.Duration) bool {
	since := t.outcome.Taken.Recipient.UnnamedSince
	return !since.IsZero() && t.outcome.Attempt.FinishedAt.Sub(since) >= long
}

func (t *talk) classify(reply report.Reply) {
	t.outcome.Class = report.Classify(reply)
	t.outcome.Attempt.Class = email.NewClassFacts(t.outcome.Class)
	t.service.decide(&t.outcome)
}

// brokeOff notes a conversation that ended before the server had decided. After the final dot nobody knows whether the server
// has taken the message; it is sent again under the same Message-ID (RFC 1047), and the attempt says so.
func (t *talk) brokeOff(err error, sentFinalDot bool) {
	a := &t.outcome.Attempt
	a.FinishedAt, a.Outcome, a.Stage, a.Ambiguous = t.service.now(), email.AttemptConnectionFailed, smtp.StageConnect, sentFinalDot
	reply := report.Reply{Enhanced: "4.4.2", Text: "The connection broke off."}
	var failed *smtp.Error
	if errors.As(err, &failed) {
		a.Stage = failed.Stage
		switch {
		case failed.Reply.Code != 0:
			reply = report.Reply{Code: failed.Reply.Code, Enhanced: failed.Reply.Enhanced, Text: failed.Reply.Text()}
			a.Outcome = email.AttemptDeferred
		case failed.Stage == smtp.StageStartTLS:
			a.Outcome = email.AttemptTLSFailed
			reply = report.Reply{Enhanced: "4.7.5", Text: "Encryption could not be set up: " + cause(failed.Err)}
		case failed.Stage == smtp.StageConnect:
			reply = report.Reply{Enhanced: "4.4.1", Text: "The server could not be reached: " + cause(failed.Err)}
		default:
			reply.Text = fmt.Sprintf("The connection broke off at %s: %s", failed.Stage, cause(failed.Err))
		}
	}
	reply.Stage = a.Stage
	a.Code, a.Enhanced, a.Response = reply.Code, reply.Enhanced, reply.Enhanced+" "+reply.Text
	if reply.Code != 0 {
		a.Response = strconv.Itoa(reply.Code) + " " + a.Response
	} else {
		t.note("("+string(a.Stage)+")", reply.Text)
	}
	t.classify(reply)
	if t.outcome.Decision == email.Refused {
		a.Outcome = email.AttemptBounced
	}
	t.hearFailure(reply)
	var unusable *unusableSource
	if errors.As(err, &unusable) {
		t.service.rest(t.job.held.path.Source, cause(unusable))
	}
	if ofPolicy(err) || unusable != nil {
		t.heard.Failure = shape.OurOwn
	}
}

// hearFailure passes a failure on to the shaper.
func (t *talk) hearFailure(reply report.Reply) {
	switch reply.Stage {
	case smtp.StageConnect:
		t.heard.Failure = shape.NotConnected
	case smtp.StageBanner, smtp.StageEHLO, smtp.StageStartTLS:
		t.heard.Failure = shape.NotGreeted
	default:
		t.heard.Failure = shape.BrokenOff
	}
	speaker := shape.Ourselves
	if reply.Code != 0 {
		speaker = shape.TheServer
	}
	t.heard.Replies = []shape.Reply{{Speaker: speaker, Code: reply.Code, Enhanced: reply.Enhanced, Text: reply.Text,
		Class: t.outcome.Class.Class, Category: t.outcome.Class.Category}}
}

// cause keeps what an operator can use of an error, in one bounded line.
func cause(err error) string {
	const enough = 200
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), enough)], "")
}

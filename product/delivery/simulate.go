package delivery

import (
	"strings"

	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/product/email"
)

// simulated tells whether mail must not leave the machine.
func (s *Service) simulated(d email.Due) bool { return s.emails.Simulated(d.Test, d.Address) }

// simulate plays the recipient's server. The local part chooses what it says; +label may follow.
func (t *talk) simulate() {
	s, o := t.service, &t.outcome
	local, _, _ := strings.Cut(o.Taken.Recipient.Address, "@")
	local, _, _ = strings.Cut(strings.ToLower(local), "+")
	a := &o.Attempt
	a.MXHost, a.FinishedAt, a.Stage = "simulator."+s.domains.Hosts().Service, s.now(), smtp.StageRcptTo
	reply := smtp.Reply{Code: 250, Enhanced: "2.0.0", Lines: []string{"Simulated delivery"}}
	switch local {
	case "bounced":
		reply = smtp.Reply{Code: 550, Enhanced: "5.1.1", Lines: []string{"Simulated: no such mailbox"}}
	case "blocked":
		reply = smtp.Reply{Code: 550, Enhanced: "5.7.1", Lines: []string{"Simulated: blocked for poor reputation"}}
	case "deferred":
		reply = smtp.Reply{Code: 451, Enhanced: "4.3.0", Lines: []string{"Simulated: try again later"}}
	}
	a.Code, a.Enhanced, a.Response = reply.Code, reply.Enhanced, reply.String()
	if reply.Positive() {
		a.Outcome, a.Stage, o.Decision = email.AttemptAccepted, smtp.StageEndOfData, email.Done
		return
	}
	a.Outcome = email.AttemptBounced
	t.classify(report.Reply{Code: reply.Code, Enhanced: reply.Enhanced, Text: reply.Text(), Stage: a.Stage})
	if o.Decision == email.Later {
		a.Outcome = email.AttemptDeferred
	}
}

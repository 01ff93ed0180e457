package delivery

import (
	"strings"

	"postrider/mail/smtp"
	"postrider/product/email"
)

const (
	// maxSteps bounds how much of a dialogue is kept; an attempt with three servers fits.
	maxSteps = 20
	// maxStepBytes bounds each command and each reply.
	maxStepBytes = 500
)

// connected begins the dialogue with a server.
func (t *talk) connected(l *line) {
	l.client.Hear(func(command string, reply smtp.Reply) {
		if command == "" {
			command = "(connected to " + l.host + ", " + l.remote.String() + ")"
		}
		t.note(command, reply.String())
	})
}

// note keeps one exchange.
func (t *talk) note(command, reply string) {
	if len(t.outcome.Attempt.Dialogue) >= maxSteps {
		return
	}
	at := t.service.world.Clock.Now().Sub(t.outcome.Attempt.StartedAt).Milliseconds()
	t.outcome.Attempt.Dialogue = append(t.outcome.Attempt.Dialogue, email.Step{AtMS: max(at, 0), Command: cut(command), Reply: cut(reply)})
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxStepBytes)], "") }

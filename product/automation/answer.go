package automation

import (
	"postrider/mail/message"
	"postrider/product/automation/internal/flow"
)

// mailReceived is the event that a received message begins runs with.
const mailReceived = flow.SystemPrefix + "email.received"

func (r *Run) answersMail() bool { return r.Cause.EventName == mailReceived }

// answersBulk tells that the run began with mail to many, which is not answered by a program: an answer to a mailing list goes to people
// who asked nothing (RFC 3834 §2).
func (r *Run) answersBulk() bool {
	bulk, _ := r.Payload["bulk"].(bool)
	return bulk && r.answersMail()
}

// answerHeaders mark the mail of a run that received mail began. A program that answers says so, and what it answers: two that do not
// would answer each other without end (RFC 3834 §3.1.5, §3.1.7).
func (r *Run) answerHeaders() map[string]string {
	if !r.answersMail() {
		return nil
	}
	headers := map[string]string{"Auto-Submitted": "auto-replied"}
	if id, _ := r.Payload["message_id"].(string); id != "" && message.ValidHeaderValue(id) {
		headers["In-Reply-To"], headers["References"] = id, id
	}
	return headers
}

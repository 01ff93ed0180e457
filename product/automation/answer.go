package automation

import (
	"postrider/mail/message"
	"postrider/product/automation/internal/flow"
)

// answerHeaders mark the mail of a run that received mail began. A program that answers says so, and what it answers: two that do not
// would answer each other without end (RFC 3834 §3.1.5, §3.1.7).
func (r *Run) answerHeaders() map[string]string {
	if r.Cause.EventName != flow.SystemPrefix+"email.received" {
		return nil
	}
	headers := map[string]string{"Auto-Submitted": "auto-replied"}
	if id, _ := r.Payload["message_id"].(string); id != "" && message.ValidHeaderValue(id) {
		headers["In-Reply-To"], headers["References"] = id, id
	}
	return headers
}

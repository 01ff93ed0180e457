package delivery

import (
	"postrider/product/email"
	"postrider/world"
)

// tell says in a span what came of an attempt: which site was spoken to, how far that went, and what was decided.
func (t *talk) tell(span world.Span) {
	a := t.outcome.Attempt
	span.Text("postrider.email", string(t.job.taken.Email.ID))
	span.Number("postrider.attempt", int64(a.Number))
	span.Text("postrider.site", a.MXHost)
	span.Text("postrider.provider", a.ISP)
	span.Text("postrider.phase", string(a.Stage))
	span.Text("postrider.outcome", outcomeNames[t.outcome.Decision])
	span.Number("smtp.reply_code", int64(a.Code))
	if t.outcome.Decision != email.Done {
		span.Fail(outcomeNames[t.outcome.Decision])
	}
	span.End()
}

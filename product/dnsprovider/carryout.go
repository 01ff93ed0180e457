package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
)

// outcome is what carrying out a decision has come to.
type outcome struct {
	results []Result
	written int
	// trouble is the first error that lies with the provider and not with a record.
	trouble error
}

// carryOut does the steps in their order. What they make stale goes last, and only if all of them are done: mail must have
// somewhere to go at every moment.
func (p publisher) carryOut(ctx context.Context, d decision) outcome {
	var o outcome
	done := true
	for _, st := range d.steps {
		result := Result{Type: st.want.Type, Name: st.want.Name, Action: st.action, Why: st.why}
		if err := p.write(ctx, st); err != nil {
			result.Action, result.Why = explain(err)
			o.note(err)
		}
		if isWritten(result.Action) {
			o.written++
		}
		done = done && (isWritten(result.Action) || result.Action == Unchanged)
		o.results = append(o.results, result)
	}
	if done {
		p.clear(ctx, d.stale, &o)
	}
	return o
}

// clear removes records that have been replaced. The last result tells of it.
func (p publisher) clear(ctx context.Context, stale []string, o *outcome) {
	last := &o.results[len(o.results)-1]
	for _, id := range stale {
		err := p.client.Delete(ctx, p.zone.ID, id)
		var failure *cloudflare.Failure
		switch {
		case err == nil || errors.As(err, &failure) && failure.Status == http.StatusNotFound:
			if last.Action == Unchanged {
				last.Action = Updated
			}
			o.written++
		default:
			o.note(err)
			last.Action, last.Why = Failed, "The records that it replaces could not all be removed."
		}
	}
}

func isWritten(a Action) bool { return a == Created || a == Updated || a == Merged }

// note keeps the first error that says something about the provider.
func (o *outcome) note(err error) {
	var failure *cloudflare.Failure
	if o.trouble == nil && (!errors.As(err, &failure) || !failure.Refused()) {
		o.trouble = err
	}
}

func (p publisher) write(ctx context.Context, st step) error {
	switch st.action {
	case Created:
		return p.client.Create(ctx, p.zone.ID, recordOf(st.want))
	case Updated:
		return p.client.Replace(ctx, p.zone.ID, st.id, recordOf(st.want))
	case Merged: // the record stays its owner's, with their comment and lifetime
		return p.client.SetContent(ctx, p.zone.ID, st.id, cloudflare.WriteText(st.merged))
	}
	return nil
}

// recordOf returns a wanted record as Cloudflare takes it. It is never proxied: a proxy would answer with addresses of its own.
func recordOf(want domain.DNSRecord) cloudflare.Record {
	r := cloudflare.Record{Type: want.Type, Name: want.Name, Content: want.Value, Priority: want.Priority, TTL: cloudflare.AutoTTL, Comment: mark}
	if r.Type == "TXT" {
		r.Content = cloudflare.WriteText(want.Value)
	}
	return r
}

// explain turns the error of a write into what is told about the record.
func explain(err error) (Action, string) {
	var failure *cloudflare.Failure
	if !errors.As(err, &failure) {
		return Failed, "The record could not be written."
	}
	switch {
	case failure.Twin(): // somebody was faster with the very same
		return Unchanged, ""
	case failure.Occupied():
		return Conflict, "Another record at this name keeps it out."
	case failure.Denied():
		return Failed, "The connected token may not edit DNS. Connect the account again."
	case failure.Refused():
		return Failed, fmt.Sprintf("Cloudflare refused the record: %s (%d)", tame(failure.Message), failure.Code)
	}
	return Failed, "Cloudflare did not take the record. Try again later."
}

// maxReason keeps a foreign sentence to what fits a line or two.
const maxReason = 200

// tame makes a sentence of somebody else fit to be shown: one line of bounded length.
func tame(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return strings.TrimSpace(text)
}

package broadcast

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/audience"
	"postrider/product/email"
	"postrider/product/plan"
)

// send sends a draft now or at a time. A key that was used before is answered with what it was answered then.
func (s *Service) send(ctx context.Context, caller api.Caller, id, at string, request api.Idempotency) (record Record, replayed bool, err error) {
	var wrong api.Fields
	scheduled := email.CheckSchedule(&wrong, at, s.world.Clock.Now())
	if err := wrong.Err(); err != nil {
		return record, false, err
	}
	seen, err := s.get(ctx, caller.Workspace, id)
	if err != nil {
		return record, false, err
	}
	var refusal error
	if seen.Status == Draft || seen.Status == Scheduled {
		seen.setTime(at, scheduled, s.world.Clock.Now())
		refusal = s.permit(ctx, caller, &seen)
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		record, replayed, err = api.Once(tx, request, func() (Record, error) {
			b, err := lock(tx, caller.Workspace, id)
			if err != nil {
				return Record{}, err
			}
			if b.Status != Draft && b.Status != Scheduled {
				return Record{}, b.refuse(Draft, Scheduled)
			}
			if b.From != seen.From || b.Target != seen.Target { // what may be sent was asked of another sender or audience
				return Record{}, errChanged.With("current", b.Status)
			}
			if refusal != nil {
				return Record{}, refusal
			}
			b.setTime(at, scheduled, tx.Now())
			b.orderedBy(caller)
			if err := s.launch(tx, &b); err != nil {
				return Record{}, err
			}
			return newRecord(b, counts{}), update(tx, b)
		})
		return err
	})
	return record, replayed, err
}

// errChanged means that somebody changed a draft between the look at it and the sending.
var errChanged = api.ErrInvalidState.Saying("The broadcast was changed while it was being sent. Look at it and send it again.")

// setTime decides when a broadcast goes out: as the request says, else as the draft says, else now. A draft whose time has passed goes
// out now, and so does one that is scheduled and sent again.
func (b *Broadcast) setTime(asked string, at, now time.Time) {
	switch {
	case asked != "":
		b.ScheduledAt = at
	case b.Status == Scheduled || !b.ScheduledAt.After(now):
		b.ScheduledAt = time.Time{}
	}
}

// permit tells whether a broadcast could be sent by the caller: it has all it needs, its sender may send, and the plan has room for
// everybody it would reach. A campaign that stops half-way is worse than one that does not start.
func (s *Service) permit(ctx context.Context, caller api.Caller, b *Broadcast) error {
	if err := b.complete(); err != nil {
		return err
	}
	from, err := address.Parse(b.From)
	if err != nil {
		return api.Invalid("from", "Not an email address.")
	}
	if err := s.parts.Emails.Permit(ctx, email.SenderOf(caller, email.SourceBroadcast), from.Domain); err != nil {
		return err
	}
	if !b.ScheduledAt.IsZero() {
		return nil // the plan may have room by then
	}
	return s.db.Read(ctx, func(tx *db.Tx) error {
		wish := *b
		if err := s.resolve(tx, &wish); err != nil {
			return err
		}
		room, err := s.room(tx, caller)
		if err != nil || room.remaining == nil {
			return err
		}
		e, err := s.parts.Audience.Estimate(tx, b.Workspace, wish.Target, nil)
		if err == nil && e.Eligible > *room.remaining {
			err = room.refusal.With("plan", caller.Plan).With("limit", room.limit).With("used", room.used).With("resets_at", api.Time(room.resets))
		}
		return err
	})
}

// room is how many emails a plan has left, this month or today, whichever are fewer; nil if it has no limit.
type room struct {
	remaining   *int64
	limit, used int64
	resets      time.Time
	// refusal is what a broadcast to more people is answered.
	refusal *api.Error
}

var (
	errMonthTooSmall = plan.ErrMonthlyQuota.Saying("The plan has fewer emails left this month than the broadcast has recipients.")
	errDayTooSmall   = plan.ErrDailyQuota.Saying("The plan has fewer emails left today than the broadcast has recipients.")
)

func (s *Service) room(tx *db.Tx, caller api.Caller) (r room, err error) {
	p, err := s.parts.Plans.Get(plan.Name(caller.Plan))
	if err != nil {
		return r, err
	}
	usage, err := s.parts.Plans.EmailsUsed(tx, caller.Workspace)
	const day = 24 * time.Hour
	_, nextMonth := plan.Month(tx.Now())
	r.narrow(room{used: usage.Month, resets: nextMonth, refusal: errMonthTooSmall}, p.Limits.EmailsPerMonth)
	r.narrow(room{used: usage.Day, resets: tx.Now().UTC().Truncate(day).Add(day), refusal: errDayTooSmall}, p.Limits.EmailsPerDay)
	return r, err
}

// narrow makes the room as small as another with a limit; without one it changes nothing.
func (r *room) narrow(other room, limit *int64) {
	if limit == nil {
		return
	}
	left := max(*limit-other.used, 0)
	if r.remaining == nil || left < *r.remaining {
		other.remaining, other.limit = &left, *limit
		*r = other
	}
}

// orderedBy notes who wants a broadcast sent. A key for tests sends none for real.
func (b *Broadcast) orderedBy(caller api.Caller) { b.KeyID, b.Test = caller.KeyID, caller.Test }

// launch puts a broadcast on its way. The version of its template is fixed now: what was looked at is what goes out.
func (s *Service) launch(tx *db.Tx, b *Broadcast) error {
	if err := b.complete(); err != nil {
		return err
	}
	if err := s.resolve(tx, b); err != nil {
		return err
	}
	if b.Template != "" {
		b.TemplateVersion = 0
		p, err := s.newPress(tx, *b)
		if err != nil {
			return err
		}
		b.TemplateVersion = p.body.Version
	}
	b.Status, b.UpdatedAt, b.QueuedAt = Scheduled, tx.Now(), time.Time{}
	due := b.ScheduledAt
	if !due.After(tx.Now()) {
		b.Status, b.QueuedAt, due = Queued, tx.Now(), tx.Now()
	}
	return s.wake(tx, b, due)
}

// estimateBody is whom to count.
type estimateBody struct {
	AudienceID string `json:"audience_id" doc:"A list, or a segment." example:"0193a1f5-0000-7000-8000-000000000311"`
	SegmentID  string `json:"segment_id"`
	TopicID    string `json:"topic_id"`
	// Filter counts people before anybody saves a segment.
	Filter json.RawMessage `json:"filter" doc:"Rules as a segment has them, which need not be saved; besides or instead of the others. Needs audience:read." example:"{\"type\":\"rule\",\"field\":\"email_domain\",\"operator\":\"eq\",\"value\":\"example.net\"}"`
}

// hasRules tells whether a filter is given.
func (b estimateBody) hasRules() bool { return len(b.Filter) > 0 && string(b.Filter) != "null" }

// count counts the people that a broadcast is for, or that rules are true for. Rules ask what people are like, which not everybody may who
// may read of broadcasts.
func (s *Service) count(tx *db.Tx, caller api.Caller, b *Broadcast, body estimateBody) (audience.Estimate, error) {
	if !body.hasRules() || b.Target != (audience.Target{}) {
		if err := s.resolve(tx, b); err != nil {
			return audience.Estimate{}, err
		}
	}
	if !body.hasRules() {
		return s.parts.Audience.Estimate(tx, caller.Workspace, b.Target, nil)
	}
	if !slices.Contains(caller.Scopes, "audience:read") {
		return audience.Estimate{}, api.ErrScope.With("required", []string{"audience:read"}).With("granted", caller.Scopes)
	}
	return s.parts.Audience.Estimate(tx, caller.Workspace, b.Target, body.Filter)
}

// estimate counts whom a broadcast would reach.
func (s *Service) estimate(ctx context.Context, caller api.Caller, body estimateBody) (e estimateRecord, err error) {
	b := Broadcast{Workspace: caller.Workspace, Target: audience.Target{List: body.AudienceID, Segment: body.SegmentID, Topic: body.TopicID}}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := s.count(tx, caller, &b, body)
		if err != nil {
			return err
		}
		room, err := s.room(tx, caller)
		e = estimateRecord{Object: "audience_estimate", Total: found.Total, Eligible: found.Eligible,
			Excluded:    excludedRecord{Unsubscribed: found.Unsubscribed, Pending: found.Pending, Suppressed: found.Suppressed, TopicOptOut: found.TopicOptOut},
			Quota:       quotaRecord{Remaining: room.remaining, Sufficient: room.remaining == nil || found.Eligible <= *room.remaining},
			EstimatedAt: api.Time(tx.Now())}
		return err
	})
	return e, err
}

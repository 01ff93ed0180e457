package audience

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/email"
)

const (
	// ErasureLane is the queue of people whose data is to be forgotten.
	ErasureLane queue.Lane = "audience_erasure"
	// erasureLease outlives a step; eraseBatch is how many emails one transaction forgets.
	erasureLease = 2 * time.Minute
	eraseBatch   = 100
	// erasureRetry is how soon mail and imports that were still under way are looked at again.
	erasureRetry = time.Hour
	// clockGap is how far the clocks of two nodes may be apart: mail of another that had come already seems younger by so much.
	clockGap = time.Minute
)

// erasure is a person whose data is being forgotten.
type erasure struct {
	id        string
	workspace space.ID
	contact   ContactID
	// address is kept until its last trace is gone.
	address   string
	emails    int64
	createdAt time.Time
	endedAt   time.Time
}

// dataRoutes are those by which whole audiences and whole persons are taken out.
func (s *Service) dataRoutes() []api.Route {
	return []api.Route{
		get("/audience/contacts/export", "Download contacts as comma-separated values.", api.Handle(s.handleExport)),
		accepted(change(http.MethodPost, "/audience/contacts/{id}/erase", "Forget a person: the contact at once, then events and the bodies of mails to them. What the suppression list says stays, as a hash.",
			api.Handle(s.handleErase))),
	}
}

func (s *Service) handleExport(ctx context.Context, caller api.Caller, q contactQuery) (export, error) {
	if err := q.check(); err != nil {
		return export{}, err
	}
	if q.Placed() || q.Search != "" || q.Offset != 0 {
		return export{}, api.Invalid("after", "An export has no pages and no search.")
	}
	q.part.Down = q.Order != "asc"
	e := export{service: s, ws: caller.Workspace, query: q}
	// What is wrong with the filters is told before the file begins.
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		known, err := loadSchema(tx, caller.Workspace)
		if err != nil {
			return err
		}
		_, err = newReach(tx, caller.Workspace, known, q)
		return err
	})
	return e, err
}

type erasureRecord struct {
	Object    string    `json:"object" example:"contact_erasure"`
	ID        string    `json:"id" example:"0193a1f5-0000-7000-8000-000000000361"`
	Contact   ContactID `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Status    string    `json:"status" example:"queued"`
	CreatedAt api.Time  `json:"created_at"`
}

func (s *Service) handleErase(ctx context.Context, caller api.Caller, r contactRequest) (erasureRecord, error) {
	e, err := s.erase(ctx, caller.Workspace, r.ID)
	return erasureRecord{"contact_erasure", e.id, e.contact, "queued", api.Time(e.createdAt)}, err
}

// erase deletes a contact and queues what else has to be forgotten. The event says only that there was a contact.
func (s *Service) erase(ctx context.Context, ws space.ID, name string) (e erasure, err error) {
	e = erasure{id: s.world.NewID(), workspace: ws}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lock(tx, ws, name)
		if err != nil {
			return err
		}
		e.contact, e.address, e.createdAt = c.ID, c.Address, tx.Now()
		if err := removeContacts(tx, ws, []Contact{c}); err != nil {
			return err
		}
		data := eventData{ID: c.ID, Lists: []ListID{}, Segments: []SegmentID{}, Properties: map[string]any{}, Status: c.Status, CreatedAt: api.Time(c.CreatedAt), UpdatedAt: api.Time(tx.Now())}
		if err := event.Append(tx, s.newEvent(tx, ws, deletedEvent, string(c.ID), "", data)); err != nil {
			return err
		}
		if err := insertErasure(tx, e); err != nil {
			return err
		}
		return queue.Add(tx, queue.Item{ID: e.id, Lane: ErasureLane, Rank: queue.Normal, Due: tx.Now(), Payload: strconv.FormatInt(c.Number, 10)})
	})
	return e, err
}

// stepErasure forgets some more of what is kept about the person who has waited longest.
func (s *Service) stepErasure(ctx context.Context) (bool, error) {
	items, err := s.holder.Claim(ctx, ErasureLane, erasureLease, 1)
	if err != nil || len(items) == 0 {
		return false, err
	}
	item := items[0]
	left, err := s.forget(ctx, item)
	if err != nil {
		s.world.Log.Error("erasure interrupted", "erasure", item.ID, "error", err)
	}
	return true, s.db.Write(ctx, func(tx *db.Tx) error {
		if err == nil && !left {
			return queue.Finish(tx, item.ID)
		}
		_, err := queue.Postpone(tx, item, tx.Now().Add(erasureRetry))
		return err
	})
}

// forget works an erasure off, and tells whether something is left for later: mail that is still under way, or what an import that had been
// asked for says of the person.
func (s *Service) forget(ctx context.Context, item queue.Item) (left bool, err error) {
	var e erasure
	importing := false
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if e, err = selectErasure(tx, item.ID); err != nil {
			return err
		}
		importing, err = importsUnderWay(tx, e.workspace, e.createdAt) // asked first: what ends from now on is seen below
		return err
	})
	if errors.Is(err, db.ErrNotFound) || err == nil && e.address == "" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	emails, underWay, err := s.forgetEmails(ctx, e)
	if err != nil {
		return false, fmt.Errorf("forget mail: %w", err)
	}
	if err := s.forgetAround(ctx, e, item.Payload); err != nil {
		return false, err
	}
	e.emails += emails
	left = underWay || importing
	return left, s.db.Write(ctx, func(tx *db.Tx) error {
		if !left {
			e.address, e.endedAt = "", tx.Now()
		}
		return updateErasure(tx, e)
	})
}

// forgetAround forgets what is kept beside mail. Events come before whatever is made of them, or it would be made anew.
func (s *Service) forgetAround(ctx context.Context, e erasure, payload string) error {
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return s.forgetEvents(tx, e) }); err != nil {
		return fmt.Errorf("forget events: %w", err)
	}
	if err := s.forgetAbove(ctx, e, payload); err != nil {
		return fmt.Errorf("forget what slices above keep: %w", err)
	}
	if err := s.forgetLog(ctx, e); err != nil {
		return fmt.Errorf("forget log entries: %w", err)
	}
	if err := s.forgetErrorFiles(ctx, e); err != nil {
		return fmt.Errorf("forget rows of imports: %w", err)
	}
	return nil
}

// forgetAbove lets slices above forget a person. They have locks of their own, so it is a transaction of its own.
func (s *Service) forgetAbove(ctx context.Context, e erasure, payload string) error {
	if s.parts.Forget == nil {
		return nil
	}
	number, _ := strconv.ParseInt(payload, 10, 64) // the release before queued none; 0 is nobody's
	return s.db.Write(ctx, func(tx *db.Tx) error { return s.parts.Forget(tx, e.workspace, e.contact, number) })
}

// forgetEvents forgets the address on the suppression list and in imports, and what was told of these and of the contact.
func (s *Service) forgetEvents(tx *db.Tx, e erasure) error {
	entry, err := s.parts.Suppressions.Erase(tx, e.workspace, e.address)
	if err != nil {
		return err
	}
	imports, err := forgetFailedRows(tx, e)
	if err != nil {
		return err
	}
	for _, subject := range append(imports, string(e.contact), string(entry)) {
		if subject == "" {
			continue
		}
		told, err := event.Redact(tx, e.workspace, subject, e.address, e.createdAt)
		if err != nil {
			return err
		}
		if err := s.parts.Webhooks.Forget(tx, e.workspace, told); err != nil {
			return err
		}
	}
	return nil
}

// forgetEmails forgets the mails to a person that had come when it was asked for, batch by batch.
func (s *Service) forgetEmails(ctx context.Context, e erasure) (emails int64, underWay bool, err error) {
	batch := email.Erasure{Place: db.PlaceAfter(e.createdAt.Add(clockGap)), More: true}
	for batch.More && err == nil {
		place := batch.Place
		err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
			batch, err = s.parts.Emails.Erase(tx, e.workspace, e.address, place, eraseBatch)
			return err
		})
		emails, underWay = emails+batch.Erased, underWay || batch.UnderWay
	}
	return emails, underWay, err
}

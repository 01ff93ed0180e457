package broadcast

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
	"postrider/product/audience"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/product/suppression"
)

// pageBytes is how much mail one page may have. A page has at least one mail, however large.
const pageBytes = 16 << 20

// page is some recipients on their way to the mail queue.
type page struct {
	bulk     email.Bulk
	press    *press
	rows     []recipient
	contacts map[int64]audience.Recipient

	// moved are contacts whose address has changed since the broadcast started.
	moved map[int64]bool

	letters []email.BulkLetter
	// letterOf is the letter of each contact; problems are those for whom none could be made.
	letterOf map[int64]email.ID
	problems map[int64]outcome
}

// outcome is what becomes of a recipient who gets no mail.
type outcome struct {
	state   email.State
	problem problem
}

// handOver gives the next page to the mail queue. What it needs is read and made first, outside the transaction; the transaction then
// asks again who may be mailed, and writes the emails and the rows together.
func (s *Service) handOver(ctx context.Context, b Broadcast) error {
	p, stop, err := s.loadPage(ctx, b)
	if err != nil {
		return err
	}
	if stop != nil {
		return s.change(ctx, b, func(tx *db.Tx, b *Broadcast) error { return s.fail(tx, b, stop.Reason, stop.Message) })
	}
	s.print(p)
	prepared, err := s.parts.Emails.PrepareBulk(ctx, p.bulk, p.letters)
	if err != nil {
		return fmt.Errorf("prepare mail of %s: %w", b.ID, err)
	}
	return s.change(ctx, b, func(tx *db.Tx, b *Broadcast) error { return s.commit(tx, b, p, prepared) })
}

// loadPage reads the next recipients with all that their mail needs. stop is why no mail can be made at all.
func (s *Service) loadPage(ctx context.Context, b Broadcast) (p *page, stop *Failure, err error) {
	p = &page{moved: map[int64]bool{}, letterOf: map[int64]email.ID{}, problems: map[int64]outcome{}}
	size, _ := pace(b.Throttle)
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		workspace, err := s.parts.Accounts.Workspace(tx, b.Workspace)
		if err != nil {
			return err
		}
		if workspace.Status == account.Suspended {
			stop = &Failure{reasonSuspend, "The workspace was suspended."}
			return nil
		}
		p.bulk = b.bulk(workspace.Plan)
		if p.press, err = s.newPress(tx, b); err != nil {
			stop = &Failure{reasonTemplate, sentenceOf(err)}
			return onlyOurs(err)
		}
		if p.rows, err = selectOpen(tx, b.ID, Pending, 0, size); err != nil {
			return err
		}
		p.contacts, err = s.parts.Audience.Contacts(tx, b.Workspace, contactsOf(p.rows))
		return err
	})
	if err != nil || stop != nil {
		return p, stop, err
	}
	bulk, err := s.parts.Emails.OpenBulk(ctx, p.bulk)
	if err != nil {
		return p, &Failure{senderReason(err), sentenceOf(err)}, onlyOurs(err)
	}
	p.bulk = bulk
	return p, nil, nil
}

// onlyOurs returns trouble of ours, which passes; what the sender has to hear is no error here.
func onlyOurs(err error) error {
	var public *api.Error
	if errors.As(err, &public) && public.Status < 500 {
		return nil
	}
	return err
}

// senderReason is the word for a sender that may not send.
func senderReason(err error) string {
	var public *api.Error
	if errors.As(err, &public) {
		return public.Code
	}
	return reasonSender
}

func contactsOf(rows []recipient) []int64 {
	numbers := make([]int64, len(rows))
	for i, r := range rows {
		numbers[i] = r.Contact
	}
	return numbers
}

// bulk is what all mails of the broadcast have in common.
func (b Broadcast) bulk(on plan.Name) email.Bulk {
	bulk := email.Bulk{Sender: email.Sender{Workspace: b.Workspace, Plan: on, KeyID: b.KeyID, Source: email.SourceBroadcast, Test: b.Test}, Tags: b.Tags,
		TrackOpens: b.TrackOpens, TrackClicks: b.TrackClicks, Template: b.Template, TemplateVersion: b.TemplateVersion, Broadcast: string(b.ID),
		Topic: b.Target.Topic, List: b.Target.List}
	bulk.From, _ = address.Parse(b.From) // both were checked when they were set
	for _, text := range b.ReplyTo {
		if a, err := address.Parse(text); err == nil {
			bulk.ReplyTo = append(bulk.ReplyTo, a)
		}
	}
	return bulk
}

// print makes the letters of a page, as many as it may have.
func (s *Service) print(p *page) {
	bytes := 0
	for i, r := range p.rows {
		contact, ok := p.contacts[r.Contact]
		if !ok {
			continue // gone; the transaction finds out
		}
		if bytes > pageBytes {
			p.rows = p.rows[:i]
			return
		}
		if contact.Address != r.Address {
			p.rows[i].Address, p.moved[r.Contact] = contact.Address, true
		}
		to, err := address.Parse(contact.Address)
		if err != nil {
			p.problems[r.Contact] = outcome{email.Failed, problem{Stage: atRender, Reason: reasonAddress, Message: "The address is not one that mail can be sent to."}}
			continue
		}
		letter := email.BulkLetter{ID: email.ID(r.ID), To: to, Contact: r.ContactID}
		if r.Email != "" {
			letter.ID = email.ID(s.world.NewID()) // tried again: the first email stays as it ended
		}
		made, err := p.press.print(letter, contact, s.parts.Emails.BulkLink(p.bulk, letter))
		if err != nil {
			p.problems[r.Contact] = outcome{email.Failed, problem{Stage: atRender, Reason: reasonRender, Message: sentenceOf(err)}}
			continue
		}
		bytes += len(made.HTML) + len(made.Text)
		p.letterOf[r.Contact] = letter.ID
		p.letters = append(p.letters, made)
	}
}

// commit hands over those of a page who may be mailed, and settles the others.
func (s *Service) commit(tx *db.Tx, b *Broadcast, p *page, prepared email.PreparedBulk) error {
	pending, err := selectStillPending(tx, b.ID, contactsOf(p.rows))
	if err != nil {
		return err
	}
	stopped, err := s.stopped(tx, b, p, pending)
	if isMissing(err) {
		return s.fail(tx, b, reasonAudience, "The audience or topic was deleted while the broadcast was being sent.")
	}
	if err != nil {
		return err
	}
	keep := map[email.ID]bool{}
	for contact := range pending {
		if _, no := stopped[contact]; !no {
			keep[p.letterOf[contact]] = true
		}
	}
	accepted, refusal, err := s.parts.Emails.StoreBulk(tx, prepared, keep)
	if err != nil {
		return err
	}
	if err := s.mark(tx, b, p, pending, stopped, accepted); err != nil {
		return err
	}
	if refusal != nil {
		return s.fail(tx, b, senderReason(refusal), sentenceOf(refusal))
	}
	rest, err := s.restAfter(tx, b, len(accepted))
	if err != nil {
		return err
	}
	b.nextAt = tx.Now().Add(rest)
	return s.handedIfAll(tx, b)
}

// restAfter is how long nothing is handed over after some mails: as long as the broadcast wants, and for a moment if enough mail waits to
// be sent. That leaves sooner if nobody writes more meanwhile, and a cancel has less to call back.
func (s *Service) restAfter(tx *db.Tx, b *Broadcast, handed int) (time.Duration, error) {
	_, wait := pace(b.Throttle)
	waits, err := s.parts.Emails.BulkWaits(tx)
	if waits {
		return max(wait(handed), restFor), err
	}
	return wait(handed), err
}

// stopped returns who of a page gets no mail, and why: no letter could be made, or they may not be mailed any more.
func (s *Service) stopped(tx *db.Tx, b *Broadcast, p *page, pending map[int64]recipient) (map[int64]outcome, error) {
	all := map[int64]outcome{}
	var numbers []int64
	var rows []recipient
	var queries []suppression.Query
	for _, r := range p.rows {
		if _, waits := pending[r.Contact]; waits {
			rows, numbers = append(rows, r), append(numbers, r.Contact)
			queries = append(queries, suppression.Query{Workspace: b.Workspace, Address: r.Address, Bulk: true})
		}
	}
	excluded, err := s.parts.Audience.Excluded(tx, b.Workspace, b.Target, numbers)
	if err != nil {
		return nil, err
	}
	listed, err := s.parts.Suppressions.Check(tx, queries)
	if err != nil {
		return nil, err
	}
	stops := make([]*suppression.Suppression, len(listed))
	for i, r := range rows {
		why, isExcluded := excluded[r.Contact]
		made, hasProblem := p.problems[r.Contact]
		switch {
		case isExcluded && why == audience.ContactDeleted:
			all[r.Contact] = exclude(why)
		case listed[i] != nil && !b.Test:
			stops[i] = listed[i]
			reason, message := listed[i].Why()
			all[r.Contact] = outcome{email.Suppressed, problem{Stage: atSuppression, Reason: reason, Message: message}}
		case isExcluded:
			all[r.Contact] = exclude(why)
		case hasProblem:
			all[r.Contact] = made
		case p.letterOf[r.Contact] == "":
			all[r.Contact] = exclude(audience.ContactDeleted)
		}
	}
	return all, s.parts.Suppressions.Hit(tx, stops)
}

// exclude is what becomes of somebody who left between the start and now.
func exclude(why audience.Exclusion) outcome {
	state := email.Suppressed
	if why == audience.ContactDeleted || why == audience.LeftList {
		state = Skipped
	}
	return outcome{state, problem{Stage: atSuppression, Reason: string(why), Message: exclusionTexts[why]}}
}

var exclusionTexts = map[audience.Exclusion]string{
	audience.ContactDeleted:  "The contact was deleted after the broadcast had started.",
	audience.LeftList:        "The contact was taken off the list after the broadcast had started.",
	audience.HasUnsubscribed: "The recipient unsubscribed after the broadcast had started.",
	audience.OptedOutOfTopic: "The recipient opted out of the topic after the broadcast had started.",
	audience.Unconfirmed:     "The recipient has to confirm the subscription again.",
	audience.AddressBlocked:  "The address is on the suppression list.",
}

// mark writes into the rows of a page what became of them, and counts it. Who was forgotten while the page was made stays so.
func (s *Service) mark(tx *db.Tx, b *Broadcast, p *page, pending map[int64]recipient, stopped map[int64]outcome, accepted []email.ID) error {
	stored := make(map[email.ID]bool, len(accepted))
	for _, id := range accepted {
		stored[id] = true
	}
	var change counts
	var plain []int64
	var changed []recipient
	for _, made := range p.rows {
		r, waits := pending[made.Contact]
		if p.moved[r.Contact] && r.Address != forgottenAddress {
			r.Address = made.Address
		}
		end, no := stopped[r.Contact]
		switch {
		case !waits:
		case no:
			change.move(Pending, end.state, 1)
			end.problem.At = api.Time(tx.Now())
			r.State, r.Problem, r.UpdatedAt = end.state, &end.problem, tx.Now()
			changed = append(changed, r)
		case stored[p.letterOf[r.Contact]] && r.Email == "" && !p.moved[r.Contact]:
			plain = append(plain, r.Contact)
		case stored[p.letterOf[r.Contact]]:
			r.State, r.Email, r.UpdatedAt = email.Queued, p.letterOf[r.Contact], tx.Now()
			changed = append(changed, r)
		}
	}
	if err := updateRecipients(tx, changed); err != nil {
		return err
	}
	if n, err := markQueued(tx, b.ID, plain); err != nil {
		return err
	} else if n != int64(len(plain)) {
		return fmt.Errorf("%d of %d recipients of %s were there to be marked", n, len(plain), b.ID)
	}
	return addCounts(tx, b.ID, change)
}

package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/email"
)

// forwardLane is the queue of messages that are to be passed on: one item a message and rule.
const forwardLane queue.Lane = "forward"

const (
	// maxForwardsAnHour is how much one rule passes on: more is a loop, or abuse of the address behind it.
	maxForwardsAnHour = 100
	// forwardedField is what we put on mail that we pass on, and maxForwarded how often it may be there already.
	forwardedField = "X-Forwarded-By"
	maxForwarded   = 3
)

// forwardJob is the payload of an item.
type forwardJob struct {
	Workspace space.ID `json:"w"`
	Message   ID       `json:"m"`
	Rule      string   `json:"r"`
	// Test is set for mail that a test key handed in: it never leaves the machine.
	Test bool `json:"t,omitempty"`
}

// ForwardStep passes some of the waiting messages on.
func (s *Service) ForwardStep(ctx context.Context) (bool, error) {
	items, err := s.claim(ctx, forwardLane, func(*db.Tx, []queue.Item) error { return nil })
	if err != nil || len(items) == 0 {
		return false, err
	}
	failures := make([]error, len(items))
	each(len(items), func(i int) { failures[i] = s.forward(ctx, items[i]) })
	return true, errors.Join(failures...)
}

// forward passes one message on by one rule. What it cannot do for good is noted on the rule; what it cannot do now is tried again.
func (s *Service) forward(ctx context.Context, item queue.Item) error {
	var job forwardJob
	if err := json.Unmarshal([]byte(item.Payload), &job); err != nil {
		panic(fmt.Sprintf("inbound: payload of %s: %v", item.ID, err))
	}
	f, problem, err := s.prepareForward(ctx, job)
	if err != nil {
		return fmt.Errorf("forward %s: %w", item.ID, err)
	}
	var receipt email.Receipt
	var failed error
	switch {
	case problem != "" || f.rule.ID == "":
	case item.Claims > maxTries:
		failed = errNeverEnded
	default:
		receipt, problem, failed = s.passOn(ctx, item.ID, f, job.Test)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the lease runs out, or is taken back at the next start
	}
	again := failed != nil && item.Claims < maxTries
	if failed != nil {
		problem = problemTrouble
		s.world.Log.Error("message could not be passed on", "message", job.Message, "rule", job.Rule, "tries", item.Claims, "error", failed)
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if again {
			held, err := queue.Postpone(tx, item, tx.Now().Add(retryAfter))
			if err != nil || !held {
				return err
			}
			return uncountForward(tx, f.rule)
		}
		held, err := queue.Hold(tx, s.holder.Name, []queue.Item{item})
		if err != nil || len(held) == 0 {
			return err // another node has taken over, and settles it
		}
		return s.settleForward(tx, item.ID, job, f, receipt, problem)
	})
}

func (s *Service) settleForward(tx *db.Tx, itemID string, job forwardJob, f forwarding, receipt email.Receipt, problem string) error {
	if err := s.noteForward(tx, job, f, receipt, problem); err != nil {
		return err
	}
	over, err := forwardDone(tx, job.Workspace, job.Message)
	if err != nil {
		return err
	}
	if over {
		if err := deleteMessage(tx, job.Workspace, job.Message); err != nil {
			return err
		}
	}
	return queue.Finish(tx, itemID)
}

// noteForward writes down what became of a message.
func (s *Service) noteForward(tx *db.Tx, job forwardJob, f forwarding, receipt email.Receipt, problem string) error {
	if receipt.ID != "" {
		if err := insertForward(tx, job.Workspace, job.Message, f.rule.ID, receipt.ID, f.to()); err != nil {
			return err
		}
		return noteForwarded(tx, f.rule)
	}
	if problem != "" {
		if err := noteProblem(tx, f.rule, problem); err != nil {
			return err
		}
	}
	if f.message.ID == "" || f.message.Kept {
		return nil
	}
	return s.keepAfterAll(tx, f.message)
}

// keepAfterAll keeps a message that was only to be passed on, and was not: nothing that we answered with 250 is lost.
func (s *Service) keepAfterAll(tx *db.Tx, m Message) error {
	kept, err := setKept(tx, m.Workspace, m.ID)
	if err != nil || !kept {
		return err
	}
	if err := addTotal(tx, m.Workspace, 1); err != nil {
		return err
	}
	return s.tell(tx, m, finding{})
}

// passOn hands the message to the queue of outgoing mail. A problem is why it never will; an error, why it could not now.
func (s *Service) passOn(ctx context.Context, key string, f forwarding, test bool) (receipt email.Receipt, problem string, err error) {
	in, err := s.openParts(ctx, f.content.content)
	if err != nil {
		return receipt, "", err
	}
	defer in.close()
	if countFields(in.fields, forwardedField) >= maxForwarded {
		return receipt, problemLoop, nil
	}
	if f.rule.Mode == Passthrough && countFields(in.fields, "From") == 0 {
		return receipt, problemAuthor, nil
	}
	p := email.PassedOn{Domain: f.domain.Name, To: f.destinations, Subject: f.message.Subject, MessageID: f.message.MessageID, Files: len(f.message.Files),
		Body: in.body, Key: key}
	if f.rule.Mode == Passthrough {
		err = s.passThrough(ctx, f, in.fields, &p)
	} else {
		err = s.rewrite(f, in.fields, &p)
	}
	if err != nil {
		return receipt, "", err
	}
	receipt, _, err = s.emails.PassOn(ctx, email.Sender{Workspace: f.message.Workspace, Plan: f.plan, Source: email.SourceForward, Test: test}, p)
	var refused *api.Error
	if errors.As(err, &refused) && refused.Status < 500 {
		return email.Receipt{}, refused.Code, nil
	}
	return receipt, "", err
}

func countFields(fields []message.Field, name string) int {
	count := 0
	for _, f := range fields {
		if f.Is(name) {
			count++
		}
	}
	return count
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"postrider/platform/db"
	"postrider/product/email"
)

// ledger is what the installation has promised, written down by its customer.
type ledger struct {
	sent  map[string]*promise // by id
	order []string
	byKey map[string]string // id by idempotency key
	keyed []twin
}

type promise struct {
	messageID string
	to        []string
	cancelled bool
}

type twin struct {
	body map[string]any
	to   []string
	at   time.Time
}

func newLedger() *ledger { return &ledger{sent: map[string]*promise{}, byKey: map[string]string{}} }

// accept notes an answer of 2xx. I4: one idempotency key, one id.
func (l *ledger) accept(body, answer map[string]any, to []string) error {
	id, _ := answer["id"].(string)
	messageID, _ := answer["message_id"].(string)
	created, _ := answer["created_at"].(string)
	if key, ok := body["idempotency_key"].(string); ok {
		if before, known := l.byKey[key]; known {
			if before != id || answer["idempotent"] != true {
				return fmt.Errorf("I4: key %s gave %s first and %s (idempotent %v) later", key, before, id, answer["idempotent"])
			}
			return nil
		}
		l.byKey[key] = id
		at, err := time.Parse(time.RFC3339, created)
		if err != nil {
			return err
		}
		l.keyed = append(l.keyed, twin{body, to, at})
	}
	if l.sent[id] != nil {
		return fmt.Errorf("I4: the id %s was given twice", id)
	}
	l.sent[id] = &promise{messageID: messageID, to: to}
	l.order = append(l.order, id)
	return nil
}

// verify compares the ledger with the installation and with what the servers of the network have seen.
func (s *simulation) verify(ctx context.Context) error {
	var problems []error
	states := map[email.State]int{}
	recipients := 0
	for id, p := range s.ledger.sent {
		status, record, err := s.call(http.MethodGet, "/emails/"+id, nil)
		if err != nil || status != http.StatusOK {
			problems = append(problems, fmt.Errorf("I1: accepted email %s is answered with %d (%v)", id, status, err))
			continue
		}
		list, _ := record["recipients"].([]any)
		recipients += len(p.to)
		if len(list) != len(p.to) {
			problems = append(problems, fmt.Errorf("I5: email %s went to %d of %d recipients", id, len(list), len(p.to)))
		}
		for _, item := range list {
			r, _ := item.(map[string]any)
			state := email.State(fmt.Sprint(r["status"]))
			states[state]++
			problems = append(problems, s.verifyRecipient(id, p, r, state)...)
		}
		if !s.setsClockBack() {
			problems = append(problems, verifyTimeline(id, record)...)
		}
	}
	total := 0
	for _, count := range states {
		total += count
	}
	if total != recipients {
		problems = append(problems, fmt.Errorf("I5: %d recipients accepted, %d accounted for: %v", recipients, total, states))
	}
	return errors.Join(append(problems, s.verifyStore(ctx, states))...)
}

// noteLostAnswers finds, after a crash, the messages that a server took without our having written it down. They will be sent again,
// and that is all the doubling a crash may cause.
func (s *simulation) noteLostAnswers(ctx context.Context) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		open, err := db.All(tx, func(row db.Scanner) (key letterKey, err error) {
			err = row.Scan(&key.messageID, &key.recipient)
			return key, err
		}, `
			SELECT email.message_id, email_recipient.address FROM email_recipient
			JOIN email ON email.id = email_recipient.email_id
			WHERE email_recipient.state IN ('queued', 'sending')`)
		s.network.mu.Lock()
		defer s.network.mu.Unlock()
		for _, key := range open {
			s.network.unsure[key] = s.network.accepted[key]
		}
		return err
	})
}

func (s *simulation) verifyRecipient(id string, p *promise, r map[string]any, state email.State) []error {
	var problems []error
	address := fmt.Sprint(r["email"])
	key := letterKey{p.messageID, address}
	taken, unsure := s.network.accepted[key], s.network.unsure[key]
	fail := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: email %s to %s (%s, taken %d, unsure %d)", fmt.Sprintf(format, args...), id, address, state, taken, unsure))
	}
	if !state.Terminal() {
		fail("I1/I9: not in a final state")
	}
	if p.cancelled && (state != email.Cancelled || taken > 0) {
		fail("I11: cancelled with a yes")
	}
	if state == email.Delivered && taken == 0 {
		fail("I3: delivered, but no server has it")
	}
	if state != email.Delivered && taken > unsure {
		fail("I3: a server has it and said so, but it is not delivered")
	}
	if taken > 1+unsure {
		fail("I2: sent twice without an answer having been lost")
	}
	attempts, _ := r["attempts"].(float64)
	s.report.Recipients++
	s.report.Fates = append(s.report.Fates, fmt.Sprintf("%s %s after %v attempts, taken %d times", address, state, attempts, taken))
	recorded, ambiguous := s.attempts(id, address)
	if recorded != int(attempts) {
		fail("I3: %d attempts made, %d recorded", int(attempts), recorded)
	}
	known := 0
	if state == email.Delivered {
		known = 1
	}
	if taken-known > ambiguous {
		fail("I2: %d attempts are said to be doubtful", ambiguous)
	}
	return problems
}

// attempts returns how many attempts are recorded for a recipient, and how many of them may have delivered the message although nobody
// heard so.
func (s *simulation) attempts(id, recipient string) (recorded, ambiguous int) {
	status, page, err := s.call(http.MethodGet, "/emails/"+id+"/attempts?limit=200&recipient="+recipient, nil)
	if err != nil || status != http.StatusOK {
		return -1, 0
	}
	all, _ := page["data"].([]any)
	for _, item := range all {
		if attempt, _ := item.(map[string]any); attempt["ambiguous"] == true {
			ambiguous++
		}
	}
	total, _ := page["total"].(float64)
	return int(total), ambiguous
}

// verifyTimeline checks I3: the story of a recipient follows the table of states.
func verifyTimeline(id string, record map[string]any) []error {
	var problems []error
	at := map[string]email.State{}
	entries, _ := record["timeline"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		recipient, ok := entry["recipient"].(string)
		if !ok {
			continue
		}
		next := email.State(fmt.Sprint(entry["status"]))
		before, known := at[recipient]
		if known && before.Terminal() && next != before && !before.CanBecome(next) {
			problems = append(problems, fmt.Errorf("I3: email %s to %s went from %s to %s", id, recipient, before, next))
		}
		at[recipient] = next
	}
	return problems
}

// verifyStore looks at the tables themselves: nothing that was never promised, nothing counted wrong.
func (s *simulation) verifyStore(ctx context.Context, states map[email.State]int) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
		emails, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM email`)
		if err != nil {
			return err
		}
		if int(emails) != len(s.ledger.sent) {
			return fmt.Errorf("I8: %d emails are stored, %d were promised", emails, len(s.ledger.sent))
		}
		leased, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM queue_item WHERE lane = 'mail'`)
		if err != nil {
			return err
		}
		if leased != 0 {
			return fmt.Errorf("I9: %d items are left in the queue", leased)
		}
		usage, err := s.app.Plans.EmailsUsed(tx, s.workspace)
		if err != nil {
			return err
		}
		total := 0
		for state, count := range states {
			if state != email.Cancelled {
				total += count
			}
		}
		if s.clock.Now().Month() == time.November && int(usage.Month) != total {
			return fmt.Errorf("I5: the plan counts %d recipients, %d were mailed", usage.Month, total)
		}
		return nil
	})
}

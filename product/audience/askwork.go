package audience

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/account"
)

// stepConfirmations hands in letters that wait. A letter has the id of its queue item as its key, so none is handed in twice.
func (s *Service) stepConfirmations(ctx context.Context) (bool, error) {
	return s.holder.Run(ctx, queue.Errand{Lane: ConfirmationLane, Lease: askLease, Batch: askBatch, Retry: askRetry, Tries: maxAskTries, Do: s.handIn,
		Failing: "confirmation not sent"})
}

// handIn sends one letter, if the person is still waiting for it.
func (s *Service) handIn(ctx context.Context, item queue.Item) error {
	var letter letterItem
	if err := json.Unmarshal([]byte(item.Payload), &letter); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	var c Contact
	var l List
	waiting := false
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		rows, err := selectContactsByNumber(tx, letter.Workspace, []int64{letter.Contact})
		if err != nil || len(rows) == 0 {
			return err
		}
		c = rows[0]
		if l, err = lists.find(tx, letter.Workspace, string(letter.List)); err != nil {
			return orNothing(err)
		}
		m, err := findMembership(tx, l.Number, c.Number)
		waiting = err == nil && m.Status == Pending
		if err != nil || !waiting {
			return orNothing(err)
		}
		workspace, err := s.parts.Accounts.Workspace(tx, letter.Workspace)
		if err == nil && workspace.Status == account.Suspended {
			err = api.ErrSuspended // it waits until a person lets the workspace go on
		}
		return err
	})
	if err != nil || !waiting {
		return err
	}
	sender := senderOf(api.Caller{Principal: api.Principal{Workspace: letter.Workspace, Plan: letter.Plan, KeyID: letter.KeyID, DomainIDs: letter.Domains, Test: letter.Test}})
	draft, _, err := s.letter(ctx, sender, c, l, item.ID, wayOfAsking{})
	if err != nil {
		return err
	}
	_, _, err = s.parts.Emails.Accept(ctx, sender, draft,
		api.Idempotency{Workspace: letter.Workspace, Operation: "confirmation", Key: item.ID, Hash: item.ID, For: 2 * askFor})
	return err
}

// orNothing makes something that has gone in the meantime no error.
func orNothing(err error) error {
	if errors.Is(err, ErrListNotFound) || errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

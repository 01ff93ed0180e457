package inbound

import (
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/email"
)

// selectThread finds the thread of a message of the workspace by its message id.
func selectThread(tx *db.Tx, ws space.ID, messageIDs []string) (map[string]string, error) {
	type row struct{ id, thread string }
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		err = s.Scan(&r.id, &r.thread)
		return r, err
	}, `
		SELECT message_id, thread_id FROM inbound_received
		WHERE workspace_id = $1 AND message_id {in $2}
		ORDER BY created_at DESC`, ws, messageIDs)
	threads := make(map[string]string, len(rows))
	for _, r := range rows {
		threads[r.id] = r.thread
	}
	return threads, err
}

// selectAnswerThreads returns the threads of emails that answer received mail.
func selectAnswerThreads(tx *db.Tx, ws space.ID, ids []email.ID) (map[email.ID]string, error) {
	threads := map[email.ID]string{}
	_, err := db.All(tx, func(s db.Scanner) (id email.ID, err error) {
		var thread string
		err = s.Scan(&id, &thread)
		threads[id] = thread
		return id, err
	}, `
		SELECT email_id, thread_id FROM inbound_answer
		WHERE workspace_id = $1 AND email_id {in $2}`, ws, ids)
	return threads, err
}

func insertAnswer(tx *db.Tx, m Message, id email.ID) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_answer (email_id, workspace_id, received_id, thread_id)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, id, m.Workspace, m.ID, m.Thread)
	return err
}

// selectForwards returns what messages were passed on as.
func selectForwards(tx *db.Tx, ws space.ID, ids []ID) (map[ID][]forwarded, error) {
	type row struct {
		of ID
		forwarded
	}
	rows, err := db.All(tx, func(s db.Scanner) (r row, err error) {
		var to string
		if err := s.Scan(&r.of, &r.RuleID, &r.EmailID, &to); err != nil {
			return r, err
		}
		return r, db.FromJSON(to, &r.To)
	}, `
		SELECT received_id, rule_id, email_id, forward_to FROM inbound_forward
		WHERE workspace_id = $1 AND received_id {in $2}
		ORDER BY created_at, rule_id`, ws, ids)
	found := map[ID][]forwarded{}
	for _, r := range rows {
		found[r.of] = append(found[r.of], r.forwarded)
	}
	return found, err
}

func insertForward(tx *db.Tx, ws space.ID, id ID, rule string, became email.ID, to api.Strings) error {
	_, err := tx.Exec(`
		INSERT INTO inbound_forward (received_id, rule_id, workspace_id, email_id, forward_to, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`, id, rule, ws, became, db.JSON(to), tx.Now())
	return err
}

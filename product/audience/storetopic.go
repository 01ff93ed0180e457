package audience

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
)

var topics = shelf[Topic]{table: "topic", name: "name_folded", scan: scanTopic, missing: ErrTopicNotFound,
	columns: `number, id, workspace_id, name, description, default_subscription, visibility, in_count, out_count, created_at, updated_at`}

func scanTopic(s db.Scanner) (t Topic, err error) {
	err = s.Scan(&t.Number, &t.ID, &t.Workspace, &t.Name, db.Text(&t.Description), &t.Default, &t.Visibility, &t.in, &t.out, db.Time(&t.CreatedAt),
		db.Time(&t.UpdatedAt))
	return t, err
}

// insertTopic returns false if another topic has the name.
func insertTopic(tx *db.Tx, t Topic) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO topic (id, workspace_id, name, name_folded, description, default_subscription, visibility, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (workspace_id, name_folded) DO NOTHING`,
		t.ID, t.Workspace, t.Name, filter.Fold(t.Name), db.NullText(t.Description), t.Default, t.Visibility, t.CreatedAt, t.UpdatedAt)
	return n == 1, err
}

func updateTopic(tx *db.Tx, t Topic) error {
	_, err := tx.Exec(`
		UPDATE topic SET name = $1, name_folded = $2, description = $3, visibility = $4, updated_at = $5
		WHERE workspace_id = $6 AND id = $7`,
		t.Name, filter.Fold(t.Name), db.NullText(t.Description), t.Visibility, t.UpdatedAt, t.Workspace, t.ID)
	return err
}

// deleteSome deletes rows of a thing that is gone, and returns how many. The names of table and column are ours.
func deleteSome(tx *db.Tx, table, column string, number int64, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM `+table+`
		WHERE `+column+` = $1 AND contact IN (
			SELECT contact FROM `+table+`
			WHERE `+column+` = $1
			LIMIT $2)`, number, limit)
}

// said is what a contact said about a topic.
type said struct {
	topic, contact int64
	subscription   Subscription
	at             time.Time
	own            bool // the person said so, by a link
}

func scanSaid(s db.Scanner) (t said, err error) {
	err = s.Scan(&t.topic, &t.contact, &t.subscription, db.Time(&t.at), &t.own)
	return t, err
}

// selectSaid returns what contacts that the caller has found in its workspace said.
func selectSaid(tx *db.Tx, contacts []int64) ([]said, error) {
	return db.All(tx, scanSaid, `
		SELECT topic, contact, subscription, updated_at, own FROM contact_topic
		WHERE contact {in $1}
		ORDER BY topic, contact`, contacts)
}

// saveSaid writes what contacts say. The transaction has locked the contacts.
func saveSaid(tx *db.Tx, rows []said) error {
	const width = 5
	values := make([]any, 0, width*len(rows))
	for _, t := range rows {
		values = append(values, t.topic, t.contact, t.subscription, t.at, t.own)
	}
	_, err := tx.InsertRows(`
		INSERT INTO contact_topic (topic, contact, subscription, updated_at, own)`, width, values, `
		ON CONFLICT (topic, contact) DO UPDATE
		SET subscription = excluded.subscription, updated_at = excluded.updated_at, own = excluded.own`)
	return err
}

func addToTopic(tx *db.Tx, topic int64, by topicCounts) error {
	_, err := tx.Exec(`
		UPDATE topic SET in_count = in_count + $1, out_count = out_count + $2
		WHERE number = $3`, by[OptIn], by[OptOut], topic)
	return err
}

// selectOptedOut returns those of the addresses that do not get mail about a topic.
func selectOptedOut(tx *db.Tx, ws space.ID, topic Topic, addresses []string) ([]string, error) {
	if topic.Default == OptOut {
		return db.All(tx, db.Value[string], `
		SELECT address FROM contact
		WHERE workspace_id = $1 AND address {in $2}
			AND NOT EXISTS (SELECT 1 FROM contact_topic WHERE contact_topic.contact = contact.number AND topic = $3 AND subscription = 'opt_in')`,
			ws, addresses, topic.Number)
	}
	return db.All(tx, db.Value[string], `
		SELECT address FROM contact
		WHERE workspace_id = $1 AND address {in $2}
			AND EXISTS (SELECT 1 FROM contact_topic WHERE contact_topic.contact = contact.number AND topic = $3 AND subscription = 'opt_out')`,
		ws, addresses, topic.Number)
}

func selectLeft(tx *db.Tx, ws space.ID, list string, contacts []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT id FROM contact
		WHERE {beside workspace_id} = $1 AND id {in $2} AND (unsubscribed OR EXISTS (
			SELECT 1 FROM list_contact
			JOIN audience_list ON audience_list.number = list_contact.list
			WHERE audience_list.workspace_id = $1 AND audience_list.id = $3 AND list_contact.contact = contact.number AND list_contact.status = 'unsubscribed'))`,
		ws, contacts, db.NullText(list))
}

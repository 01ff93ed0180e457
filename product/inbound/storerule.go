package inbound

import (
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const ruleColumns = `id, workspace_id, domain_id, domain, address, forward_to, enabled, keep_copy, mode, description, forwarded, last_forwarded_at,
	last_error, created_at, updated_at`

func scanRule(s db.Scanner) (Rule, error) {
	var r Rule
	var to string
	if err := s.Scan(&r.ID, &r.Workspace, &r.DomainID, &r.Domain, &r.Address, &to, &r.Enabled, &r.KeepCopy, &r.Mode, db.Text(&r.Description), &r.Forwarded,
		db.Time(&r.LastForwardedAt), db.Text(&r.LastError), db.Time(&r.CreatedAt), db.Time(&r.UpdatedAt)); err != nil {
		return r, err
	}
	return r, db.FromJSON(to, &r.ForwardTo)
}

func countRules(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM inbound_rule
		WHERE workspace_id = $1`, ws)
}

// insertRule tells whether there was none for the address.
func insertRule(tx *db.Tx, r Rule) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO inbound_rule (id, workspace_id, domain_id, domain, address, forward_to, enabled, keep_copy, mode, description, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`,
		r.ID, r.Workspace, r.DomainID, r.Domain, r.Address, db.JSON(r.ForwardTo), r.Enabled, r.KeepCopy, r.Mode, db.NullText(r.Description), r.CreatedAt, r.UpdatedAt)
	return n == 1, err
}

func lockRule(tx *db.Tx, ws space.ID, id string) (Rule, error) {
	return db.One(tx, scanRule, `
		SELECT `+ruleColumns+` FROM inbound_rule
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

func selectRule(tx *db.Tx, ws space.ID, id string) (Rule, error) {
	return db.One(tx, scanRule, `
		SELECT `+ruleColumns+` FROM inbound_rule
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

// selectRulesOf returns the rules for some addresses, by them.
func selectRulesOf(tx *db.Tx, ws space.ID, addresses []string) (map[string]Rule, error) {
	rules, err := db.All(tx, scanRule, `
		SELECT `+ruleColumns+` FROM inbound_rule
		WHERE workspace_id = $1 AND address {in $2}`, ws, addresses)
	found := make(map[string]Rule, len(rules))
	for _, r := range rules {
		found[r.Address] = r
	}
	return found, err
}

// selectRulePage returns the rules of a page, and one more if there are more.
func selectRulePage(tx *db.Tx, w *where, q api.PageQuery, part db.Keyset) ([]Rule, error) {
	condition, args := part.Where(w.text(), w.args, "created_at", "id")
	args = append(args, q.Limit+1, q.Offset)
	return db.All(tx, scanRule, fmt.Sprintf(`
		SELECT `+ruleColumns+` FROM inbound_rule
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, condition, part.Order("created_at", "id"), len(args)-1, len(args)), args...)
}

func countRulePage(tx *db.Tx, w *where) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM inbound_rule
		WHERE `+w.text(), w.args...)
}

func updateRule(tx *db.Tx, r Rule) error {
	_, err := tx.Exec(`
		UPDATE inbound_rule SET forward_to = $1, enabled = $2, keep_copy = $3, mode = $4, description = $5, updated_at = $6
		WHERE workspace_id = $7 AND id = $8`,
		db.JSON(r.ForwardTo), r.Enabled, r.KeepCopy, r.Mode, db.NullText(r.Description), r.UpdatedAt, r.Workspace, r.ID)
	return err
}

func deleteRules(tx *db.Tx, ws space.ID, ids []string) error {
	_, err := tx.Exec(`
		DELETE FROM inbound_rule
		WHERE workspace_id = $1 AND id {in $2}`, ws, ids)
	return err
}

// deleteRuleLeftBehind removes the rule that an address had under another id of its domain, which was removed and added again.
func deleteRuleLeftBehind(tx *db.Tx, r Rule) error {
	_, err := tx.Exec(`
		DELETE FROM inbound_rule
		WHERE workspace_id = $1 AND address = $2 AND domain_id <> $3`, r.Workspace, r.Address, r.DomainID)
	return err
}

// countForward counts a forward in the hour, if the rule has one left. It tells whether it had.
func countForward(tx *db.Tx, r Rule, most int64) (bool, error) {
	hour := tx.Now().Truncate(time.Hour).Unix()
	n, err := tx.Exec(`
		UPDATE inbound_rule SET hour = $1, hour_count = CASE WHEN hour = $1 THEN hour_count + 1 ELSE 1 END
		WHERE workspace_id = $2 AND id = $3 AND (hour <> $1 OR hour_count < $4)`, hour, r.Workspace, r.ID, most)
	return n == 1, err
}

// uncountForward takes back what countForward counted: trouble of ours is not what the limit is for.
func uncountForward(tx *db.Tx, r Rule) error {
	_, err := tx.Exec(`
		UPDATE inbound_rule SET hour_count = hour_count - 1
		WHERE workspace_id = $1 AND id = $2 AND hour = $3 AND hour_count > 0`, r.Workspace, r.ID, tx.Now().Truncate(time.Hour).Unix())
	return err
}

// noteForwarded clears the last problem, unless it is that the hour is full: others may have been refused meanwhile.
func noteForwarded(tx *db.Tx, r Rule) error {
	_, err := tx.Exec(`
		UPDATE inbound_rule SET forwarded = forwarded + 1, last_forwarded_at = $1,
			last_error = CASE WHEN last_error = $2 AND hour_count >= $3 THEN last_error END
		WHERE workspace_id = $4 AND id = $5`, tx.Now(), problemRate, int64(maxForwardsAnHour), r.Workspace, r.ID)
	return err
}

func noteProblem(tx *db.Tx, r Rule, problem string) error {
	_, err := tx.Exec(`
		UPDATE inbound_rule SET last_error = $1
		WHERE workspace_id = $2 AND id = $3`, problem, r.Workspace, r.ID)
	return err
}

// forwardDone counts down what is left to be done with a message, and tells whether it may go now.
func forwardDone(tx *db.Tx, ws space.ID, id ID) (bool, error) {
	if _, err := tx.Exec(`
		UPDATE inbound_received SET forwards_left = forwards_left - 1
		WHERE workspace_id = $1 AND id = $2`, ws, id); err != nil {
		return false, err
	}
	over, err := db.All(tx, db.Value[string], `
		SELECT id FROM inbound_received
		WHERE workspace_id = $1 AND id = $2 AND kept = FALSE AND forwards_left <= 0`, ws, id)
	return len(over) > 0, err
}

// setKept keeps a message that was not to be kept. It tells whether it was so.
func setKept(tx *db.Tx, ws space.ID, id ID) (bool, error) {
	n, err := tx.Exec(`
		UPDATE inbound_received SET kept = TRUE
		WHERE workspace_id = $1 AND id = $2 AND kept = FALSE`, ws, id)
	return n == 1, err
}

// selectRuleDomains returns rules after one, with their domains, across workspaces.
func selectRuleDomains(tx *db.Tx, after string, limit int) ([]Rule, error) {
	return db.All(tx, scanRule, `
		SELECT `+ruleColumns+` FROM inbound_rule
		WHERE id > $1
		ORDER BY id
		LIMIT $2`, after, limit)
}

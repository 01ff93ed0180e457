package webhook

import (
	"encoding/json"
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

func insertEndpoint(tx *db.Tx, e Endpoint, parts sealed) error {
	_, err := tx.Exec(`
		INSERT INTO webhook (id, workspace_id, url, events, description, domain_ids, tenant_ids, include_body, custom_headers, secret, secret_prefix,
			status, created_at, updated_at, since_event)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		e.ID, e.Workspace, e.URL, list(e.Events), db.NullText(e.Description), list(e.Domains), list(e.Tenants), e.IncludeBody, parts.headers,
		parts.secret, e.secretPrefix, e.Status, e.CreatedAt, e.UpdatedAt, e.since)
	return err
}

func list(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	return string(mustMarshal(texts))
}

const endpointColumns = `id, workspace_id, url, events, description, domain_ids, tenant_ids, include_body, custom_headers, secret, secret_prefix,
	previous_secret, previous_expires_at, status, disabled_reason, failures, first_failure_at, warned_at, last_delivery_at, last_status_code,
	created_at, updated_at, since_event`

// endpointRow is an endpoint whose secrets have not been opened.
type endpointRow struct {
	Endpoint
	sealed sealed
}

func scanEndpoint(s db.Scanner) (endpointRow, error) {
	var e endpointRow
	var events, domains, tenants string
	var status *int
	err := s.Scan(&e.ID, &e.Workspace, &e.URL, &events, db.Text(&e.Description), &domains, &tenants, &e.IncludeBody, &e.sealed.headers, &e.sealed.secret,
		&e.secretPrefix, &e.sealed.previous, db.Time(&e.previousExpiresAt), &e.Status, db.Text(&e.DisabledReason), &e.failures,
		db.Time(&e.firstFailureAt), db.Time(&e.warnedAt), db.Time(&e.lastAttemptAt), &status, db.Time(&e.CreatedAt), db.Time(&e.UpdatedAt), &e.since)
	if status != nil {
		e.lastStatus = *status
	}
	return e, errors.Join(err, json.Unmarshal([]byte(events), &e.Events), json.Unmarshal([]byte(domains), &e.Domains),
		json.Unmarshal([]byte(tenants), &e.Tenants))
}

func selectEndpoint(tx *db.Tx, ws space.ID, id ID) (endpointRow, error) {
	return db.One(tx, scanEndpoint, `
		SELECT `+endpointColumns+` FROM webhook
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func lockEndpoint(tx *db.Tx, ws space.ID, id ID) (endpointRow, error) {
	return db.One(tx, scanEndpoint, `
		SELECT `+endpointColumns+` FROM webhook
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

func selectEndpoints(tx *db.Tx, ws space.ID) ([]endpointRow, error) {
	return db.All(tx, scanEndpoint, `
		SELECT `+endpointColumns+` FROM webhook
		WHERE workspace_id = $1
		ORDER BY created_at DESC, id DESC`, ws)
}

// lockEndpoints serves workers, which work across workspaces. The order keeps two of them from waiting for each other.
func lockEndpoints(tx *db.Tx, ids []ID) ([]endpointRow, error) {
	return db.All(tx, scanEndpoint, `
		SELECT `+endpointColumns+` FROM webhook
		WHERE id {in $1}
		ORDER BY id
		{for_update}`, ids)
}

// selectWorkspaces returns those of some workspaces that have endpoints, enabled or not.
func selectWorkspaces(tx *db.Tx, workspaces []space.ID) ([]space.ID, error) {
	if len(workspaces) == 0 {
		return nil, nil
	}
	return db.All(tx, db.Value[space.ID], `
		SELECT DISTINCT workspace_id FROM webhook
		WHERE workspace_id {in $1}`, workspaces)
}

// lockListening serves the follower, which works across workspaces.
func lockListening(tx *db.Tx, workspaces []space.ID) ([]endpointRow, error) {
	return db.All(tx, scanEndpoint, `
		SELECT `+endpointColumns+` FROM webhook
		WHERE workspace_id {in $1} AND status = 'enabled'
		ORDER BY id
		{for_update}`, workspaces)
}

// updateEndpoint writes an endpoint that the transaction has locked, without its health.
func updateEndpoint(tx *db.Tx, e Endpoint, parts sealed) error {
	_, err := tx.Exec(`
		UPDATE webhook SET url = $1, events = $2, description = $3, domain_ids = $4, tenant_ids = $5, include_body = $6, custom_headers = $7,
			secret = $8, secret_prefix = $9, previous_secret = $10, previous_expires_at = $11, updated_at = $12
		WHERE workspace_id = $13 AND id = $14`,
		e.URL, list(e.Events), db.NullText(e.Description), list(e.Domains), list(e.Tenants), e.IncludeBody, parts.headers, parts.secret,
		e.secretPrefix, parts.previous, e.previousExpiresAt, e.UpdatedAt, e.Workspace, e.ID)
	if err != nil {
		return err
	}
	return updateHealth(tx, e)
}

// updateHealth writes how an endpoint that the transaction has locked is doing.
func updateHealth(tx *db.Tx, e Endpoint) error {
	var status any
	if e.lastStatus != 0 {
		status = e.lastStatus
	}
	_, err := tx.Exec(`
		UPDATE webhook SET status = $1, disabled_reason = $2, failures = $3, first_failure_at = $4, warned_at = $5, last_delivery_at = $6,
			last_status_code = $7
		WHERE workspace_id = $8 AND id = $9`,
		e.Status, db.NullText(e.DisabledReason), e.failures, e.firstFailureAt, e.warnedAt, e.lastAttemptAt, status, e.Workspace, e.ID)
	return err
}

func deleteEndpoint(tx *db.Tx, ws space.ID, id ID) error {
	_, err := tx.Exec(`
		DELETE FROM webhook
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// total is how many endpoints a workspace has.
var total = plan.Total{Table: "webhook_total", Column: "webhooks"}

// selectWithTexts returns an endpoint that wants the texts of received mail, if there is one.
func selectWithTexts(tx *db.Tx, ws space.ID) ([]ID, error) {
	return db.All(tx, db.Value[ID], `
		SELECT id FROM webhook
		WHERE workspace_id = $1 AND include_body = TRUE
		LIMIT 1`, ws)
}

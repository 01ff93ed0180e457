package tenant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

// insertTenant returns false if the workspace has a customer of this external id already.
func insertTenant(tx *db.Tx, t Tenant) (bool, error) {
	n, err := tx.Exec(`
		INSERT INTO tenant (id, workspace_id, external_id, name, search, status, provider, metadata, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (workspace_id, external_id) DO NOTHING`,
		t.ID, t.Workspace, t.ExternalID, t.Name, searchText(t), t.Status, t.Provider, string(t.Metadata), t.CreatedAt, t.UpdatedAt)
	return n == 1, err
}

func searchText(t Tenant) string { return strings.ToLower(t.Name + " " + t.ExternalID) }

const columns = `tenant.id, tenant.workspace_id, external_id, name, status, provider, metadata, pause_reason, paused_at, created_at, updated_at,
	month, COALESCE(emails, 0), last_sent_at, (
		SELECT COUNT(*) FROM domain
		WHERE domain.workspace_id = tenant.workspace_id AND domain.tenant_id = tenant.id)`

const withUsage = `
	LEFT JOIN tenant_usage ON tenant_usage.workspace_id = tenant.workspace_id AND tenant_usage.tenant_id = tenant.id`

func scanTenant(s db.Scanner) (Tenant, error) {
	var t Tenant
	var metadata string
	err := s.Scan(&t.ID, &t.Workspace, &t.ExternalID, &t.Name, &t.Status, &t.Provider, &metadata, db.Text(&t.PauseReason), db.Time(&t.PausedAt),
		db.Time(&t.CreatedAt), db.Time(&t.UpdatedAt), db.Time(&t.usage.month), &t.usage.emails, db.Time(&t.usage.lastSentAt), &t.Domains)
	t.Metadata = json.RawMessage(metadata)
	return t, err
}

func selectTenant(tx *db.Tx, ws space.ID, id ID) (Tenant, error) {
	return db.One(tx, scanTenant, `
		SELECT `+columns+` FROM tenant`+withUsage+`
		WHERE tenant.workspace_id = $1 AND tenant.id = $2`, ws, id)
}

func selectByExternalID(tx *db.Tx, ws space.ID, external string) (Tenant, error) {
	return db.One(tx, scanTenant, `
		SELECT `+columns+` FROM tenant`+withUsage+`
		WHERE tenant.workspace_id = $1 AND external_id = $2`, ws, external)
}

// selectByIDs serves delivery, which works across workspaces.
func selectByIDs(tx *db.Tx, ids []ID) ([]Tenant, error) {
	return db.All(tx, scanTenant, `
		SELECT `+columns+` FROM tenant`+withUsage+`
		WHERE tenant.id {in $1}`, ids)
}

func selectExternalID(tx *db.Tx, ws space.ID, id ID) (string, error) {
	external, err := db.One(tx, db.Value[string], `
		SELECT external_id FROM tenant
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	return external, err
}

// selectPage finds the page in an index alone, so that rows it skips are not read. CROSS JOIN makes both engines begin there.
// It returns one row more than the page has, if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Tenant, error) {
	condition, args := q.where(ws)
	condition, args = part.Where(condition, args, "created_at", "id")
	args = append(args, q.Limit+1, q.Offset)
	return db.All(tx, scanTenant, fmt.Sprintf(`
		SELECT `+columns+` FROM (
			SELECT id FROM tenant
			WHERE `+condition+`
			ORDER BY `+part.Order("created_at", "id")+`
			LIMIT $%d OFFSET $%d) AS page
		CROSS JOIN tenant`+withUsage+`
		WHERE tenant.workspace_id = $1 AND tenant.id = page.id
		ORDER BY `+part.Order("created_at", "tenant.id"), len(args)-1, len(args)), args...)
}

func countTenants(tx *db.Tx, ws space.ID, q listQuery) (int64, error) {
	condition, args := q.where(ws)
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM tenant
		WHERE `+condition, args...)
}

// where returns the condition and its arguments. Filters are arguments, never text.
func (q listQuery) where(ws space.ID) (string, []any) {
	condition, args := "workspace_id = $1", []any{ws}
	// In one order: an engine would plan each of two for itself.
	for _, filter := range []struct {
		column string
		values []string
	}{{"status", q.Status}, {"external_id", q.ExternalID}} {
		switch len(filter.values) {
		case 0:
		case 1: // engines plan better for one than for a list of one
			args = append(args, filter.values[0])
			condition += fmt.Sprintf(" AND %s = $%d", filter.column, len(args))
		default:
			args = append(args, filter.values)
			condition += fmt.Sprintf(" AND %s {in $%d}", filter.column, len(args))
		}
	}
	if q.Search != "" {
		args = append(args, db.Contains(q.Search))
		condition += fmt.Sprintf(` AND search LIKE $%d ESCAPE '\'`, len(args))
	}
	if len(q.domains) > 0 {
		args = append(args, q.domains)
		condition += fmt.Sprintf(` AND (EXISTS (`+itsDomains+` AND domain.id {in $%d}) OR NOT EXISTS (`+itsDomains+`))`, len(args))
	}
	return condition, args
}

const itsDomains = `
	SELECT 1 FROM domain
	WHERE domain.workspace_id = $1 AND domain.tenant_id = tenant.id`

func lockTenant(tx *db.Tx, ws space.ID, id ID) error {
	_, err := db.One(tx, db.Value[string], `
		SELECT id FROM tenant
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
	return err
}

// updateTenant writes a customer that the transaction has locked.
func updateTenant(tx *db.Tx, t Tenant) error {
	_, err := tx.Exec(`
		UPDATE tenant SET name = $1, search = $2, status = $3, provider = $4, metadata = $5, pause_reason = $6, paused_at = $7, updated_at = $8
		WHERE workspace_id = $9 AND id = $10`,
		t.Name, searchText(t), t.Status, t.Provider, string(t.Metadata), db.NullText(t.PauseReason), t.PausedAt, t.UpdatedAt, t.Workspace, t.ID)
	return err
}

func deleteTenant(tx *db.Tx, ws space.ID, id ID) error {
	_, err := tx.Exec(`
		DELETE FROM tenant
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// total is how many customers a workspace has.
var total = plan.Total{Table: "tenant_total", Column: "tenants"}

// addUsage adds to the month, or begins it. A month that is over is not counted again.
func addUsage(tx *db.Tx, ws space.ID, id ID, u usage) error {
	_, err := tx.Exec(`
		INSERT INTO tenant_usage (workspace_id, tenant_id, month, emails, last_sent_at)
		SELECT workspace_id, id, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT) FROM tenant
		WHERE workspace_id = $1 AND id = $2
		ON CONFLICT (workspace_id, tenant_id) DO UPDATE
		SET emails = excluded.emails + CASE WHEN tenant_usage.month = excluded.month THEN tenant_usage.emails ELSE 0 END,
			month = excluded.month,
			last_sent_at = CASE WHEN tenant_usage.last_sent_at > excluded.last_sent_at THEN tenant_usage.last_sent_at ELSE excluded.last_sent_at END
		WHERE tenant_usage.month <= excluded.month`, ws, id, u.month, u.emails, u.lastSentAt)
	return err
}

func takeUsage(tx *db.Tx, ws space.ID, id ID, month time.Time, emails int64) error {
	_, err := tx.Exec(`
		UPDATE tenant_usage SET emails = emails - $1
		WHERE workspace_id = $2 AND tenant_id = $3 AND month = $4 AND emails >= $1`, emails, ws, id, month)
	return err
}

func deleteUsage(tx *db.Tx, ws space.ID, id ID) error {
	_, err := tx.Exec(`
		DELETE FROM tenant_usage
		WHERE workspace_id = $1 AND tenant_id = $2`, ws, id)
	return err
}

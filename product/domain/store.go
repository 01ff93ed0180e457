package domain

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const columns = `id, workspace_id, tenant_id, name, region, provider, verified, status, sending, receiving, receiving_requested,
	open_tracking, click_tracking, tracking_label, tracking_former, return_label, return_verified, tls, dmarc_policy, signing, checks, created_at,
	updated_at, last_checked_at, next_check_at, verified_at, failing_since, failed_rounds`

func scanDomain(s db.Scanner) (Domain, error) {
	var d Domain
	var checks, signing, former string
	err := s.Scan(&d.ID, &d.Workspace, db.Text(&d.TenantID), &d.Name, &d.Region, &d.Provider, &d.Verified, &d.Status, &d.SendingEnabled, &d.Receiving,
		&d.ReceivingRequested, &d.OpenTracking, &d.ClickTracking, &d.TrackingLabel, &former, &d.ReturnLabel, &d.ReturnVerified, &d.TLS, &d.DMARCPolicy,
		&signing, &checks, db.Time(&d.CreatedAt), db.Time(&d.UpdatedAt), db.Time(&d.LastCheckedAt), db.Time(&d.NextCheckAt),
		db.Time(&d.VerifiedAt), db.Time(&d.FailingSince), &d.FailedRounds)
	if err != nil {
		return d, err
	}
	d.Signing, d.FormerLabels = strings.Fields(signing), strings.Fields(former)
	if err := db.FromJSON(checks, &d.Checks); err != nil {
		return d, fmt.Errorf("checks of domain %s: %w", d.ID, err)
	}
	return d, nil
}

func insertDomain(tx *db.Tx, d Domain) error {
	_, err := tx.Exec(`
		INSERT INTO domain (id, workspace_id, tenant_id, name, region, provider, verified, status, sending, receiving,
			receiving_requested, open_tracking, click_tracking, tracking_label, return_label, return_verified, tls, dmarc_policy,
			signing, checks, created_at, updated_at, next_check_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
		d.ID, d.Workspace, db.NullText(d.TenantID), d.Name, d.Region, d.Provider, d.Verified, d.Status, d.SendingEnabled, d.Receiving,
		d.ReceivingRequested, d.OpenTracking, d.ClickTracking, d.TrackingLabel, d.ReturnLabel, d.ReturnVerified, d.TLS, d.DMARCPolicy,
		strings.Join(d.Signing, " "), db.JSON(d.Checks), d.CreatedAt, d.UpdatedAt, d.NextCheckAt)
	return err
}

// updateDomain writes a domain that the transaction has locked.
func updateDomain(tx *db.Tx, d Domain) error {
	_, err := tx.Exec(`
		UPDATE domain SET provider = $1, verified = $2, status = $3, sending = $4, receiving = $5, receiving_requested = $6,
			open_tracking = $7, click_tracking = $8, tracking_label = $9, return_label = $10, return_verified = $11, tls = $12,
			dmarc_policy = $13, signing = $14, checks = $15, updated_at = $16, last_checked_at = $17, next_check_at = $18,
			verified_at = $19, failing_since = $20, failed_rounds = $21, tracking_former = $22
		WHERE workspace_id = $23 AND id = $24`,
		d.Provider, d.Verified, d.Status, d.SendingEnabled, d.Receiving, d.ReceivingRequested, d.OpenTracking, d.ClickTracking, d.TrackingLabel,
		d.ReturnLabel, d.ReturnVerified, d.TLS, d.DMARCPolicy, strings.Join(d.Signing, " "), db.JSON(d.Checks), d.UpdatedAt, d.LastCheckedAt,
		d.NextCheckAt, d.VerifiedAt, d.FailingSince, d.FailedRounds, strings.Join(d.FormerLabels, " "), d.Workspace, d.ID)
	return err
}

func insertKeys(tx *db.Tx, d Domain, keys ...Key) error {
	values := make([]any, 0, 8*len(keys))
	for _, k := range keys {
		values = append(values, d.ID, k.Selector, d.Workspace, k.Algorithm, k.Role, k.RoleSince, k.PublicRecord, k.sealed)
	}
	_, err := tx.InsertRows(`
		INSERT INTO domain_key (domain_id, selector, workspace_id, algorithm, role, role_since, public_record, private_key)`, 8, values, ``)
	return err
}

type keyRow struct {
	domain ID
	key    Key
}

// selectKeys is asked only for domains that have been found in their workspace.
func selectKeys(tx *db.Tx, domains []ID) ([]keyRow, error) {
	return db.All(tx, func(s db.Scanner) (r keyRow, err error) {
		err = s.Scan(&r.domain, &r.key.Selector, &r.key.Algorithm, &r.key.Role, db.Time(&r.key.RoleSince), &r.key.PublicRecord, &r.key.sealed)
		return r, err
	}, `
		SELECT domain_id, selector, algorithm, role, role_since, public_record, private_key FROM domain_key
		WHERE domain_id {in $1}
		ORDER BY domain_id, role_since, algorithm DESC, selector`, domains)
}

func setRole(tx *db.Tx, d Domain, selector string, role Role) error {
	_, err := tx.Exec(`
		UPDATE domain_key SET role = $1, role_since = $2
		WHERE workspace_id = $3 AND domain_id = $4 AND selector = $5`, role, tx.Now(), d.Workspace, d.ID, selector)
	return err
}

func deleteOldKeys(tx *db.Tx, d Domain, before time.Time) error {
	_, err := tx.Exec(`
		DELETE FROM domain_key
		WHERE workspace_id = $1 AND domain_id = $2 AND role = 'old' AND role_since < $3`, d.Workspace, d.ID, before)
	return err
}

func selectDomain(tx *db.Tx, ws space.ID, id ID) (Domain, error) {
	return db.One(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE workspace_id = $1 AND id = $2`, ws, id)
}

func lockDomain(tx *db.Tx, ws space.ID, id ID) (Domain, error) {
	return db.One(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
}

func selectByName(tx *db.Tx, ws space.ID, name string) (Domain, error) {
	return db.One(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE workspace_id = $1 AND name = $2`, ws, name)
}

// selectByIDs serves delivery, which works across workspaces.
func selectByIDs(tx *db.Tx, ids []ID) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE id {in $1}`, ids)
}

// selectReceiving serves other servers, who know no workspace. Of several that receive without a proof it is the one that had it last.
func selectReceiving(tx *db.Tx, name string) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE name = $1 AND receiving = TRUE
		ORDER BY COALESCE(verified_at, 0) DESC, id
		LIMIT 1`, name)
}

func selectOfWorkspace(tx *db.Tx, ws space.ID, limit int) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE workspace_id = $1
		ORDER BY created_at, id
		LIMIT $2`, ws, limit)
}

func selectNamed(tx *db.Tx, ws space.ID, ids []string, limit int) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE {beside workspace_id} = $1 AND id {in $2}
		ORDER BY created_at, id
		LIMIT $3`, ws, ids, limit)
}

// selectAnyByName serves the sandbox, which plays the part of every registrar.
func selectAnyByName(tx *db.Tx, name string) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE name = $1`, name)
}

// selectFailing serves the operator, whose domains they all are: those whose owners sent from them, or wanted to, and cannot.
func selectFailing(tx *db.Tx, limit int) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE status IN ('failed', 'partially_failed')
		ORDER BY updated_at DESC, id
		LIMIT $1`, limit)
}

// selectHolder serves people who follow links and other servers, who know no workspace. A verified domain belongs to one workspace alone.
func selectHolder(tx *db.Tx, name string) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE name = $1 AND verified = TRUE`, name)
}

// selectOnceVerified serves people who follow links in old mail: domains of the name that were verified, whether or not they are, the last
// one first.
func selectOnceVerified(tx *db.Tx, name string, limit int) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE name = $1 AND verified_at IS NOT NULL
		ORDER BY verified_at DESC
		LIMIT $2`, name, limit)
}

func countNamed(tx *db.Tx, ws space.ID, ids []string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM domain
		WHERE {beside workspace_id} = $1 AND id {in $2}`, ws, ids)
}

// heldElsewhere looks beyond the workspace: a verified domain belongs to one workspace alone.
func heldElsewhere(tx *db.Tx, ws space.ID, name string) (bool, error) {
	found, err := db.All(tx, db.Value[string], `
		SELECT id FROM domain
		WHERE name = $1 AND workspace_id <> $2 AND verified = TRUE`, name, ws)
	return len(found) > 0, err
}

// selectPage returns the domains of a page, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Domain, error) {
	where, args := q.where(ws)
	where, args = part.Where(where, args, "created_at", "id")
	return db.All(tx, scanDomain, fmt.Sprintf(`
		SELECT %s FROM domain
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, columns, where, part.Order("created_at", "id"), len(args)+1, len(args)+2), append(args, q.Limit+1, q.Offset)...)
}

func countPage(tx *db.Tx, ws space.ID, q listQuery) (int64, error) {
	if !q.filters() {
		whole, err := selectTotal(tx, ws)
		return whole.all, err
	}
	where, args := q.where(ws)
	return db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM domain WHERE `+where, args...)
}

// where writes down what is asked for and nothing else: an index serves only what it sees.
func (q listQuery) where(ws space.ID) (string, []any) {
	conditions, args := []string{"workspace_id = $1"}, []any{ws}
	add := func(condition string, arg any) {
		args = append(args, arg)
		conditions = append(conditions, fmt.Sprintf(condition, len(args)))
	}
	if len(q.only) > 0 {
		add("id {in $%d}", q.only)
	}
	if pattern := q.pattern(); pattern != "" {
		add(`name LIKE $%d ESCAPE '\'`, pattern)
	}
	if len(q.Status) > 0 {
		add("status {in $%d}", q.Status)
	}
	switch {
	case q.Verified != nil && *q.Verified:
		conditions = append(conditions, "verified = TRUE")
	case q.Verified != nil:
		conditions = append(conditions, "verified = FALSE")
	}
	own := slices.Contains(q.Tenant, "none")
	customers := slices.DeleteFunc(slices.Clone(q.Tenant), func(id string) bool { return !api.IsID(id) })
	switch {
	case len(q.Tenant) == 0:
	case own && len(customers) == 0:
		conditions = append(conditions, "tenant_id IS NULL")
	case own:
		add("(tenant_id IS NULL OR tenant_id {in $%d})", customers)
	case len(customers) == 1:
		add("tenant_id = $%d", customers[0])
	default:
		add("tenant_id {in $%d}", customers)
	}
	return strings.Join(conditions, " AND "), args
}

// total is how many domains a workspace has: all of them, and those of its managed customers.
type total struct{ all, ofTenants int64 }

func selectTotal(tx *db.Tx, ws space.ID) (total, error) {
	count, err := db.One(tx, func(s db.Scanner) (t total, err error) {
		err = s.Scan(&t.all, &t.ofTenants)
		return t, err
	}, `
		SELECT domains, of_tenants FROM domain_total
		WHERE workspace_id = $1`, ws)
	if errors.Is(err, db.ErrNotFound) {
		return total{}, nil
	}
	return count, err
}

// addTotal counts a domain that comes (1) or goes (-1).
func addTotal(tx *db.Tx, d Domain, step int64) error {
	ofTenant := int64(0)
	if d.TenantID != "" {
		ofTenant = step
	}
	_, err := tx.Exec(`
		INSERT INTO domain_total (workspace_id, domains, of_tenants)
		VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id) DO UPDATE
		SET domains = domain_total.domains + excluded.domains, of_tenants = domain_total.of_tenants + excluded.of_tenants`,
		d.Workspace, step, ofTenant)
	return err
}

func selectOfTenant(tx *db.Tx, ws space.ID, tenant string) ([]Domain, error) {
	return db.All(tx, scanDomain, `
		SELECT `+columns+` FROM domain
		WHERE workspace_id = $1 AND tenant_id = $2
		ORDER BY created_at, id`, ws, tenant)
}

func deleteDomain(tx *db.Tx, ws space.ID, id ID) error {
	if _, err := tx.Exec(`
		DELETE FROM domain_key
		WHERE workspace_id = $1 AND domain_id = $2`, ws, id); err != nil {
		return err
	}
	_, err := tx.Exec(`
		DELETE FROM domain
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

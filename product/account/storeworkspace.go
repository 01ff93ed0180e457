package account

import (
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/plan"
)

func insertWorkspace(tx *db.Tx, w Workspace) error {
	_, err := tx.Exec(`
		INSERT INTO account_workspace (id, name, slug, plan, status, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, w.ID, w.Name, w.Slug, w.Plan, w.Status, w.CreatedAt)
	return err
}

func slugTaken(tx *db.Tx, slug string) (bool, error) {
	n, err := db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_workspace
		WHERE slug = $1`, slug)
	return n > 0, err
}

const workspaceColumns = `w.id, w.name, w.slug, w.plan, w.status, w.reason, w.created_at`

func workspaceFields(w *Workspace) []any {
	return []any{&w.ID, &w.Name, &w.Slug, &w.Plan, &w.Status, db.Text(&w.Reason), db.Time(&w.CreatedAt)}
}

func scanWorkspace(s db.Scanner) (Workspace, error) {
	var w Workspace
	err := s.Scan(workspaceFields(&w)...)
	return w, err
}

func selectWorkspace(tx *db.Tx, id space.ID) (Workspace, error) {
	return db.One(tx, scanWorkspace, `
		SELECT `+workspaceColumns+` FROM account_workspace w
		WHERE w.id = $1`, id)
}

// lockWorkspace holds the workspace, so that changes of its members come one after the other.
func lockWorkspace(tx *db.Tx, id space.ID) (Workspace, error) {
	return db.One(tx, scanWorkspace, `
		SELECT `+workspaceColumns+` FROM account_workspace w
		WHERE w.id = $1
		{for_update}`, id)
}

func updateWorkspaceName(tx *db.Tx, id space.ID, name string) error {
	_, err := tx.Exec(`
		UPDATE account_workspace SET name = $1
		WHERE id = $2`, name, id)
	return err
}

func updatePlan(tx *db.Tx, id space.ID, name plan.Name) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_workspace SET plan = $1
		WHERE id = $2`, name, id)
	return n == 1, err
}

func updateStatus(tx *db.Tx, id space.ID, status Status, reason string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE account_workspace SET status = $1, reason = $2
		WHERE id = $3`, status, db.NullText(reason), id)
	return n == 1, err
}

func insertMember(tx *db.Tx, m Member) error {
	_, err := tx.Exec(`
		INSERT INTO account_member (id, workspace_id, user_id, role, created_at)
		VALUES ($1, $2, $3, $4, $5)`, m.ID, m.Workspace, m.User, m.Role, m.CreatedAt)
	return err
}

const memberColumns = `m.id, m.workspace_id, m.user_id, m.role, m.created_at, u.email, u.name, u.totp_enabled_at, u.seen_at`

func scanMember(s db.Scanner) (Member, error) {
	var m Member
	err := s.Scan(&m.ID, &m.Workspace, &m.User, &m.Role, db.Time(&m.CreatedAt), &m.Email, &m.Name, db.Time(&m.factorSince), db.Time(&m.SeenAt))
	return m, err
}

func selectMembers(tx *db.Tx, ws space.ID, limit, offset int) ([]Member, error) {
	return db.All(tx, scanMember, `
		SELECT `+memberColumns+`
		FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1
		ORDER BY m.created_at, m.id
		LIMIT $2 OFFSET $3`, ws, limit, offset)
}

func selectMember(tx *db.Tx, ws space.ID, id string) (Member, error) {
	return db.One(tx, scanMember, `
		SELECT `+memberColumns+`
		FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1 AND m.id = $2`, ws, id)
}

func selectMemberByUser(tx *db.Tx, ws space.ID, user UserID) (Member, error) {
	return db.One(tx, scanMember, `
		SELECT `+memberColumns+`
		FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1 AND m.user_id = $2`, ws, user)
}

func selectMemberByEmail(tx *db.Tx, ws space.ID, email string) (Member, error) {
	return db.One(tx, scanMember, `
		SELECT `+memberColumns+`
		FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1 AND u.email = $2`, ws, email)
}

func countMembers(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_member
		WHERE workspace_id = $1`, ws)
}

type workspacePlan struct {
	workspace space.ID
	plan      plan.Name
}

func scanWorkspacePlan(s db.Scanner) (p workspacePlan, err error) {
	err = s.Scan(&p.workspace, &p.plan)
	return p, err
}

// selectPlans serves work across workspaces.
func selectPlans(tx *db.Tx, workspaces []space.ID) ([]workspacePlan, error) {
	return db.All(tx, scanWorkspacePlan, `
		SELECT id, plan FROM account_workspace
		WHERE id {in $1}`, workspaces)
}

// selectSuspended serves work across workspaces.
func selectSuspended(tx *db.Tx, workspaces []space.ID) ([]space.ID, error) {
	return db.All(tx, db.Value[space.ID], `
		SELECT id FROM account_workspace
		WHERE id {in $1} AND status = 'suspended'`, workspaces)
}

// selectPlansInUse returns one workspace of every plan that has any.
func selectPlansInUse(tx *db.Tx) ([]workspacePlan, error) {
	return db.All(tx, scanWorkspacePlan, `
		SELECT (SELECT id FROM account_workspace w WHERE w.plan = p.plan ORDER BY id LIMIT 1), p.plan
		FROM (SELECT DISTINCT plan FROM account_workspace) p
		ORDER BY p.plan`)
}

func selectVerifiedOwners(tx *db.Tx, ws space.ID) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT u.email FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1 AND m.role = 'owner' AND u.verified_at IS NOT NULL
		ORDER BY m.created_at, m.id`, ws)
}

func countOwners(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_member
		WHERE workspace_id = $1 AND role = 'owner'`, ws)
}

func countVerifiedOwners(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_member m
		JOIN account_user u ON u.id = m.user_id
		WHERE m.workspace_id = $1 AND m.role = 'owner' AND u.verified_at IS NOT NULL`, ws)
}

func updateRole(tx *db.Tx, ws space.ID, id string, role api.Role) error {
	_, err := tx.Exec(`
		UPDATE account_member SET role = $1
		WHERE workspace_id = $2 AND id = $3`, role, ws, id)
	return err
}

func deleteMember(tx *db.Tx, ws space.ID, id string) error {
	_, err := tx.Exec(`
		DELETE FROM account_member
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return err
}

// membership is a workspace as one of its members sees it.
type membership struct {
	Workspace
	Role api.Role
}

// selectMemberships returns the workspaces of a user: the one they were in last, then the oldest.
func selectMemberships(tx *db.Tx, user UserID) ([]membership, error) {
	return db.All(tx, func(s db.Scanner) (m membership, err error) {
		err = s.Scan(append(workspaceFields(&m.Workspace), &m.Role)...)
		return m, err
	}, `
		SELECT `+workspaceColumns+`, m.role
		FROM account_member m
		JOIN account_workspace w ON w.id = m.workspace_id
		JOIN account_user u ON u.id = m.user_id
		WHERE m.user_id = $1
		ORDER BY CASE WHEN u.workspace_id = m.workspace_id THEN 0 ELSE 1 END, m.created_at, m.id`, user)
}

func insertInvitation(tx *db.Tx, i Invitation) error {
	_, err := tx.Exec(`
		INSERT INTO account_invitation (id, workspace_id, email, role, invited_by, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, i.ID, i.Workspace, i.Email, i.Role, i.InvitedBy, i.CreatedAt, i.ExpiresAt)
	return err
}

const invitationColumns = `i.id, i.workspace_id, i.email, i.role, i.invited_by, i.created_at, i.expires_at, w.name, u.name`

func scanInvitation(s db.Scanner) (Invitation, error) {
	var i Invitation
	err := s.Scan(&i.ID, &i.Workspace, &i.Email, &i.Role, &i.InvitedBy, db.Time(&i.CreatedAt), db.Time(&i.ExpiresAt), &i.WorkspaceName, &i.InviterName)
	return i, err
}

// selectInvitation serves whoever holds the token of the invitation, before they belong to any workspace.
func selectInvitation(tx *db.Tx, id string) (Invitation, error) {
	return db.One(tx, scanInvitation, `
		SELECT `+invitationColumns+`
		FROM account_invitation i
		JOIN account_workspace w ON w.id = i.workspace_id
		JOIN account_user u ON u.id = i.invited_by
		WHERE i.id = $1 AND i.expires_at > $2`, id, tx.Now())
}

func selectInvitations(tx *db.Tx, ws space.ID, limit, offset int) ([]Invitation, error) {
	return db.All(tx, scanInvitation, `
		SELECT `+invitationColumns+`
		FROM account_invitation i
		JOIN account_workspace w ON w.id = i.workspace_id
		JOIN account_user u ON u.id = i.invited_by
		WHERE i.workspace_id = $1 AND i.expires_at > $2
		ORDER BY i.created_at DESC, i.id DESC
		LIMIT $3 OFFSET $4`, ws, tx.Now(), limit, offset)
}

func countInvitations(tx *db.Tx, ws space.ID) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM account_invitation
		WHERE workspace_id = $1 AND expires_at > $2`, ws, tx.Now())
}

func deleteInvitation(tx *db.Tx, ws space.ID, id string) (bool, error) {
	n, err := tx.Exec(`
		DELETE FROM account_invitation
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	return n == 1, err
}

// deleteInvitationsTo withdraws what the address was offered before.
func deleteInvitationsTo(tx *db.Tx, ws space.ID, email string) error {
	_, err := tx.Exec(`
		DELETE FROM account_invitation
		WHERE workspace_id = $1 AND email = $2`, ws, email)
	return err
}

// deleteInvitationsBy withdraws what a user has offered to others, for some roles.
func deleteInvitationsBy(tx *db.Tx, ws space.ID, user UserID, roles []api.Role) error {
	if len(roles) == 0 {
		return nil
	}
	_, err := tx.Exec(`
		DELETE FROM account_invitation
		WHERE workspace_id = $1 AND invited_by = $2 AND role {in $3}`, ws, user, roles)
	return err
}

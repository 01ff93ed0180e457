// Package template keeps the templates of a workspace: mails with places for values. Every change of a source is a version that
// never changes again; one version is active, and that is what sends use.
//
//	Owns     template, template_alias, template_version, template_total
package template

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/stats"
	"postrider/world"
)

// ID names a template.
type ID string

// VersionID names a version of a template.
type VersionID string

// Template is a template without its sources.
type Template struct {
	ID        ID
	Workspace space.ID
	Name      string
	// Alias is another name for the id; empty if there is none.
	Alias       string
	Description string
	Status      Status
	// Active is the number of the version that sends use, 0 if there is none; ActiveID is its id.
	Active   int64
	ActiveID VersionID
	Latest   int64

	CreatedAt, UpdatedAt, PublishedAt, ArchivedAt time.Time
	// DraftAt is when the draft was saved, zero if there is none.
	DraftAt time.Time
}

// Status tells whether a template can be sent.
type Status string

// Statuses of a template.
const (
	Published Status = "published"
	Drafted   Status = "draft"
	Archived  Status = "archived"
)

// Version is a source that was published. It never changes.
type Version struct {
	ID        VersionID
	Workspace space.ID
	Template  ID
	Number    int64
	Source    Source
	// Checksum is equal for equal sources.
	Checksum string
	Note     string
	// CreatedBy is the id of the user or the key that made it.
	CreatedBy string

	CreatedAt, ActivatedAt time.Time
}

// Errors of templates.
var (
	// ErrNotFound means that the workspace has no such template.
	ErrNotFound = api.NotFound("template")
	// ErrVersionNotFound means that the template has no such version.
	ErrVersionNotFound = api.NotFound("template_version")
	// ErrQuota means that the plan has no room for another template.
	ErrQuota = api.NewError(402, "template_quota_exceeded", "template_quota_exceeded",
		"The plan has no room for another template. Archive one or upgrade.")
	// ErrRender means that a template cannot be rendered with the values at hand.
	ErrRender = api.NewError(422, "template_render_failed", "validation_error", "The template could not be rendered.")
)

// Statistics counts what became of the mails that were made from a template.
type Statistics func(tx *db.Tx, ws space.ID, id string, versions []int64, from, to time.Time) (stats.OfTemplate, error)

// Service keeps templates.
type Service struct {
	world      world.World
	db         *db.DB
	plans      *plan.Service
	domains    *domain.Service
	statistics Statistics
	shelf      *shelf
}

// New returns the service of one process. Without statistics every count is zero.
func New(w world.World, d *db.DB, plans *plan.Service, domains *domain.Service, statistics Statistics) *Service {
	return &Service{world: w, db: d, plans: plans, domains: domains, statistics: statistics, shelf: newShelf()}
}

// Get returns a template by its id or its alias, or ErrNotFound.
func (s *Service) Get(tx *db.Tx, ws space.ID, name string) (Template, error) {
	return find(tx, ws, name)
}

// Count returns how many templates a workspace has that are not archived.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) { return total.Of(tx, ws) }

// open returns the error of a template that was put away.
func (t Template) open() error {
	if t.Status == Archived {
		return api.ErrInvalidState.Saying("The template is archived. Duplicate it to use it again.").
			With("current", t.Status).With("allowed", []Status{Published, Drafted})
	}
	return nil
}

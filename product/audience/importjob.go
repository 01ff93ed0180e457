package audience

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/audience/internal/table"
)

// ImportID names an import.
type ImportID string

// Import is many contacts on their way in.
type Import struct {
	ID        ImportID
	Workspace space.ID
	List      ListID
	Source    string
	Filename  string
	Status    ImportStatus
	options   importOptions
	// blob is what is left to read, errors what could not be imported, both empty if there is nothing.
	blob, errors blob.Ref
	// Failure says why the import could not go on.
	Failure string
	done    int64
	Counts  ImportCounts

	CreatedAt, StartedAt, CompletedAt time.Time
}

// ImportStatus tells how far an import is.
type ImportStatus string

// Statuses of imports.
const (
	Queued     ImportStatus = "queued"
	InProgress ImportStatus = "in_progress"
	Completed  ImportStatus = "completed"
	Failed     ImportStatus = "failed"
)

// ImportCounts says what became of the rows of an import.
type ImportCounts struct {
	Total   int64 `json:"total" example:"100"`
	Created int64 `json:"created" example:"80"`
	Updated int64 `json:"updated" example:"10"`
	Skipped int64 `json:"skipped" example:"5"`
	Failed  int64 `json:"failed" example:"5"`
}

const (
	// ImportLane is the queue of imports.
	ImportLane queue.Lane = "contact_import"
	// maxImport is the largest file; maxPlain the largest after its text has become UTF-8.
	maxImport = 50 << 20
	maxPlain  = 3 * maxImport
	// maxImportBody leaves room for the fields around a file.
	maxImportBody = maxImport + 1<<20
	// maxImportRows is how many rows one import may have, maxJSONRows how many of them may come as JSON.
	maxImportRows = 1_000_000
	maxJSONRows   = 10_000
	// maxRowValues is how many values a contact has in JSON, if they all have as many.
	maxRowValues = 50
)

// importOptions are how an import is to be done.
type importOptions struct {
	Columns       columnMap               `json:"columns"`
	OnConflict    conflict                `json:"on_conflict"`
	Segments      []string                `json:"segments,omitempty"`
	Topics        map[string]Subscription `json:"topics,omitempty"`
	Confirmations bool                    `json:"send_confirmations,omitempty"`
	Plan          string                  `json:"plan"`
	KeyID         string                  `json:"key_id,omitempty"`
	Domains       []string                `json:"domain_ids,omitempty"` // those the key is restricted to
	Test          bool                    `json:"test,omitempty"`
}

// columnMap says which column of a file holds what, by the names in its header.
type columnMap struct {
	Email        string                    `json:"email,omitempty"`
	FirstName    string                    `json:"first_name,omitempty"`
	LastName     string                    `json:"last_name,omitempty"`
	Unsubscribed string                    `json:"unsubscribed,omitempty"`
	Properties   map[string]propertyColumn `json:"properties,omitempty"`
}

// propertyColumn is a column, alone or in an object.
type propertyColumn struct {
	Column string `json:"column"`
}

// UnmarshalJSON reads either.
func (c *propertyColumn) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &c.Column) == nil {
		return nil
	}
	type plain propertyColumn
	return json.Unmarshal(raw, (*plain)(c))
}

// startImport keeps the contacts and queues the work.
func (s *Service) startImport(ctx context.Context, caller api.Caller, body importBody) (im Import, err error) {
	var wrong api.Fields
	var options importOptions
	var list List
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		known, err := loadSchema(tx, caller.Workspace)
		if err != nil {
			return err
		}
		options = body.check(&wrong, caller, known)
		list, _ = known.listByID(body.ListID)
		return s.checkRoom(tx, caller, options)
	})
	if err == nil {
		err = wrong.Err()
	}
	if err == nil && options.Confirmations && list.DoubleOptIn {
		err = s.tryLetter(ctx, caller, list) // nobody would learn later that those who came were never asked
	}
	if err != nil {
		return im, err
	}
	im = Import{ID: ImportID(s.world.NewID()), Workspace: caller.Workspace, List: ListID(body.ListID), Source: "json", Status: Queued, options: options}
	if im.blob, err = s.keep(ctx, &im, body); err != nil {
		return im, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		im.CreatedAt = tx.Now()
		if err := insertImport(tx, im); err != nil {
			return err
		}
		return queue.Add(tx, queue.Item{ID: string(im.ID), Lane: ImportLane, Rank: queue.Normal, Due: tx.Now()})
	})
	return im, err
}

// checkRoom refuses an import that could neither add nor change anybody. To change those who are there needs no room; rows of others fail
// one by one.
func (s *Service) checkRoom(tx *db.Tx, caller api.Caller, options importOptions) error {
	limit, err := s.limitOf(caller.Plan)
	if err != nil || limit == nil || options.OnConflict != skip {
		return err
	}
	have, err := total.Of(tx, caller.Workspace)
	if err == nil && have >= *limit {
		err = s.fullError(tx, caller.Workspace, caller.Plan, limit)
	}
	return err
}

// keep stores what is to be imported as plain text: a line a contact, or a table.
func (s *Service) keep(ctx context.Context, im *Import, body importBody) (blob.Ref, error) {
	if body.form == nil {
		lines := make([]io.Reader, 0, 2*len(body.Contacts))
		for _, contact := range body.Contacts {
			var line bytes.Buffer
			if err := json.Compact(&line, contact); err != nil {
				return "", api.Invalid("contacts", "Malformed JSON.")
			}
			lines = append(lines, &line, strings.NewReader("\n"))
		}
		info, err := s.parts.Blobs.Put(ctx, io.MultiReader(lines...), maxPlain)
		return info.Ref, unavailable(err)
	}
	im.Source, im.Filename = "csv", cleanFilename(body.form.filename)
	plain, err := table.Plain(body.form.open)
	if err != nil {
		return "", api.Invalid("file", "The file cannot be read.")
	}
	info, err := s.parts.Blobs.Put(ctx, plain, maxPlain)
	if err != nil {
		return "", unavailable(err)
	}
	return info.Ref, s.checkHeader(ctx, info.Ref, im.options.Columns)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, blob.ErrTooLarge) {
		return api.Invalid("file", "Must have at most 50 MB.")
	}
	return api.ErrUnavailable.Because(fmt.Errorf("store an import: %w", err))
}

// checkHeader tells right away if a file has no column for addresses.
func (s *Service) checkHeader(ctx context.Context, ref blob.Ref, columns columnMap) error {
	file, err := s.parts.Blobs.Open(ctx, ref)
	if err != nil {
		return unavailable(err)
	}
	defer file.Close()
	r, err := table.NewReader(file, 0)
	if errors.Is(err, table.ErrRow) || errors.Is(err, table.ErrEmpty) {
		return api.Invalid("file", "The first row must name the columns: "+err.Error()+".")
	}
	if err != nil {
		return api.Invalid("file", "The file is not a table of comma-separated values.")
	}
	if strings.ContainsRune(strings.Join(r.Header, ""), 0) {
		return api.Invalid("file", "The file is not text. Save it as UTF-8.")
	}
	_, missing := columns.find(r.Header, schema{})
	if missing != "" {
		return api.Invalid("column_map", missing)
	}
	return nil
}

const maxFilename = 200

// cleanFilename is a name without folders, to show to people. Nothing is ever stored under it.
func cleanFilename(name string) string {
	name = path.Base(strings.ReplaceAll(name, "\\", "/"))
	if name == "." || name == "/" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return ""
	}
	return string([]rune(name)[:min(len([]rune(name)), maxFilename)])
}

// importRecord is an import on the wire.
type importRecord struct {
	Object      string        `json:"object" example:"contact_import"`
	ID          ImportID      `json:"id" example:"0193a1f5-0000-7000-8000-000000000341"`
	Status      ImportStatus  `json:"status" example:"completed"`
	ListID      api.Ref       `json:"list_id" example:"0193a1f5-0000-7000-8000-000000000311"`
	Source      string        `json:"source" example:"csv"`
	Filename    api.Ref       `json:"filename" example:"users.csv"`
	Counts      ImportCounts  `json:"counts"`
	Errors      []importError `json:"errors" doc:"The first 100."`
	ErrorsURL   api.Ref       `json:"errors_url" doc:"A file of all that failed; the link is good for an hour."`
	Failure     api.Ref       `json:"failure" doc:"Why the import could not go on."`
	CreatedAt   api.Time      `json:"created_at"`
	StartedAt   api.Time      `json:"started_at"`
	CompletedAt api.Time      `json:"completed_at"`
}

func (r importRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

// importError is a row that could not be imported.
type importError struct {
	Row     int64   `json:"row" example:"7"`
	Email   api.Ref `json:"email" example:"bad@"`
	Message string  `json:"message" example:"Invalid email address."`
}

func (s *Service) newImportRecord(im Import, failures []importError) importRecord {
	r := importRecord{Object: "contact_import", ID: im.ID, Status: im.Status, ListID: api.Ref(im.List), Source: im.Source, Filename: api.Ref(im.Filename), Counts: im.Counts,
		Errors: failures, Failure: api.Ref(im.Failure), CreatedAt: api.Time(im.CreatedAt), StartedAt: api.Time(im.StartedAt), CompletedAt: api.Time(im.CompletedAt)}
	if r.Errors == nil {
		r.Errors = []importError{}
	}
	if im.errors != "" {
		url, _ := s.parts.Emails.LinkToBlob(im.errors, "errors-"+string(im.ID)+".csv")
		r.ErrorsURL = api.Ref(url)
	}
	return r
}

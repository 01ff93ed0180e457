package suppression

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	// maxBatch is the most addresses that one request may add or remove; more would hold the list up for others.
	maxBatch = 1000
	// maxNote is the length of a remark in characters.
	maxNote = 500
	// maxForm is far above what a mail program or our page posts.
	maxForm = 16 << 10
)

// Routes returns the endpoints of the suppression list, and those behind unsubscribe links.
func (s *Service) Routes() []api.Route {
	notFound := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/suppressions", Scope: "suppression:read", Bucket: api.BucketRead,
			Summary: "List suppressed addresses, newest first.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodPost, Path: "/suppressions", Scope: "suppression:manage", Bucket: api.BucketWrite, Success: 201,
			Summary: "Suppress an address.", Handler: api.Handle(s.handleAdd)},
		{Method: http.MethodGet, Path: "/suppressions/{email}", Scope: "suppression:read", Bucket: api.BucketRead, Errors: notFound,
			Summary: "Get the entry of an address.", Handler: api.Handle(s.handleGet)},
		{Method: http.MethodDelete, Path: "/suppressions/{email}", Scope: "suppression:manage", Bucket: api.BucketWrite, Errors: notFound,
			Summary: "Take an address off the suppression list.", Handler: api.Handle(s.handleRemove)},
		{Method: http.MethodPost, Path: "/suppressions/batch/add", Scope: "suppression:manage", Bucket: api.BucketWrite, Success: 201,
			Summary: "Suppress many addresses.", Handler: api.Handle(s.handleAddBatch)},
		{Method: http.MethodPost, Path: "/suppressions/batch/remove", Scope: "suppression:manage", Bucket: api.BucketWrite,
			Summary: "Take many addresses off the suppression list.", Handler: api.Handle(s.handleRemoveBatch)},
		{Method: http.MethodGet, Path: "/unsubscribe/{token}", Access: api.Public, Bucket: api.BucketPublicToken, Page: true, Errors: notFound,
			Summary: "Show what an unsubscribe link is about. Changes nothing.", Handler: api.Handle(s.handleLook)},
		{Method: http.MethodPost, Path: "/unsubscribe/{token}", Access: api.Public, Bucket: api.BucketPublicToken, Page: true, Form: true,
			MaxBody: maxForm, Errors: notFound, Summary: "Unsubscribe, with one click of a mail program (RFC 8058) or from the page.",
			Handler: api.Handle(s.handleUnsubscribe)},
	}
}

func (s *Service) handleList(ctx context.Context, caller api.Caller, q listQuery) (api.Page[Record], error) {
	return s.list(ctx, caller.Workspace, q)
}

// newEntry is a request to suppress an address.
type newEntry struct {
	Email     string   `json:"email" doc:"The address, in any spelling." example:"gone@example.net"`
	Reason    Reason   `json:"reason" doc:"bounce, complaint, unsubscribe, manual or invalid; manual if none is given." example:"manual"`
	Note      string   `json:"note" doc:"A remark for people, at most 500 characters." example:"Asked by phone."`
	ExpiresAt api.Time `json:"expires_at" doc:"When the address may be mailed again; null means never." example:"2035-01-01T00:00:00Z"`
}

// newEntries is a request to suppress many addresses.
type newEntries struct {
	Emails    []string `json:"emails" doc:"1 to 1000 addresses." example:"[\"gone@example.net\",\"away@example.net\"]"`
	Reason    Reason   `json:"reason" doc:"bounce, complaint, unsubscribe, manual or invalid; manual if none is given." example:"manual"`
	Note      string   `json:"note" doc:"A remark for people, at most 500 characters." example:"Asked by phone."`
	ExpiresAt api.Time `json:"expires_at" doc:"When the addresses may be mailed again; null means never." example:"2035-01-01T00:00:00Z"`
}

// story is what a caller says about addresses to suppress.
type story struct {
	Reason    Reason
	Note      string
	ExpiresAt api.Time
}

func (t story) check(wrong *api.Fields, now time.Time) {
	if t.Reason != "" && !t.Reason.known() {
		wrong.Add("reason", "Must be bounce, complaint, unsubscribe, manual or invalid.")
	}
	api.CheckText(wrong, "note", t.Note, maxNote)
	if ends := time.Time(t.ExpiresAt); !ends.IsZero() && !ends.After(now) {
		wrong.Add("expires_at", "Must be in the future.")
	}
}

func (t story) entry(caller api.Caller, email string) Entry {
	e := Entry{Workspace: caller.Workspace, Address: email, Reason: t.Reason, Note: t.Note, ExpiresAt: time.Time(t.ExpiresAt), CreatedBy: caller.UserID}
	if e.Reason == "" {
		e.Reason = Manual
	}
	if e.CreatedBy == "" {
		e.CreatedBy = caller.KeyID
	}
	return e
}

func checkAddress(wrong *api.Fields, field, text string) {
	if _, err := address.Parse(text); err != nil {
		wrong.Add(field, fmt.Sprintf("Not an email address: %s.", err))
	}
}

func (s *Service) handleAdd(ctx context.Context, caller api.Caller, r struct{ Body newEntry }) (addedRecord, error) {
	var wrong api.Fields
	told := story{r.Body.Reason, r.Body.Note, r.Body.ExpiresAt}
	checkAddress(&wrong, "email", r.Body.Email)
	told.check(&wrong, s.world.Clock.Now())
	if err := wrong.Err(); err != nil {
		return addedRecord{}, err
	}
	added, err := s.add(ctx, []Entry{told.entry(caller, r.Body.Email)})
	if err != nil {
		return addedRecord{}, err
	}
	return newAddedRecord(added[0]), nil
}

func (s *Service) add(ctx context.Context, entries []Entry) (added []Added, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		added, err = s.AddMany(tx, entries)
		return err
	})
	return added, err
}

type namedRequest struct {
	Name string `path:"email" doc:"The address, URL-encoded, or the id of its entry." example:"gone@example.net"`
}

func (s *Service) handleGet(ctx context.Context, caller api.Caller, r namedRequest) (Record, error) {
	var row Suppression
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = find(tx, caller.Workspace, r.Name)
		return err
	})
	return newRecord(row), err
}

func (s *Service) handleRemove(ctx context.Context, caller api.Caller, r namedRequest) (removedRecord, error) {
	removed, err := s.Remove(ctx, caller.Workspace, []string{r.Name})
	if err == nil && len(removed) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return removedRecord{}, err
	}
	return newRemovedRecord(removed[0]), nil
}

func (s *Service) handleAddBatch(ctx context.Context, caller api.Caller, r struct{ Body newEntries }) (batch[addedRecord], error) {
	var wrong api.Fields
	told := story{r.Body.Reason, r.Body.Note, r.Body.ExpiresAt}
	checkCount(&wrong, "emails", r.Body.Emails)
	told.check(&wrong, s.world.Clock.Now())
	var entries []Entry
	seen := map[string]bool{}
	for i, email := range r.Body.Emails[:min(len(r.Body.Emails), maxBatch)] {
		checkAddress(&wrong, fmt.Sprintf("emails[%d]", i), email)
		if key := Key(email); !seen[key] {
			seen[key] = true
			entries = append(entries, told.entry(caller, email))
		}
	}
	if err := wrong.Err(); err != nil {
		return batch[addedRecord]{}, err
	}
	added, err := s.add(ctx, entries)
	return newBatch(added, newAddedRecord), err
}

func (s *Service) handleRemoveBatch(ctx context.Context, caller api.Caller, r struct {
	Body struct {
		Emails []string `json:"emails" doc:"1 to 1000 addresses." example:"[\"gone@example.net\"]"`
		IDs    []string `json:"ids" doc:"Instead of emails: 1 to 1000 ids of entries." example:"[]"`
	}
}) (batch[removedRecord], error) {
	field, list := "emails", r.Body.Emails
	if len(list) == 0 && len(r.Body.IDs) > 0 {
		field, list = "ids", r.Body.IDs
	}
	var wrong api.Fields
	checkCount(&wrong, field, list)
	if len(r.Body.Emails) > 0 && len(r.Body.IDs) > 0 {
		wrong.Add("ids", "Send either emails or ids, not both.")
	}
	if err := wrong.Err(); err != nil {
		return batch[removedRecord]{}, err
	}
	removed, err := s.Remove(ctx, caller.Workspace, list)
	return newBatch(removed, newRemovedRecord), err
}

func checkCount(wrong *api.Fields, field string, list []string) {
	if len(list) < 1 || len(list) > maxBatch {
		wrong.Add(field, fmt.Sprintf("Must have between 1 and %d entries.", maxBatch))
	}
}

type linkRequest struct {
	Token  string `path:"token" doc:"The token of the link." example:"v1.c2lnbmVk"`
	Accept string `header:"Accept" doc:"People's browsers name text/html and get a page."`
}

func (s *Service) handleLook(ctx context.Context, _ api.Caller, r linkRequest) (result, error) {
	u, err := s.look(ctx, r.Token)
	if err != nil {
		return wants(r.Accept).broken(err)
	}
	if wants(r.Accept).json() {
		return newResult(u), nil
	}
	return newResult(u).withPage(u, false), nil
}

func (s *Service) handleUnsubscribe(ctx context.Context, _ api.Caller, r struct {
	linkRequest
	Body struct {
		OneClick string `json:"List-Unsubscribe" doc:"One-Click, as mail programs post it (RFC 8058)." example:"One-Click"`
		Scope    Scope  `json:"scope" doc:"topic, list or all; the narrowest that the link has if none is given." example:"all"`
	}
}) (result, error) {
	switch r.Body.Scope {
	case "", FromTopic, FromList, FromAll:
	default:
		return result{}, api.Invalid("scope", "Must be topic, list or all.")
	}
	method := ByLink
	if r.Body.OneClick != "" {
		method = OneClick
	}
	u, err := s.unsubscribe(ctx, r.Token, r.Body.Scope, method)
	if err != nil {
		return wants(r.Accept).broken(err)
	}
	if !wants(r.Accept).page() {
		return newResult(u), nil
	}
	return newResult(u).withPage(u, false), nil
}

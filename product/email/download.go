package email

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/platform/space"
)

const (
	// LinkFor is how long a link to a file is good; it needs no key, so it must not last.
	LinkFor = time.Hour
	// linkPurpose keeps links to files apart from other signed tokens.
	linkPurpose = "email/file"
	// FilesPath is where files are served from.
	FilesPath = "/files/"
	// linkVersion begins every link, so that its form can change one day.
	linkVersion = "v1."
)

// attachmentRoutes are the files of an email.
func (s *Service) attachmentRoutes() []api.Route {
	missing := []*api.Error{api.ErrNotFound}
	return []api.Route{
		{Method: http.MethodGet, Path: "/emails/{id}/attachments", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "List the attachments of an email.", Handler: api.Handle(ofDomain(s, s.handleAttachments))},
		{Method: http.MethodGet, Path: "/emails/{id}/attachments/{aid}", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "Get one attachment of an email with a link to its content.", Handler: api.Handle(ofDomain(s, s.handleAttachment))},
	}
}

type attachmentRecord struct {
	Object      string   `json:"object" example:"attachment"`
	ID          string   `json:"id" example:"0193a1ef-0d5c-7000-8000-0000000000c1"`
	Filename    string   `json:"filename" example:"invoice.pdf"`
	ContentType string   `json:"content_type" example:"application/pdf"`
	Disposition string   `json:"content_disposition" example:"attachment"`
	ContentID   api.Ref  `json:"content_id"`
	Size        int64    `json:"size" example:"20480"`
	SHA256      blob.Ref `json:"sha256" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	DownloadURL string   `json:"download_url" example:"https://mail.example.org/files/v1.eyJrIjoi"`
	URL         string   `json:"url" example:"https://mail.example.org/files/v1.eyJrIjoi"`
	ExpiresAt   api.Time `json:"expires_at"`
}

// place is where a page after the attachment begins.
func (r attachmentRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

// fileLink is what a link stands for. It is sealed: nobody can read or change it.
type fileLink struct {
	Blob     blob.Ref `json:"b,omitempty"`
	Filename string   `json:"f"`
	// Workspace, Email and Part lead to a file in a message that came ready made.
	Workspace space.ID `json:"w,omitempty"`
	Email     ID       `json:"e,omitempty"`
	Part      int      `json:"p,omitempty"`
}

func (s *Service) newAttachmentRecord(ws space.ID, id ID, a Attachment) attachmentRecord {
	link := fileLink{Blob: a.Blob, Filename: a.Filename}
	if a.part > 0 {
		link = fileLink{Workspace: ws, Email: id, Part: a.part, Filename: a.Filename}
	}
	url, expires := s.link(link)
	record := attachmentRecord{Object: "attachment", ID: a.ID, Filename: a.Filename, ContentType: a.ContentType, Disposition: "attachment",
		ContentID: api.Ref(a.ContentID), Size: a.SizeBytes, SHA256: a.Blob, DownloadURL: url, URL: url, ExpiresAt: api.Time(expires)}
	if a.Inline {
		record.Disposition = "inline"
	}
	return record
}

func (s *Service) link(to fileLink) (url string, expires time.Time) {
	raw, err := json.Marshal(to)
	if err != nil {
		panic(fmt.Sprintf("email: link to %s: %v", to.Filename, err))
	}
	expires = s.world.Clock.Now().Add(LinkFor).Truncate(time.Second)
	return s.baseURL + FilesPath + linkVersion + s.keys.Sign(linkPurpose, raw, expires), expires
}

// LinkTo keeps content long enough for a link to it, and returns the link. Nothing refers to it, so it is swept later.
func (s *Service) LinkTo(ctx context.Context, content []byte, filename string) (url string, expires time.Time, err error) {
	info, err := s.blobs.Put(ctx, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", time.Time{}, api.ErrUnavailable.Because(fmt.Errorf("store %s: %w", filename, err))
	}
	url, expires = s.link(fileLink{Blob: info.Ref, Filename: filename})
	return url, expires, nil
}

func (s *Service) attachmentsOf(ctx context.Context, ws space.ID, id string) (attachments []Attachment, err error) {
	var e Email
	var content storedContent
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if e, err = findEmail(tx, ws, id); err != nil || e.Attachments == 0 {
			return err
		}
		if content, err = selectContent(tx, ws, e.ID); err != nil || content.readyMade() {
			return err
		}
		attachments, err = selectAttachments(tx, ws, e.ID)
		return err
	})
	if err == nil && content.readyMade() {
		return s.filesOfReadyMade(ctx, e.ID, content)
	}
	return attachments, err
}

func (s *Service) handleAttachments(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
}) (api.Page[attachmentRecord], error) {
	if err := r.Check(maxPage); err != nil {
		return api.Page[attachmentRecord]{}, err
	}
	all, err := s.attachmentsOf(ctx, caller.Workspace, r.ID)
	if err != nil {
		return api.Page[attachmentRecord]{}, err
	}
	records := make([]attachmentRecord, len(all))
	for i, a := range all {
		records[i] = s.newAttachmentRecord(caller.Workspace, ID(r.ID), a)
	}
	return api.Cut(records, r.PageQuery, api.Ascending, attachmentRecord.place)
}

func (s *Service) handleAttachment(ctx context.Context, caller api.Caller, r struct {
	idRequest
	AttachmentID string `path:"aid" doc:"Id of the attachment." example:"0193a1ef-0d5c-7000-8000-0000000000c1"`
}) (attachmentRecord, error) {
	all, err := s.attachmentsOf(ctx, caller.Workspace, r.ID)
	if err != nil {
		return attachmentRecord{}, err
	}
	for _, a := range all {
		if a.ID == r.AttachmentID {
			return s.newAttachmentRecord(caller.Workspace, ID(r.ID), a), nil
		}
	}
	return attachmentRecord{}, api.NotFound("attachment")
}

// ServeFile answers a signed link with the file it stands for. A browser is told to save it and never to show it: it may hold
// anything.
func (s *Service) ServeFile(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, FilesPath), linkVersion)
	raw, err := s.keys.Verify(linkPurpose, token, s.world.Clock.Now())
	var link fileLink
	switch {
	case errors.Is(err, seal.ErrExpired):
		http.Error(w, "This link has expired. Ask for a new one.", http.StatusForbidden)
		return
	case !ok || err != nil || json.Unmarshal(raw, &link) != nil:
		http.NotFound(w, r)
		return
	}
	Download(w, link.Filename, func(w io.Writer) error { return s.copyFile(r.Context(), w, link) }, func(err error) {
		s.world.Log.Error("file could not be sent", "link", link, "error", err)
	})
}

// Download answers with a file that write writes. A browser is told to save it and never to show it. If write fails, failed hears why, and
// the reader gets an answer that says so, or a file that is cut off in a way that programs notice. That the reader has gone is no failure.
func Download(w http.ResponseWriter, filename string, write func(io.Writer) error, failed func(error)) {
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filename}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Cache-Control", "private, max-age="+strconv.Itoa(int(LinkFor/time.Second)))
	out := &outgoing{to: w}
	err := write(out)
	if err == nil || out.gone {
		return
	}
	failed(err)
	if out.begun {
		panic(http.ErrAbortHandler) // or what has left would pass for the whole file
	}
	header.Del("Content-Disposition")
	header.Del("Cache-Control")
	if IsGone(err) {
		http.Error(w, "The file is gone.", http.StatusNotFound)
		return
	}
	http.Error(w, "The file is not available.", http.StatusServiceUnavailable)
}

// outgoing is a file on its way to a reader.
type outgoing struct {
	to    io.Writer
	begun bool // a part of it has left
	gone  bool // the reader takes no more
}

func (o *outgoing) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	o.begun, o.gone = true, o.gone || err != nil
	return n, err
}

// IsGone tells whether what a link stands for was removed after the link was made.
func IsGone(err error) bool {
	return errors.Is(err, db.ErrNotFound) || errors.Is(err, blob.ErrNotFound)
}

// copyFile writes what a link stands for to w.
func (s *Service) copyFile(ctx context.Context, w io.Writer, link fileLink) error {
	if link.Part == 0 {
		file, err := s.blobs.Open(ctx, link.Blob)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	}
	var content storedContent
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		content, err = selectContent(tx, link.Workspace, link.Email)
		return err
	})
	if err != nil {
		return err
	}
	found, err := s.copyPart(ctx, w, content, link.Part)
	if err == nil && !found {
		return blob.ErrNotFound
	}
	return err
}

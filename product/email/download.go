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
)

const (
	// linkFor is how long a link to a file is good; it needs no key, so it must not last.
	linkFor = time.Hour
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
			Summary: "List the attachments of an email.", Handler: api.Handle(s.handleAttachments)},
		{Method: http.MethodGet, Path: "/emails/{id}/attachments/{aid}", Scope: "email:read", Bucket: api.BucketRead, Errors: missing,
			Summary: "Get one attachment of an email with a link to its content.", Handler: api.Handle(s.handleAttachment)},
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

// fileLink is what a link stands for. It is sealed: nobody can read or change it.
type fileLink struct {
	Blob     blob.Ref `json:"b"`
	Filename string   `json:"f"`
}

func (s *Service) newAttachmentRecord(a Attachment) attachmentRecord {
	url, expires := s.link(fileLink{a.Blob, a.Filename})
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
	expires = s.world.Clock.Now().Add(linkFor).Truncate(time.Second)
	return s.baseURL + FilesPath + linkVersion + s.keys.Sign(linkPurpose, raw, expires), expires
}

// LinkTo keeps content long enough for a link to it, and returns the link. Nothing refers to it, so it is swept later.
func (s *Service) LinkTo(ctx context.Context, content []byte, filename string) (url string, expires time.Time, err error) {
	info, err := s.blobs.Put(ctx, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", time.Time{}, api.ErrUnavailable.Because(fmt.Errorf("store %s: %w", filename, err))
	}
	url, expires = s.link(fileLink{info.Ref, filename})
	return url, expires, nil
}

func (s *Service) attachmentsOf(ctx context.Context, caller api.Caller, id string) (attachments []Attachment, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := findEmail(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		attachments, err = selectAttachments(tx, caller.Workspace, e.ID)
		return err
	})
	return attachments, err
}

func (s *Service) handleAttachments(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.OffsetQuery
}) (api.Page[attachmentRecord], error) {
	if err := r.Check(maxPage); err != nil {
		return api.Page[attachmentRecord]{}, err
	}
	all, err := s.attachmentsOf(ctx, caller, r.ID)
	if err != nil {
		return api.Page[attachmentRecord]{}, err
	}
	var records []attachmentRecord
	for _, a := range all[min(r.Offset, len(all)):min(r.Offset+r.Limit, len(all))] {
		records = append(records, s.newAttachmentRecord(a))
	}
	return api.NewPage(records, r.OffsetQuery, int64(len(all))), nil
}

func (s *Service) handleAttachment(ctx context.Context, caller api.Caller, r struct {
	idRequest
	AttachmentID string `path:"aid" doc:"Id of the attachment." example:"0193a1ef-0d5c-7000-8000-0000000000c1"`
}) (attachmentRecord, error) {
	all, err := s.attachmentsOf(ctx, caller, r.ID)
	if err != nil {
		return attachmentRecord{}, err
	}
	for _, a := range all {
		if a.ID == r.AttachmentID {
			return s.newAttachmentRecord(a), nil
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
	file, err := s.blobs.Open(r.Context(), link.Blob)
	if err != nil {
		s.world.Log.Error("file could not be opened", "blob", link.Blob, "error", err)
		http.Error(w, "The file is not available.", http.StatusServiceUnavailable)
		return
	}
	defer file.Close()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": link.Filename}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Cache-Control", "private, max-age="+strconv.Itoa(int(linkFor/time.Second)))
	_, _ = io.Copy(w, file) // the reader may have gone
}

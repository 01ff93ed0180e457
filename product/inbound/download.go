package inbound

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/email"
)

const (
	// linkPurpose keeps links to received files apart from other signed tokens.
	linkPurpose = "inbound/file"
	// linkVersion begins every link, so that it is told from links to files that were sent.
	linkVersion = "r1."
	// FilesPath is how the address of a received file begins.
	FilesPath = email.FilesPath + linkVersion
)

// fileLink is what a link stands for: a part of a message, or all of it if Part is 0. It is sealed: nobody can read or change it.
type fileLink struct {
	Workspace space.ID `json:"w"`
	ID        ID       `json:"r"`
	Part      int      `json:"p,omitempty"`
	Filename  string   `json:"f"`
}

type attachmentRecord struct {
	Object string `json:"object" example:"attachment"`
	fileRecord
	SHA256      string   `json:"sha256" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	DownloadURL string   `json:"download_url" example:"https://mail.example.org/files/r1.eyJrIjoi"`
	URL         string   `json:"url" example:"https://mail.example.org/files/r1.eyJrIjoi"`
	ExpiresAt   api.Time `json:"expires_at"`
}

func (s *Service) link(to fileLink) (url string, expires time.Time) {
	raw, err := json.Marshal(to)
	if err != nil {
		panic(fmt.Sprintf("inbound: link to %s: %v", to.Filename, err))
	}
	expires = s.world.Clock.Now().Add(email.LinkFor).Truncate(time.Second)
	return s.baseURL + FilesPath + s.keys.Sign(linkPurpose, raw, expires), expires
}

func (s *Service) linkToRaw(m Message) rawLink {
	url, expires := s.link(fileLink{Workspace: m.Workspace, ID: m.ID, Filename: "message.eml"})
	return rawLink{DownloadURL: url, ExpiresAt: api.Time(expires)}
}

// place is where a page after the file begins.
func (r attachmentRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

// attachments returns the files of a message that are wanted, read for their hashes.
func (s *Service) attachments(ctx context.Context, caller api.Caller, id string, wanted func(f File) bool) (records []attachmentRecord, err error) {
	m, c, _, err := s.load(ctx, caller, id)
	if err != nil || len(m.Files) == 0 {
		return nil, err
	}
	r, err := s.open(ctx, c.content)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	err = eachFile(r, func(index int, p *message.Part) error {
		if index > len(m.Files) {
			return errEnough
		}
		f := m.Files[index-1]
		if !wanted(f) {
			return nil
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, p.Body); err != nil {
			return err
		}
		url, expires := s.link(fileLink{Workspace: m.Workspace, ID: m.ID, Part: index, Filename: f.Filename})
		records = append(records, attachmentRecord{Object: "attachment", fileRecord: fileRecords([]File{f})[0], SHA256: hex.EncodeToString(sum.Sum(nil)),
			DownloadURL: url, URL: url, ExpiresAt: api.Time(expires)})
		return nil
	})
	if isCutShort(err) {
		err = nil
	}
	return records, err
}

func (s *Service) handleAttachments(ctx context.Context, caller api.Caller, r struct {
	idRequest
	api.PageQuery
}) (page api.Page[attachmentRecord], err error) {
	if err := r.Check(maxPage); err != nil {
		return page, err
	}
	records, err := s.attachments(ctx, caller, r.ID, func(File) bool { return true })
	if err != nil {
		return page, err
	}
	return api.Cut(records, r.PageQuery, api.Ascending, attachmentRecord.place)
}

func (s *Service) handleAttachment(ctx context.Context, caller api.Caller, r struct {
	idRequest
	AttachmentID string `path:"attachmentId" doc:"Id of the attachment." example:"0193a1f2-0000-7000-8000-0000000000c1"`
}) (attachmentRecord, error) {
	records, err := s.attachments(ctx, caller, r.ID, func(f File) bool { return f.ID == r.AttachmentID })
	switch {
	case err != nil:
		return attachmentRecord{}, err
	case len(records) == 0:
		return attachmentRecord{}, api.NotFound("attachment")
	}
	return records[0], nil
}

// ServeFile answers a signed link with the file, or the message, that it stands for.
func (s *Service) ServeFile(w http.ResponseWriter, r *http.Request) {
	raw, err := s.keys.Verify(linkPurpose, strings.TrimPrefix(r.URL.Path, FilesPath), s.world.Clock.Now())
	var link fileLink
	switch {
	case errors.Is(err, seal.ErrExpired):
		http.Error(w, "This link has expired. Ask for a new one.", http.StatusForbidden)
		return
	case err != nil || json.Unmarshal(raw, &link) != nil:
		http.NotFound(w, r)
		return
	}
	email.Download(w, link.Filename, func(w io.Writer) error { return s.copyFile(r.Context(), w, link) }, func(err error) {
		if !errors.Is(err, db.ErrNotFound) {
			s.world.Log.Error("received file could not be sent", "message", link.ID, "part", link.Part, "error", err)
		}
	})
}

// copyFile writes what a link stands for to w.
func (s *Service) copyFile(ctx context.Context, w io.Writer, link fileLink) error {
	var c stored
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		c, err = selectContent(tx, link.Workspace, link.ID)
		return err
	})
	if err != nil {
		return err
	}
	if link.Part == 0 {
		return s.copyRaw(ctx, w, c)
	}
	r, err := s.open(ctx, c.content)
	if err != nil {
		return err
	}
	defer r.Close()
	err = eachFile(r, func(index int, p *message.Part) error {
		if index != link.Part {
			return nil
		}
		if _, err := io.Copy(w, p.Body); err != nil {
			return err
		}
		return errEnough
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err == nil:
		return blob.ErrNotFound
	}
	return err
}

// copyRaw writes the message as it was received: with what we found out about it, and without what only claims to be ours.
func (s *Service) copyRaw(ctx context.Context, w io.Writer, c stored) error {
	in, err := s.openParts(ctx, c.content)
	if err != nil {
		return err
	}
	defer in.close()
	head := append(addedHead(c.trace, c.results, s.host, in.fields), "\r\n"...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = io.Copy(w, in.body)
	return err
}

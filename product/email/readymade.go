package email

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"postrider/mail/message"
	"postrider/platform/blob"
)

// A message that came ready made is kept once, as it is. What it says and the files in it are read off it when someone asks.

// openReadyMade returns the bytes of the message.
func (s *Service) openReadyMade(ctx context.Context, stored storedContent) (io.ReadCloser, error) {
	if stored.rawBlob == "" {
		return io.NopCloser(bytes.NewReader(stored.raw)), nil
	}
	r, err := s.blobs.Open(ctx, stored.rawBlob)
	if err != nil {
		return nil, fmt.Errorf("open message: %w", err)
	}
	return r, nil
}

func (s *Service) readReadyMade(ctx context.Context, stored storedContent) ([]byte, error) {
	if stored.rawBlob == "" {
		return stored.raw, nil
	}
	r, err := s.openReadyMade(ctx, stored)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (s *Service) contentOfReadyMade(ctx context.Context, stored storedContent) (Content, error) {
	r, err := s.openReadyMade(ctx, stored)
	if err != nil {
		return Content{}, err
	}
	defer r.Close()
	read, err := message.ReadContent(r, maxBodyBytes, nil)
	return Content{HTML: read.HTML, Text: read.Text}, err
}

// filesOfReadyMade lists the files in a message.
func (s *Service) filesOfReadyMade(ctx context.Context, id ID, stored storedContent) ([]Attachment, error) {
	var files []Attachment
	err := s.eachFile(ctx, stored, func(index int, p *message.Part) error {
		sum := sha256.New()
		size, err := io.Copy(sum, p.Body)
		files = append(files, Attachment{ID: partID(id, index), Filename: nameOfPart(p, index), ContentType: p.Type, ContentID: p.ContentID,
			Inline: p.ContentID != "", SizeBytes: size, Blob: blob.Ref(hex.EncodeToString(sum.Sum(nil))), part: index})
		return err
	})
	return files, err
}

// eachFile visits the files in a message; the first has index 1.
func (s *Service) eachFile(ctx context.Context, stored storedContent, visit func(int, *message.Part) error) error {
	r, err := s.openReadyMade(ctx, stored)
	if err != nil {
		return err
	}
	defer r.Close()
	index := 0
	_, err = message.ReadContent(r, 0, func(p *message.Part) error {
		index++
		return visit(index, p)
	})
	return err
}

// errFound ends a walk that has found what it looked for.
var errFound = errors.New("found")

// copyPart writes the content of one file of a message to w, and tells whether there is such a file.
func (s *Service) copyPart(ctx context.Context, w io.Writer, stored storedContent, part int) (bool, error) {
	err := s.eachFile(ctx, stored, func(index int, p *message.Part) error {
		if index != part {
			return nil
		}
		if _, err := io.Copy(w, p.Body); err != nil {
			return err
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// partID makes an id for a file that has no row: always the same, and of the form of all ids (RFC 9562 §5.8).
func partID(id ID, index int) string {
	sum := sha256.Sum256([]byte(string(id) + "/" + strconv.Itoa(index)))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func nameOfPart(p *message.Part, index int) string {
	if name := p.Filename(); name != "" {
		return name
	}
	return fmt.Sprintf("part-%d", index)
}

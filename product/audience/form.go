package audience

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
)

const (
	// maxField is the largest field of a form that is no file; maxFields how many it may have.
	maxField  = 256 << 10
	maxFields = 20
)

// form is a multipart form with a file. The file is read from the form as often as it is opened, and never copied as a whole.
type form struct {
	raw      []byte
	boundary string
	filename string
	size     int64
}

var (
	errForm   = errors.New("no form that an import can have")
	errNoFile = errors.New("a form without a file")
)

// readForm reads the fields of a form, and where its file is. The boundary is that of the first line.
func readForm(raw []byte) (*form, map[string]string, error) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	f := &form{raw: raw, boundary: string(bytes.TrimSpace(line[2:])), size: -1}
	fields := map[string]string{}
	parts := multipart.NewReader(bytes.NewReader(raw), f.boundary)
	for range maxFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			if f.size < 0 {
				return nil, nil, errNoFile
			}
			return f, fields, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if part.FormName() == "file" {
			f.filename = part.FileName()
			if f.size, err = io.Copy(io.Discard, part); err != nil {
				return nil, nil, err
			}
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil || len(value) > maxField {
			return nil, nil, errForm
		}
		fields[part.FormName()] = string(value)
	}
	return nil, nil, errForm
}

// open returns the file from its beginning.
func (f *form) open() (io.Reader, error) {
	parts := multipart.NewReader(bytes.NewReader(f.raw), f.boundary)
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, err
		}
		if part.FormName() == "file" {
			return part, nil
		}
	}
}

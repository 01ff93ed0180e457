package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/url"
)

// Media types of bodies.
const (
	mediaJSON      = "application/json"
	mediaForm      = "application/x-www-form-urlencoded"
	mediaMultipart = "multipart/form-data"

	contentJSON = mediaJSON + "; charset=utf-8"
)

// maxFormFields is more than any form of ours has.
const maxFormFields = 50

func isForm(kind string) bool { return kind == mediaForm || kind == mediaMultipart }

// formAsJSON turns the fields of a web form into an object of texts, so that one Body serves both.
func formAsJSON(kind, boundary string, body []byte) ([]byte, error) {
	fields := map[string]string{}
	if kind == mediaForm {
		values, err := url.ParseQuery(string(body))
		if err != nil || len(values) > maxFormFields {
			return nil, errForm
		}
		for name, all := range values {
			fields[name] = all[len(all)-1]
		}
		return json.Marshal(fields)
	}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for range maxFormFields + 1 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return json.Marshal(fields)
		}
		if err != nil {
			return nil, errForm
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, errForm
		}
		fields[part.FormName()] = string(value)
	}
	return nil, errForm
}

var errForm = Invalid("_body", "The form cannot be read.")

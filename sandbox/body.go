package sandbox

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"

	mailmessage "postrider/mail/message"
)

const (
	// maxDepth and maxParts bound the walk through a mail made to be endless.
	maxDepth = 8
	maxParts = 100
	// maxBody is how much of a text is read for links.
	maxBody = 4 << 20
)

// bodies returns the first HTML text and the first plain text of a mail, either of which may be empty.
func bodies(raw []byte) (page, text string) {
	fields, body, err := mailmessage.ReadHeader(raw)
	if err != nil {
		return "", ""
	}
	header := textproto.MIMEHeader{}
	for _, field := range fields {
		if field.Is("Content-Type") || field.Is("Content-Transfer-Encoding") {
			header.Set(field.Name, field.Value)
		}
	}
	w := walk{}
	w.enter(header, bytes.NewReader(body), 0)
	return w.page, w.text
}

// walk collects texts on its way through the parts of a mail.
type walk struct {
	page, text string
	parts      int
}

func (w *walk) enter(header textproto.MIMEHeader, body io.Reader, depth int) {
	w.parts++
	kind, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	switch {
	case depth > maxDepth || w.parts > maxParts:
	case strings.HasPrefix(kind, "multipart/"):
		parts := multipart.NewReader(body, parameters["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				return
			}
			w.enter(part.Header, part, depth+1)
		}
	case kind == "text/html" && w.page == "":
		w.page = decoded(header, body)
	case kind == "text/plain" && w.text == "":
		w.text = decoded(header, body)
	}
}

// decoded undoes the transfer encoding. Where it is broken the text ends.
func decoded(header textproto.MIMEHeader, body io.Reader) string {
	switch strings.ToLower(strings.TrimSpace(header.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	text, _ := io.ReadAll(io.LimitReader(body, maxBody))
	return string(text)
}

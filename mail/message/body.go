package message

import (
	"crypto/sha256"
	"encoding/hex"
)

// composeBody writes the content header, the blank line and the content. The nesting is the one all readers agree on, and
// levels with a single child are left out:
//
//	mixed
//	├── related
//	│   ├── alternative
//	│   │   ├── text
//	│   │   └── HTML
//	│   └── inline files
//	└── attached files
func (m Message) composeBody(c *composer) {
	inline, attached := m.sortAttachments()
	if len(attached) == 0 {
		m.composeRelated(c, inline)
		return
	}
	mixed := c.multipart("mixed", m.boundary("mixed"), "")
	mixed.next()
	m.composeRelated(c, inline)
	mixed.files(attached)
	mixed.close()
}

func (m Message) composeRelated(c *composer, inline []Attachment) {
	if len(inline) == 0 {
		m.composeAlternative(c)
		return
	}
	root := "text/html" // RFC 2387 §3.1 wants the type of the root named
	if m.Text != "" {
		root = "multipart/alternative"
	}
	related := c.multipart("related", m.boundary("related"), root)
	related.next()
	m.composeAlternative(c)
	related.files(inline)
	related.close()
}

func (m Message) composeAlternative(c *composer) {
	switch {
	case m.HTML == "":
		c.text("plain", m.Text)
		return
	case m.Text == "":
		c.text("html", m.HTML)
		return
	}
	alternative := c.multipart("alternative", m.boundary("alternative"), "")
	alternative.next() // the plainest first (RFC 2046 §5.1.4)
	c.text("plain", m.Text)
	alternative.next()
	c.text("html", m.HTML)
	alternative.close()
}

// sortAttachments tells the files of the page from those beside it. Without a page there is nothing to be part of.
func (m Message) sortAttachments() (inline, attached []Attachment) {
	for _, a := range m.Attachments {
		if a.Inline && m.HTML != "" {
			inline = append(inline, a)
		} else {
			attached = append(attached, a)
		}
	}
	return inline, attached
}

// boundaryMark begins every boundary. Neither quoted-printable nor base64 can produce it, and text that contains it is not sent
// as it is, so no content can be taken for a boundary.
const boundaryMark = "=_"

func (m Message) boundary(level string) string {
	sum := sha256.Sum256([]byte(level + "\x00" + m.Seed))
	return boundaryMark + hex.EncodeToString(sum[:16])
}

// multipart is an open multipart body.
type multipart struct {
	c        *composer
	boundary string
}

// multipart writes the content header of a multipart body. root is the type of the first part, where that has to be said.
func (c *composer) multipart(subtype, boundary, root string) multipart {
	c.write("Content-Type: multipart/")
	c.write(subtype)
	if root != "" {
		c.write(`; type="`)
		c.write(root)
		c.write(`"`)
	}
	c.write(";\r\n boundary=\"")
	c.write(boundary)
	c.write("\"\r\n")
	return multipart{c: c, boundary: boundary}
}

// next begins a part. The line end before a delimiter belongs to the delimiter (RFC 2046 §5.1.1).
func (p multipart) next() {
	p.c.write("\r\n--")
	p.c.write(p.boundary)
	p.c.write("\r\n")
	p.c.settle()
}

func (p multipart) files(list []Attachment) {
	for _, a := range list {
		if p.c.err != nil {
			return
		}
		p.next()
		p.c.file(a)
	}
}

func (p multipart) close() {
	p.c.write("\r\n--")
	p.c.write(p.boundary)
	p.c.write("--\r\n")
	p.c.settle()
}

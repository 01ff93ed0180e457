package message

import (
	"errors"
	"io"
)

// Content is what a message says, for people to read.
type Content struct {
	Text string
	HTML string
	// Truncated tells that more was said than was asked for.
	Truncated bool
}

// ReadContent returns the texts of a message and calls file for everything else in it, in order. At most limit bytes are read of
// each text. file may be nil.
func ReadContent(r io.Reader, limit int64, file func(*Part) error) (Content, error) {
	var c Content
	err := Walk(r, func(p *Part) error {
		if p.Attached {
			if file == nil {
				return nil
			}
			return file(p)
		}
		text, cut, err := p.text(limit)
		c.Truncated = c.Truncated || cut
		into := &c.Text
		if p.Type == "text/html" {
			into = &c.HTML
		}
		switch {
		case *into == "":
			*into = text
		case int64(len(*into)+len(text)) > limit:
			c.Truncated = true
		default:
			*into += "\n" + text // a list server's footer, or text around a picture
		}
		return err
	})
	if errors.Is(err, ErrTooManyParts) {
		c.Truncated, err = true, nil
	}
	return c, err
}

func (p *Part) text(limit int64) (text string, cut bool, err error) {
	raw, err := io.ReadAll(io.LimitReader(p.Body, limit+1))
	if int64(len(raw)) > limit {
		raw, cut = raw[:limit], true
	}
	return toUTF8(raw, p.Charset), cut, err
}

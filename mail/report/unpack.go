package report

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"postrider/mail/message"
)

const (
	// maxPacked bounds an attachment that has to be held as a whole; the reports of the largest providers are smaller.
	maxPacked = 4 << 20
	// maxUnpacked bounds what comes out of an attachment, whatever it promises.
	maxUnpacked = 16 << 20
	// maxAttempts is how many attachments of one message are opened.
	maxAttempts = 3
)

// unpack looks for statistics in an attachment. Which it is, is told by its type or its name; others are not opened.
func (l *letter) unpack(p *message.Part) error {
	subject := strings.ToLower(message.DecodeHeader(fieldOf(l.header, "Subject")))
	name := strings.ToLower(p.Filename())
	tls := strings.HasPrefix(p.Type, "application/tlsrpt") || strings.Contains(name, ".json")
	// Both are named receiver!domain!begin!end (RFC 7489 §7.2.1.1, RFC 8460 §5.1).
	expected := strings.HasPrefix(p.Type, "application/tlsrpt") || strings.Count(name, "!") >= 3 || strings.Contains(subject, "report domain:")
	if !expected || l.unpacked == maxAttempts {
		return nil
	}
	l.unpacked++
	content, err := open(p.Body)
	if err != nil || content == nil {
		return err
	}
	if tls {
		if report, err := ReadTLS(content); err == nil && l.tls == nil {
			l.tls = &report
		}
		return nil
	}
	if report, err := ReadAggregate(content); err == nil && l.dmarc == nil {
		l.dmarc = &report
	}
	return nil
}

// open returns what is inside a gzip, the first file of a zip, or the content itself. One that is damaged is nil. The error is
// that of the message.
func open(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	magic, err := in.Peek(4)
	switch {
	case err != nil && len(magic) == 0:
		return nil, nil
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil
		}
		return io.LimitReader(unpacked, maxUnpacked), nil
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")):
		return openZip(in)
	}
	return io.LimitReader(in, maxUnpacked), nil
}

func openZip(r io.Reader) (io.Reader, error) {
	packed, err := io.ReadAll(io.LimitReader(r, maxPacked+1))
	if err != nil || len(packed) > maxPacked {
		return nil, err
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(archive.File) == 0 {
		return nil, nil
	}
	file, err := archive.File[0].Open()
	if err != nil {
		return nil, nil
	}
	return io.LimitReader(file, maxUnpacked), nil
}

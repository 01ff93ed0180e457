package api

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
)

const (
	// smallBody is what every request may bring in memory without asking the budget.
	smallBody = 64 << 10
	// spoolStep is how much room on disk a body asks for at a time.
	spoolStep = 4 << 20
)

// readBody reads the body up to the cap of the route. release must be called when nothing refers to it any more.
//
// A large body waits on disk until its last byte has come, and only then claims memory: a thousand clients on slow lines cost a
// thousand files, and a body that turns out to be too large has cost nothing.
func (x *exchange) readBody() (body []byte, release func(), err error) {
	release = func() {}
	maxBody := cmp.Or(x.endpoint.MaxBody, DefaultMaxBody)
	switch {
	case x.r.ContentLength > maxBody:
		return nil, release, ErrTooLarge.With("max_bytes", maxBody)
	case x.r.ContentLength == 0:
		return nil, release, nil
	}
	if err := x.checkMediaType(); err != nil {
		return nil, release, err
	}
	body, received, err := x.receive(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	if err == nil {
		if body, err = x.readAs(body); err != nil {
			received()
			return nil, release, err
		}
		return body, received, nil
	}
	var over *http.MaxBytesError
	var public *Error
	switch {
	case errors.As(err, &over):
		err = ErrTooLarge.With("max_bytes", maxBody)
	case !errors.As(err, &public):
		err = Invalid("_body", "The body ended too early.")
	}
	return nil, release, err
}

// readAs turns a body into JSON if it is a form, and refuses text that is not UTF-8: the decoder would put question marks into it.
func (x *exchange) readAs(body []byte) ([]byte, error) {
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err == nil && x.endpoint.Form && isForm(kind):
		return formAsJSON(kind, parameters["boundary"], body)
	case err == nil && isForm(kind):
		return body, nil
	case utf8.Valid(body):
		return body, checkAmount(body, cmp.Or(x.endpoint.MaxValues, DefaultMaxValues))
	}
	return nil, Invalid("_body", fmt.Sprintf("Must be UTF-8; byte %d is not.", wrongByte(body)))
}

func wrongByte(text []byte) int {
	at := 0
	for at < len(text) {
		char, size := utf8.DecodeRune(text[at:])
		if char == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

func (x *exchange) receive(r io.Reader) (body []byte, release func(), err error) {
	if expected := x.r.ContentLength; expected > 0 && expected <= smallBody {
		body = make([]byte, expected)
		_, err = io.ReadFull(r, body)
		return body, func() {}, err
	}
	start := make([]byte, smallBody)
	n, err := io.ReadFull(r, start)
	if x.r.ContentLength < 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return start[:n], func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := newSpool(x.server.config.SpoolDir, x.server.spooled)
	if err != nil {
		return nil, nil, ErrUnavailable.Because(err)
	}
	defer file.close()
	if _, err := io.Copy(file, r); err != nil {
		return nil, nil, err
	}
	size := int64(len(start)) + file.size
	if err := x.server.bodies.Acquire(x.r.Context(), size); err != nil {
		return nil, nil, ErrUnavailable.Because(err)
	}
	body = make([]byte, size)
	copy(body, start)
	if _, err := file.ReadAt(body[len(start):], 0); err != nil && !errors.Is(err, io.EOF) {
		x.server.bodies.Release(size)
		return nil, nil, ErrUnavailable.Because(err)
	}
	return body, func() { x.server.bodies.Release(size) }, nil
}

// spool is a file without a name: if the process dies, nothing of it is left.
type spool struct {
	*os.File
	budget  *semaphore.Weighted
	claimed int64
	size    int64
}

func newSpool(dir string, budget *semaphore.Weighted) (*spool, error) {
	file, err := os.CreateTemp(dir, "postrider-body-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		file.Close()
		return nil, err
	}
	return &spool{File: file, budget: budget}, nil
}

// Write fails when all bodies together would need too much room.
func (s *spool) Write(p []byte) (int, error) {
	for s.size+int64(len(p)) > s.claimed {
		if !s.budget.TryAcquire(spoolStep) {
			return 0, ErrUnavailable.Because(errors.New("no room for more request bodies"))
		}
		s.claimed += spoolStep
	}
	n, err := s.File.Write(p)
	s.size += int64(n)
	if err != nil {
		err = ErrUnavailable.Because(err)
	}
	return n, err
}

// ReadFrom hides that of the file, which would go past the budget.
func (s *spool) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{s}, r)
}

func (s *spool) close() {
	s.File.Close()
	s.budget.Release(s.claimed)
}

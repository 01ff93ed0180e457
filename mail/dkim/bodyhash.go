package dkim

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// BodyForm is how a body is to be hashed: in simple or relaxed form (RFC 6376 §3.4), and all of it or its first bytes.
type BodyForm struct {
	Relaxed bool
	// Limit is how many bytes of the canonical body count; negative means all.
	Limit int64
}

// BodyHash is what hashing gave.
type BodyHash struct {
	SHA256 []byte
	// Length is that of the whole canonical body.
	Length int64
}

// BodyHashes are the hashes of one body in the forms that were asked for.
type BodyHashes map[BodyForm]BodyHash

// HashBody reads a body once and hashes it in every form. Lines may end with CRLF or LF, which count as CRLF; a CR elsewhere is a
// byte like others. It takes the same memory for a body of any size.
func HashBody(body io.Reader, forms ...BodyForm) (BodyHashes, error) {
	var hashers []*bodyHasher
	known := map[BodyForm]bool{}
	for _, form := range forms {
		if !known[form] {
			known[form] = true
			hashers = append(hashers, &bodyHasher{form: form, hash: sha256.New(), buf: make([]byte, 0, hashChunk)})
		}
	}
	if err := eachPiece(body, func(piece []byte, ended bool) {
		for _, h := range hashers {
			h.piece(piece, ended)
		}
	}); err != nil {
		return nil, err
	}
	hashes := BodyHashes{}
	for _, h := range hashers {
		hashes[h.form] = h.sum()
	}
	return hashes, nil
}

// eachPiece calls do for each line without its end, or for each piece of a long one; ended tells that the line ends after it.
func eachPiece(r io.Reader, do func(piece []byte, ended bool)) error {
	in := bufio.NewReaderSize(r, hashChunk)
	heldCR := false // the last piece ended with a CR, which may belong to a line end
	for {
		piece, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(piece) == 0:
			if heldCR {
				do([]byte("\r"), false)
			}
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF):
			return err
		}
		if heldCR && piece[0] != '\n' {
			do([]byte("\r"), false)
		}
		piece, ended := bytes.CutSuffix(piece, []byte("\n"))
		piece, heldCR = bytes.CutSuffix(piece, []byte("\r"))
		if heldCR = heldCR && !ended; len(piece) > 0 || ended {
			do(piece, ended)
		}
	}
}

// bodyHasher makes one canonical form.
type bodyHasher struct {
	form    BodyForm
	hash    hash.Hash
	buf     []byte
	length  int64
	empty   int  // lines that count only if another follows
	started bool // the line has something in it
	blank   bool // relaxed: blanks that count only if something follows on the line
}

// piece takes a part of a line, without its end.
func (h *bodyHasher) piece(line []byte, ended bool) {
	text := line
	if h.form.Relaxed {
		text = trimBlanks(line)
	}
	if len(text) > 0 {
		for ; h.empty > 0; h.empty-- {
			h.add([]byte("\r\n"))
		}
		if h.form.Relaxed {
			h.relaxed(text)
		} else {
			h.add(text)
		}
		h.started, h.blank = true, false
	}
	h.blank = h.blank || len(text) < len(line)
	switch {
	case !ended:
		return
	case h.started:
		h.add([]byte("\r\n"))
	default:
		h.empty++
	}
	h.started, h.blank = false, false
}

func (h *bodyHasher) relaxed(text []byte) {
	if h.blank {
		h.add([]byte(" "))
		text = bytes.TrimLeft(text, " \t")
	}
	if bytes.IndexByte(text, '\t') < 0 && !bytes.Contains(text, []byte("  ")) {
		h.add(text)
		return
	}
	h.add(appendCollapsed(nil, text))
}

func (h *bodyHasher) add(b []byte) {
	counted := b
	if h.form.Limit >= 0 {
		counted = b[:min(max(h.form.Limit-h.length, 0), int64(len(b)))]
	}
	h.length += int64(len(b))
	if len(h.buf)+len(counted) > hashChunk {
		h.hash.Write(h.buf)
		h.buf = h.buf[:0]
	}
	if len(counted) > hashChunk {
		h.hash.Write(counted)
		return
	}
	h.buf = append(h.buf, counted...)
}

// sum ends the body: its last line may lack an end, and an empty body in simple form is one line end (RFC 6376 §3.4.3).
func (h *bodyHasher) sum() BodyHash {
	if h.started || !h.form.Relaxed && h.length == 0 {
		h.add([]byte("\r\n"))
	}
	h.hash.Write(h.buf)
	return BodyHash{SHA256: h.hash.Sum(nil), Length: h.length}
}

// Package blob keeps bodies and attachments: bytes that are named by their own SHA-256, in files or in an S3 bucket.
//
// Equal content is kept once, so nobody deletes what he put: the owner of the rows forgets its reference, and Sweep removes
// what nobody refers to any more. A blob is put before the transaction that refers to it; until that commits it is held
// only by its age, which is why putting existing content again makes it young.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"math"
	"time"
)

// What can be wrong with a blob.
var (
	// ErrNotFound means there is no such blob.
	ErrNotFound = errors.New("blob not found")
	// ErrTooLarge means the content has more bytes than the caller allowed; nothing was kept.
	ErrTooLarge = errors.New("content too large")
	// ErrDamaged means the stored bytes are no longer those that were put.
	ErrDamaged = errors.New("blob damaged")
)

// Ref names content: its SHA-256 in lower-case hexadecimal.
type Ref string

// Info is what is known about a blob without opening it.
type Info struct {
	Ref  Ref
	Size int64
}

// Store keeps blobs. Every implementation is safe for concurrent use.
type Store interface {
	// Put keeps the content of r and returns its name once it is durable. More than maxBytes is ErrTooLarge.
	Put(ctx context.Context, r io.Reader, maxBytes int64) (Info, error)
	// Open returns the content, or ErrNotFound. Reading to the end fails with ErrDamaged if it is not what was put.
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
	// Delete removes a blob at once, whoever else may refer to it. One that is not there is as good as removed.
	Delete(ctx context.Context, ref Ref) error
	// DeleteUntouched removes a blob unless it was put again at or after the given time, and reports whether it did.
	DeleteUntouched(ctx context.Context, ref Ref, since time.Time) (bool, error)
	// List visits every blob that was last put before the given time, in no particular order. The visitor may delete.
	List(ctx context.Context, before time.Time, visit func(info Info, modified time.Time) error) error
	// Sign returns what SetSign has left last, for whoever opens the store next; empty if nothing was. It is no blob.
	Sign(ctx context.Context) (string, error)
	// SetSign replaces the sign, which is short and no secret.
	SetSign(ctx context.Context, sign string) error
}

// signName is what the sign is kept under. No blob has such a name.
const signName = "sweeper"

// maxSign bounds what is read of a sign; ours are shorter.
const maxSign = 256

// refLength is that of a SHA-256 in hexadecimal.
const refLength = 2 * sha256.Size

// ParseRef returns s as a Ref if it has the form of one; anything else can name no blob and is ErrNotFound.
func ParseRef(s string) (Ref, error) {
	if len(s) != refLength {
		return "", ErrNotFound
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", ErrNotFound
		}
	}
	return Ref(s), nil
}

// String returns the name as text.
func (r Ref) String() string { return string(r) }

func refOf(h hash.Hash) Ref { return Ref(hex.EncodeToString(h.Sum(nil))) }

// copyHashed copies r to w until the end, or until it is too large or the context is over.
func copyHashed(ctx context.Context, w io.Writer, r io.Reader, maxBytes int64) (Info, error) {
	h := sha256.New()
	maxBytes = min(maxBytes, math.MaxInt64-1) // the byte too many must be countable
	limited := io.LimitReader(&patientReader{ctx: ctx, from: r}, maxBytes+1)
	size, err := io.Copy(io.MultiWriter(w, h), limited)
	if err != nil {
		return Info{}, err
	}
	if size > maxBytes {
		return Info{}, ErrTooLarge
	}
	return Info{Ref: refOf(h), Size: size}, nil
}

// patientReader reads as long as its context allows.
type patientReader struct {
	ctx  context.Context
	from io.Reader
}

func (r *patientReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// checkedReader notices at the end of the content that it is not what its name says.
type checkedReader struct {
	io.ReadCloser
	want Ref
	hash hash.Hash
}

func newCheckedReader(r io.ReadCloser, want Ref) io.ReadCloser {
	return &checkedReader{ReadCloser: r, want: want, hash: sha256.New()}
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && refOf(r.hash) != r.want {
		return n, ErrDamaged
	}
	return n, err
}

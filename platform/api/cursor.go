package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"postrider/platform/space"
	"postrider/world"
)

// Cursor is the place after which a page starts.
type Cursor struct {
	ID string
	At time.Time
}

// Cursors writes and reads cursors. A cursor is good only for the workspace, list and filters it was made for.
type Cursors struct{ signer Signer }

// Signer signs with a key that nobody else has.
type Signer interface {
	// Sign returns a MAC of data of at least 8 bytes.
	Sign(data []byte) []byte
	// Check tells whether mac is the beginning of one that was made for data, be it by another node or with a key of before.
	Check(data, mac []byte) bool
}

// NewCursors returns cursors that the signer signs.
func NewCursors(signer Signer) Cursors { return Cursors{signer} }

// newOwnCursors returns cursors that nobody else can read.
func newOwnCursors(w world.World) Cursors {
	return NewCursors(ownSigner(w.Bytes(sha256.Size)))
}

// ownSigner is the key of one process.
type ownSigner []byte

func (s ownSigner) Sign(data []byte) []byte {
	mac := hmac.New(sha256.New, s)
	mac.Write(data)
	return mac.Sum(nil)
}

func (s ownSigner) Check(data, mac []byte) bool { return hmac.Equal(mac, s.Sign(data)[:len(mac)]) }

type wireCursor struct {
	Version   int      `json:"v"`
	ID        string   `json:"k"`
	Micros    int64    `json:"t"`
	Filters   string   `json:"f"`
	Workspace space.ID `json:"w"`
}

const cursorMACBytes = 8

// Write returns the text of a cursor. query names the list and all its filters.
func (c Cursors) Write(at Cursor, ws space.ID, query string) string {
	raw, err := json.Marshal(wireCursor{1, at.ID, at.At.UnixMicro(), filterHash(query), ws})
	if err != nil {
		panic(fmt.Sprintf("api: cursor: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(c.signer.Sign(raw)[:cursorMACBytes])
}

// Read returns the place a cursor stands for, or ErrInvalidCursor.
func (c Cursors) Read(text string, ws space.ID, query string) (Cursor, error) {
	body, signature, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return Cursor{}, ErrInvalidCursor
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || len(given) != cursorMACBytes || !c.signer.Check(raw, given) {
		return Cursor{}, ErrInvalidCursor
	}
	var w wireCursor
	if err := json.Unmarshal(raw, &w); err != nil || w.Version != 1 || w.Workspace != ws || w.Filters != filterHash(query) {
		return Cursor{}, ErrInvalidCursor
	}
	return Cursor{ID: w.ID, At: time.UnixMicro(w.Micros).UTC()}, nil
}

func filterHash(query string) string {
	sum := sha256.Sum256([]byte(query))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

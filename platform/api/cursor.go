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
type Cursors struct{ mac func([]byte) []byte }

// NewCursors returns cursors signed with mac, which must be keyed.
func NewCursors(mac func([]byte) []byte) Cursors { return Cursors{mac} }

// newOwnCursors returns cursors that nobody else can read.
func newOwnCursors(w world.World) Cursors {
	secret := w.Bytes(sha256.Size)
	return NewCursors(func(data []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(data)
		return mac.Sum(nil)
	})
}

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
	return base64.RawURLEncoding.EncodeToString(raw) + "." + base64.RawURLEncoding.EncodeToString(c.mac(raw)[:cursorMACBytes])
}

// Read returns the place a cursor stands for, or ErrInvalidCursor.
func (c Cursors) Read(text string, ws space.ID, query string) (Cursor, error) {
	body, signature, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return Cursor{}, ErrInvalidCursor
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !hmac.Equal(given, c.mac(raw)[:cursorMACBytes]) {
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

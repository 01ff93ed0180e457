package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"postrider/platform/space"
)

func testCursors() Cursors {
	return NewCursors(ownSigner("test"))
}

var fuzzSpace = space.ID("0193a1e0-2222-7000-8000-000000000001")

// A cursor is taken only as it was given out: one that reads well is written the same again.
func FuzzCursorsOfStrangersAreRefused(f *testing.F) {
	cursors := testCursors()
	at := Cursor{ID: "0193a1e0-2222-7000-8000-0000000000d1", At: time.UnixMicro(1_700_000_000_000_001).UTC()}
	for _, seed := range []string{"", ".", "e30.AAAAAAAAAAA", "e30", cursors.Write(at, fuzzSpace, "emails"), cursors.Write(Cursor{}, fuzzSpace, "emails"), cursors.Write(at, fuzzSpace, "other")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := cursors.Read(text, fuzzSpace, "emails")
		if err != nil {
			if !errors.Is(err, ErrInvalidCursor) {
				t.Fatalf("%v", err)
			}
			return
		}
		if cursors.Write(got, fuzzSpace, "emails") != text {
			t.Fatalf("%q was taken for %+v", text, got)
		}
	})
}

// Whatever a form says becomes JSON, or a refusal.
func FuzzFormsBecomeJSON(f *testing.F) {
	f.Add(mediaForm, "", []byte("a=1&b=%20&a=2"))
	f.Add(mediaMultipart, "x", []byte("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"))
	f.Add(mediaMultipart, "", []byte("--\r\n"))
	f.Fuzz(func(t *testing.T, kind, boundary string, body []byte) {
		got, err := formAsJSON(kind, boundary, body)
		if err == nil && !json.Valid(got) {
			t.Fatalf("%q became %q", body, got)
		}
	})
}

// fuzzBody has every kind of field that bodies have.
type fuzzBody struct {
	Text  string           `json:"text"`
	To    Strings          `json:"to"`
	At    Time             `json:"at"`
	Maybe Optional[int64]  `json:"maybe"`
	Null  Optional[*bool]  `json:"null"`
	Rows  []fuzzBody       `json:"rows"`
	Any   json.RawMessage  `json:"any"`
	Names map[string]Ref   `json:"names"`
	Deep  *struct{ A int } `json:"deep"`
}

// A body is read, or the caller is told which field is wrong; nothing else may happen.
func FuzzBodiesAreReadOrBlamed(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `null`, `{"to":"a"}`, `{"to":["a",1]}`, `{"at":"2026-11-15T02:13:00Z"}`, `{"maybe":null}`, `{"rows":[{"rows":[{"at":5}]}]}`,
		`{"deep":{"A":1e99}}`, `{"text":"\ud800"}`, `{"any":{"x":[`, `{} {}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var body fuzzBody
		err := Decode(raw, &body)
		if err == nil {
			return
		}
		var told *Error
		if !errors.As(err, &told) || told.Code != ErrValidation.Code || !utf8.Valid(told.body("r")) || !json.Valid(told.body("r")) {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

// The same request is the same request however it is written.
func FuzzBodiesThatMeanTheSameHashAlike(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[true,null]}`))
	f.Add([]byte(`[1.0,1]`))
	f.Add([]byte(`{"idempotency_key":"x","a":"\u0041"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := HashBody(raw)
		if err != nil || !json.Valid(raw) {
			return
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, raw, " ", "\t"); err != nil {
			return
		}
		if second, err := HashBody(spaced.Bytes()); err != nil || first != second {
			t.Fatalf("%q: %s and %s, %v", raw, first, second, err)
		}
	})
}

// A path finds at most one route, and its parameters are parts of it.
func FuzzPathsFindTheirRoute(f *testing.F) {
	root := &router{}
	for _, path := range []string{"/emails", "/emails/{id}", "/emails/receiving/{id}", "/emails/{id}/events", "/a/{b}/{c}"} {
		root.add(Route{Method: "GET", Path: path, Handler: Handler{output: shape{body: reflect.TypeFor[None]()}}})
	}
	for _, seed := range []string{"/v1/emails", "/v1/emails/x", "/v1/emails/receiving/x", "/v1/emails/%2F/events", "/v1//", "", "/v1/emails/%zz", "/v1/a/%00/b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		methods, found := root.find(segments(path))
		if methods == nil {
			return
		}
		endpoint := methods["GET"]
		if len(found) != len(endpoint.parameters) {
			t.Fatalf("%q: %d values for %v", path, len(found), endpoint.parameters)
		}
		for _, value := range found {
			if !strings.Contains(path, value) {
				t.Fatalf("%q: %q is not in it", path, value)
			}
		}
		endpoint.values(found)
	})
}

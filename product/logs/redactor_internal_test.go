package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// redactSlowly says the same of values as the redactor does of bytes.
func redactSlowly(field string, value any) any {
	if value == nil {
		return nil
	}
	switch judge(field) {
	case secret:
		return hidden
	case mail:
		if text, ok := value.(string); ok {
			return fmt.Sprintf("[redacted %d bytes]", len(text))
		}
		return hidden
	}
	switch v := value.(type) {
	case map[string]any:
		shown := map[string]any{}
		for key, inner := range v {
			shown[conceal(key)] = redactSlowly(key, inner)
		}
		return shown
	case []any:
		for i, inner := range v {
			v[i] = redactSlowly("", inner)
		}
	case string:
		return conceal(v)
	}
	return value
}

func decoded(t *testing.T, raw []byte) (value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return value
}

func FuzzRedaction(f *testing.F) {
	for _, body := range []string{
		`{"from":"a@b.test","to":["c@d.test"],"html":"<p>hi</p>","text":null,"n":1e3}`,
		` { "password" : { "a" : [ 1 , "x" ] } , "list" : [ { "api_key" : "k" } , [ ] , { } ] , "id" : "7" } `,
		`{"subject":"my key pr_live_0123456789_abcdef and whsec_AAAA","body":"a\"b\\","t\u006fken":"x","x":"\u0070r_live_0123456789_abcdef"}`,
		`{"url":"https://mail.test/shared?token=v1.abc","path":"https:\/\/files.test\/pr_live_0123456789_abcdef#whsec_AA\/BB","k":"whsec_AA\/BB"}`,
		`{"pr_live_0123456789_abcdef":1,"a":{"whsec_AAAA":"x"},"url":"https://ann:pw@mail.test/@ann?q=a@b"}`, `[]`, `"text"`, `12`, `null`, `{"text":["a"],"raw":true}`, `{"a":"\ud800","é":"\u00e9"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := read(body, len(body))
		if len(body) == 0 || !json.Valid(body) {
			return
		}
		if !json.Valid(got.kept) {
			t.Fatalf("%q became %q, which is no JSON", body, got.kept)
		}
		if strings.Contains(string(got.kept), "[body of ") {
			return
		}
		if !bytes.Equal(body, bytes.ToValidUTF8(body, nil)) {
			return // how long such a text is depends on who counts
		}
		want := redactSlowly("", decoded(t, body))
		if have := decoded(t, got.kept); !reflect.DeepEqual(have, want) && !hasTwins(body) {
			t.Errorf("%s\nbecame %s\nwant   %s", body, got.kept, write(want))
		}
	})
}

// hasTwins tells whether an object names a field twice: of those, decoders keep the last one only.
func hasTwins(body []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(body))
	var names []map[string]bool // of the objects around, nil for lists
	key := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		text, isText := token.(string)
		inObject := len(names) > 0 && names[len(names)-1] != nil
		switch {
		case token == json.Delim('{'):
			names, key = append(names, map[string]bool{}), true
			continue
		case token == json.Delim('['):
			names = append(names, nil)
			continue
		case token == json.Delim('}') || token == json.Delim(']'):
			names, key = names[:len(names)-1], true
			continue
		case inObject && key && isText:
			if names[len(names)-1][text] {
				return true
			}
			names[len(names)-1][text] = true
			key = false
			continue
		}
		key = true
	}
}

func TestABodyIsKeptAsItWasWritten(t *testing.T) {
	t.Parallel()
	got := read([]byte(`{ "to": "Ann <ann@example.net>", "id": "7", "Text": "secret words", "reply_to": null }`), 90)
	if want := `{"to":"Ann <ann@example.net>","id":"7","Text":"[redacted 12 bytes]","reply_to":null}`; string(got.kept) != want {
		t.Errorf("kept %s, want %s", got.kept, want)
	}
	if want := "to id Text reply_to"; strings.Join(got.names, " ") != want || got.id != "7" {
		t.Errorf("names %v, id %q", got.names, got.id)
	}
}

func TestABodyIsKeptUpToItsBound(t *testing.T) {
	t.Parallel()
	for size, kept := range map[int]bool{32 << 10: true, 32<<10 + 1: false} {
		body := fmt.Appendf(nil, `{"to":"%s"}`, strings.Repeat("x", size-len(`{"to":""}`)))
		want := fmt.Sprintf(`"[body of %d bytes]"`, size)
		if kept {
			want = string(body)
		}
		if got := read(body, len(body)); string(got.kept) != want {
			t.Errorf("of %d bytes %d are kept", size, len(got.kept))
		}
	}
}

func BenchmarkRedaction(b *testing.B) {
	body := fmt.Appendf(nil, `{"from":"Acme <hello@acme.test>","to":["user@example.net"],"subject":"Your order","html":"<p>%s</p>","text":"Thank you."}`, strings.Repeat("x", 1900))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		read(body, len(body))
	}
}

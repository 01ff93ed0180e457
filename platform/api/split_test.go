package api_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"postrider/platform/api"
)

// FuzzSplitList compares with the standard library: what it can read is cut in the same places.
func FuzzSplitList(f *testing.F) {
	for _, seed := range []string{`[]`, `[1]`, ` [ {"a":"]\"},"} , [1,[2]], "x,\\" ] `, `[,]`, `[1,]`, `[}`, `["`, `{}`, `[[]`, `["\\\"]`, `[""]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := api.SplitList(raw)
		var want []json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil && bytes.TrimSpace(raw)[0] != '[' {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q is cut into %q, want %q (%v)", raw, got, want, err)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%q: element %d is %q, want %q", raw, i, got[i], want[i])
			}
		}
	})
}

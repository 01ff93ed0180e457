package api

import (
	"runtime"
	"strings"
	"testing"
)

func TestABodyOfVeryManyValuesIsRefusedBeforeItIsDecoded(t *testing.T) {
	t.Parallel()
	const maxValues = 1000
	many := func(value string) string { return strings.Repeat(value+",", maxValues) + value }
	for name, c := range map[string]struct {
		body    string
		refused bool
	}{
		"objects":                     {`{"attachments":[` + many(`{}`) + `]}`, true},
		"strings":                     {`{"to":[` + many(`""`) + `]}`, true},
		"numbers":                     {`{"to":[` + many(`1`) + `]}`, true},
		"a bare list":                 {`[` + many(`1`) + `]`, true},
		"members":                     {`{` + many(`"a":1`) + `}`, true},
		"depth":                       {strings.Repeat(`[`, maxValues+1), true},
		"closed too often":            {strings.Repeat(`]`, maxValues+1), false},
		"a string that does not end":  {`"` + many(`{}`), false},
		"a long text":                 {`{"text":"` + many(`{\"a\":[]}`) + `"}`, false},
		"a file":                      {`{"to":["a"],"attachments":[{"filename":"x","content":[` + many(`255`) + `]}]}`, false},
		"a serialised Buffer":         {`{"attachments":[{"content":{"type":"Buffer","data":[ ` + many(`255`) + ` ]}}]}`, false},
		"a file in a batch":           {`[{"attachments":[{"content":[` + many(`1`) + `]}]}]`, false},
		"a file in a named batch":     {`{"emails":[{"attachments":[{"content":[` + many(`1`) + `]}]}]}`, false},
		"what is like a file":         {`{"variables":{"attachments":[{"content":[` + many(`1`) + `]}]}}`, true},
		"a file of other things":      {`{"attachments":[{"content":[` + many(`{}`) + `]}]}`, true},
		"what comes after the file":   {`{"attachments":[{"content":[1]}],"to":[` + many(`1`) + `]}`, true},
		"a file that is called twice": {`{"attachments":[{"content":[` + many(`1`) + `],"name":[` + many(`1`) + `]}]}`, true},
	} {
		if err := checkAmount([]byte(c.body), maxValues); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALongListOfNumbersIsHashedWithoutAValueForEach(t *testing.T) {
	body := []byte(`{"attachments":[{"content":[` + strings.Repeat("1, ", 1<<20) + `1]}]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := HashBody(body); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(len(body)) {
		t.Errorf("hashing %d bytes took %d", len(body), allocated)
	}
}

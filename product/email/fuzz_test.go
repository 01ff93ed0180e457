package email

import (
	"testing"
	"time"

	"postrider/platform/api"
)

// A time that is taken is one that mail may be sent at.
func FuzzSchedulesAreSoonEnough(f *testing.F) {
	for _, seed := range []string{"", "in 10 minutes", "in 99999 days", "in 1 hour", "2026-11-15T02:13:00Z", "2026-11-15T02:13:00+25:00", "9999-12-31T23:59:60Z", "in 1 fortnight", "in -1 days"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 15, 2, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		var wrong api.Fields
		at := checkSchedule(&wrong, text, now)
		if len(wrong) == 0 && !at.IsZero() && (!at.After(now) || at.After(now.Add(maxScheduleAhead))) {
			t.Fatalf("%q is %s", text, at)
		}
	})
}

// Both ways to hand in a batch are read alike, and nothing else is.
func FuzzBatchesAreReadOrBlamed(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"to":"a@b.test"}]`, `{"emails":[{}]}`, `{"emails":{}}`, `null`, `[[[`, `{"emails":[1,"x",null]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var batch batchBody
		if batch.ReadBody(raw) != nil {
			return
		}
		for _, one := range batch.emails {
			var body sendBody
			_ = api.Decode(one, &body) // each is refused by itself
		}
	})
}

// Attachments come in three encodings; none may be taken for more than it is.
func FuzzContentsOfFilesAreDecoded(f *testing.F) {
	for _, seed := range []string{`"aGk="`, `"a"`, `[104,105]`, `[256]`, `{"type":"Buffer","data":[104]}`, `{"data":"x"}`, `null`, `"aG\nk="`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var content fileContent
		if content.UnmarshalJSON(raw) == nil && len(content) > len(raw) {
			t.Fatalf("%q became %d bytes", raw, len(content))
		}
	})
}

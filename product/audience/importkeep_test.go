package audience_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/audience"
)

func TestAllThatFailedIsInTheFileAndAHundredInTheAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		im := h.imported([]byte("email\n"+strings.Repeat("bad\n", 1500)), nil)
		if got := im.Pick("counts"); got != `[{"created":0,"failed":1500,"skipped":0,"total":1500,"updated":0}]` || len(im.Body["errors"].([]any)) != 100 {
			t.Errorf("%s, %d shown", got, len(im.Body["errors"].([]any)))
		}
		if got := strings.Count(h.file(im.Text("errors_url")), "\n"); got != 1501 {
			t.Errorf("%d lines in the file", got)
		}
		one := h.imported([]byte("email\nbad\n"), nil)
		if one.Body["errors_url"] == nil {
			t.Fatalf("no file: %s", one.Raw)
		}
		if got := h.file(one.Text("errors_url")); got != "row,email,message\n1,bad,Invalid email address.\n" {
			t.Errorf("%q", got)
		}
	})
}

func TestWhatFailedIsForgottenAfterAMonth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.imported([]byte("email\nbad\n"), nil).Text("id")
		left := func() string {
			im := h.must(200, "GET", "/contacts/imports/"+id, nil)
			return fmt.Sprint(im.Body["errors_url"] != nil, len(im.Body["errors"].([]any)))
		}
		h.Clock.Advance(29 * 24 * time.Hour)
		h.work()
		if got := left(); got != "true 1" {
			t.Errorf("after 29 days: %s", got)
		}
		h.Clock.Advance(2 * 24 * time.Hour)
		h.work()
		if got := left(); got != "false 0" {
			t.Errorf("after 31 days: %s", got)
		}
	})
}

func TestAnImportThatStopsIsToldAsFailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		im := h.imported([]byte("email\nann@example.net\n"+strings.Repeat("x,", 600)+"\n"), nil)
		if im.Text("status") != "failed" || h.news(im.Text("id")) != "failed" {
			t.Errorf("%s, told %s", im.Raw, h.news(im.Text("id")))
		}
	})
}

func TestWhatARowSaysOfATopicBeatsWhatTheImportSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		topic := h.made("/topics", "A", nil)
		h.must(202, "POST", "/contacts/imports", fields{"topics": []fields{{"id": topic, "subscription": "opt_in"}},
			"contacts": []fields{{"email": "ann@example.net", "topics": []fields{{"id": topic, "subscription": "opt_out"}}}}})
		h.work()
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Body["topics"].([]any)[0].(fields)["subscription"]; got != "opt_out" {
			t.Error(got)
		}
	})
}

// haunted is a store of files in which something else happens before a file is opened or put.
type haunted struct {
	blob.Store
	onOpen, onPut func()
}

func once(haunt *func()) {
	if f := *haunt; f != nil {
		*haunt = nil
		f()
	}
}

func (s *haunted) Open(ctx context.Context, ref blob.Ref) (io.ReadCloser, error) {
	once(&s.onOpen)
	return s.Store.Open(ctx, ref)
}

func (s *haunted) Put(ctx context.Context, r io.Reader, most int64) (blob.Info, error) {
	once(&s.onPut)
	return s.Store.Put(ctx, r, most)
}

// twins returns the steps of two processes that import from one store, and the front door of the first.
func (h *house) twins(store *haunted) (first, second func() bool, upload func(content []byte, more map[string]string) apptest.Answer) {
	h.t.Helper()
	files, err := blob.NewFiles(h.t.TempDir(), h.App.World.Clock, h.App.World.Random)
	if err != nil {
		h.t.Fatal(err)
	}
	store.Store = files
	process := func(node string, blobs blob.Store) *audience.Service {
		return audience.New(h.App.World, h.App.DB, audience.Parts{Keys: h.Keys, Blobs: blobs, Plans: h.App.Plans, Accounts: h.App.Accounts,
			Suppressions: h.App.Suppressions, Emails: h.App.Emails, Webhooks: h.App.Webhooks, Node: node})
	}
	step := func(s *audience.Service) func() bool {
		return func() bool {
			busy, err := s.Workers()[0].Step(context.Background())
			if err != nil {
				h.t.Fatal(err)
			}
			return busy
		}
	}
	one := process("first", store)
	front := api.NewServer(api.Config{World: h.App.World, Keys: h.App.Keys, Sessions: h.App.Accounts, Rates: h.App.Plans.RateOf}, one.Routes())
	return step(one), step(process("second", files)), func(content []byte, more map[string]string) apptest.Answer {
		return h.uploadTo(front, "/contacts/imports", "users.csv", content, more)
	}
}

// leaseEnds lets the time of every lease run out.
func (h *house) leaseEnds() {
	h.t.Helper()
	h.Clock.Advance(3 * time.Minute)
	if err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err }); err != nil {
		h.t.Fatal(err)
	}
}

func TestAProcessThatWasOvertakenImportsNothingTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		store := &haunted{}
		first, second, upload := h.twins(store)
		var file bytes.Buffer
		file.WriteString("email\n")
		for i := range 10_001 {
			fmt.Fprintf(&file, "c%d@example.net\n", i%20)
		}
		id := upload(file.Bytes(), nil).Text("id")
		store.onOpen = func() {
			h.leaseEnds()
			second()
		}
		first()
		h.Clock.Advance(time.Minute)
		for first() {
		}
		got := h.must(200, "GET", "/contacts/imports/"+id, nil).Pick("status", "counts")
		if got != `["completed",{"created":20,"failed":0,"skipped":0,"total":10001,"updated":9981}]` {
			t.Error(got)
		}
	})
}

func TestAnImportEndsOnceThoughTwoProcessesEndIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		store := &haunted{}
		first, second, upload := h.twins(store)
		id := upload([]byte("email\nbad\n"), nil).Text("id")
		store.onPut = func() { // the file of what failed is the last thing before the end
			h.leaseEnds()
			second()
		}
		first()
		for first() {
		}
		if im := h.must(200, "GET", "/contacts/imports/"+id, nil); im.Text("status") != "completed" || h.news(id) != "completed" {
			t.Errorf("%s, told %s", im.Raw, h.news(id))
		}
	})
}

func TestTheFilesOfImportsAreNotSwept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		sweep := func() {
			t.Helper()
			h.Clock.Advance(48 * time.Hour)
			for _, w := range h.App.Workers() {
				if w.Name == "unused blobs" {
					if _, err := w.Step(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		id := h.upload("/contacts/imports", "users.csv", []byte("email\nbad\nann@example.net\n"), nil).Text("id")
		sweep()
		h.work()
		im := h.must(200, "GET", "/contacts/imports/"+id, nil)
		if got := im.Pick("status", "failure"); got != `["completed",null]` {
			t.Fatal(got)
		}
		sweep()
		if got := h.file(h.must(200, "GET", "/contacts/imports/"+id, nil).Text("errors_url")); !strings.HasPrefix(got, "row,email,message\n") {
			t.Errorf("%q", got)
		}
	})
}

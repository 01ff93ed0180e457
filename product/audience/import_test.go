package audience_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/audience"
)

// imported posts a file, lets it be worked off and returns the import.
func (h *house) imported(content []byte, more map[string]string) apptest.Answer {
	h.t.Helper()
	answer := h.upload("/contacts/imports", "users.csv", content, more)
	if answer.Status != 202 {
		h.t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	h.work()
	return h.must(200, "GET", "/contacts/imports/"+answer.Text("id"), nil)
}

const table = "E-Mail,First name,Plan,Seats,unsubscribed\nann@example.net,Ann,pro,5,\nbad@,Bob,,,\nEve@Example.net,Eve,,x,\ncy@example.net,,free,,yes\nann@example.net,Anna,,,\n"

func TestAFileIsImportedAndWhatFailedIsToldIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		h.property("seats", "number")
		list, segment, topic := h.made("/audience/lists", "A", nil), h.made("/segments", "B", nil), h.made("/topics", "C", nil)
		im := h.imported([]byte(table), map[string]string{"list_id": list, "segments": fmt.Sprintf(`[{"id":%q}]`, segment), "topics": fmt.Sprintf(`[{"id":%q,"subscription":"opt_out"}]`, topic)})

		if got := im.Pick("object", "status", "source", "filename", "counts", "errors"); got != `["contact_import","completed","csv","users.csv",{"created":2,"failed":2,"skipped":0,"total":5,"updated":1},`+
			`[{"email":"bad@","message":"Invalid email address.","row":2},{"email":"Eve@Example.net","message":"seats: Must be a number.","row":3}]]` {
			t.Error(got)
		}
		ann := h.must(200, "GET", "/contacts/ann@example.net", nil)
		if ann.Pick("first_name", "properties", "unsubscribed", "segment_ids") != fmt.Sprintf(`["Anna",{"plan":"pro","seats":5},false,[%q]]`, segment) || ann.Body["consent"].(fields)["source"] != "import" {
			t.Errorf("%s", ann.Raw)
		}
		if got := h.must(200, "GET", "/contacts/cy@example.net", nil).Pick("unsubscribed", "status"); got != `[true,"unsubscribed"]` {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/audience/lists/"+list, nil).Pick("contact_count"); got != "[2]" {
			t.Error(got)
		}
		if got := h.file(im.Text("errors_url")); got != "row,email,message\n2,bad@,Invalid email address.\n3,Eve@Example.net,seats: Must be a number.\n" {
			t.Errorf("%q", got)
		}
		if h.news(im.Text("id")) != "completed" {
			t.Error(h.news(im.Text("id")))
		}
		again := h.imported([]byte("email;first_name\nann@example.net;Other\nnew@example.net;New\n"), map[string]string{"on_conflict": "skip"})
		if again.Pick("counts") != `[{"created":1,"failed":0,"skipped":1,"total":2,"updated":0}]` || again.Body["errors_url"] != nil {
			t.Errorf("%s", again.Raw)
		}
		if got := h.must(200, "GET", "/contacts/imports?limit=1", nil).Pick("total", "has_more"); got != "[2,true]" {
			t.Error(got)
		}
		listed := h.must(200, "GET", "/contacts/imports?order=asc", nil).Body["data"].([]any)
		if got := fmt.Sprint(listed[0].(fields)["errors"]); got != fmt.Sprint(im.Body["errors"]) {
			t.Errorf("a list tells of what failed: %s", got)
		}
		if answer := h.Call("GET", "/contacts/imports?status=completed&status=done", nil); answer.Status != 400 || !strings.Contains(answer.Problems(), "status") {
			t.Errorf("a status that there is not: %s", answer.Raw)
		}
	})
}

func TestAnImportKeepsTheProofOfConsent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		first, second := h.made("/audience/lists", "First", nil), h.made("/audience/lists", "Second", nil)
		h.contact("ann@example.net", fields{"list_ids": []string{first}, "consent": fields{"source": "form", "ip": "198.51.100.7", "user_agent": "Mozilla/5.0"}})
		h.contact("bob@example.net", nil)
		h.imported([]byte("email,first_name\nann@example.net,Ann\nbob@example.net,Bob\n"), map[string]string{"list_id": second})
		h.must(202, "POST", "/contacts/imports", fields{"contacts": []fields{{"email": "ann@example.net", "last_name": "Lee"},
			{"email": "bob@example.net", "consent": fields{"source": "fair"}}}})
		h.work()

		ann, bob := h.must(200, "GET", "/contacts/ann@example.net", nil), h.must(200, "GET", "/contacts/bob@example.net", nil)

		if got := ann.Pick("first_name", "last_name"); got != `["Ann","Lee"]` {
			t.Error(got)
		}
		if ann.Text("consent", "source") != "form" || ann.Text("consent", "ip") != "198.51.100.7" || ann.Text("consent", "user_agent") != "Mozilla/5.0" {
			t.Errorf("%s", ann.Raw)
		}
		if bob.Text("consent", "source") != "fair" {
			t.Errorf("%s", bob.Raw)
		}
		for _, l := range append(ann.Body["lists"].([]any), bob.Body["lists"].([]any)...) {
			want := map[any]string{first: "form", second: "import"}[l.(fields)["id"]]
			if got := l.(fields)["consent"].(fields)["source"]; got != want {
				t.Errorf("consent to a list by %v, want %s", got, want)
			}
		}
	})
}

// file follows a link of ours.
func (h *house) file(link string) string {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.App.ServeFile(w, httptest.NewRequest(http.MethodGet, strings.TrimPrefix(link, "https://postrider.test"), nil))
	raw, _ := io.ReadAll(w.Body)
	return string(raw)
}

func TestColumnsAreFoundByTheirMap(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		content := []byte("Kunde\tPost\tTarif\nAnn\tann@example.net\tpro\n")
		im := h.imported(content, map[string]string{"column_map": `{"email":"Post","first_name":"Kunde","properties":{"plan":{"column":"tarif","type":"string"}}}`})
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Pick("first_name", "properties"); got != `["Ann",{"plan":"pro"}]` {
			t.Errorf("%s: %s", got, im.Raw)
		}
		for columns, want := range map[string]string{
			`{}`:                                   "column_map: No column holds addresses. Name it as column_map.email.",
			`{"email":"Post","first_name":"Nope"}`: `column_map: There is no column "Nope".`,
			`{"email":"Post","properties":{"nope":{"column":"Post"}}}`: "column_map.properties.nope: There is no such property. Define it first.",
			`{`: "column_map: Must be JSON.",
		} {
			if answer := h.upload("/contacts/imports", "a.csv", content, map[string]string{"column_map": columns}); answer.Status != 400 || answer.Problems() != want {
				t.Errorf("%s: %d %s", columns, answer.Status, answer.Raw)
			}
		}
	})
}

func TestTheSameOfSeveralMistakesIsToldEveryTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for _, c := range []struct {
			form map[string]string
			want string
		}{
			{map[string]string{"column_map": `{"first_name":"A","last_name":"B","unsubscribed":"C"}`}, `column_map: There is no column "A".`},
			{map[string]string{"column_map": "{", "segments": "[", "topics": "[", "send_confirmations": "?"}, "column_map: Must be JSON."},
		} {
			for range 10 {
				if answer := h.upload("/contacts/imports", "a.csv", []byte("email\nann@example.net\n"), c.form); answer.Problems() != c.want {
					t.Errorf("%s, want %s", answer.Raw, c.want)
				}
			}
		}
	})
}

func TestThreeEncodingsAreOne(t *testing.T) {
	t.Parallel()
	const text = "email,first_name\r\nzoe@example.net,Zoë\r\n\"jürgen@example.net\",\"Jürgen, der \"\"Große\"\"\"\r\n"
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	ansi, err := charmap.Windows1252.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, h *house) {
		for title, content := range map[string][]byte{"UTF-8": []byte(text), "with a mark": append([]byte("\xef\xbb\xbf"), text...), "UTF-16": wide, "Windows": ansi} {
			im := h.imported(content, nil)
			if got := im.Pick("status", "errors"); got != `["completed",[]]` {
				t.Errorf("%s: %s", title, im.Raw)
			}
			if got := h.must(200, "GET", "/contacts/j%C3%BCrgen@example.net", nil).Text("first_name"); got != `Jürgen, der "Große"` {
				t.Errorf("%s: %q", title, got)
			}
			h.must(200, "DELETE", "/contacts/j%C3%BCrgen@example.net", nil)
		}
	})
}

func TestHostileFilesAreRefusedOrEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		for title, c := range map[string]struct {
			content []byte
			want    string
		}{
			"empty":               {nil, "file: The first row must name the columns: the file is empty."},
			"a million columns":   {[]byte("email" + strings.Repeat(",x", 1_000_000)), "file: The first row must name the columns: a row must have at most"},
			"zeros":               {make([]byte, 1<<20), "file: The first row must name the columns: a row must have at most"},
			"no address":          {[]byte("a,b\n1,2\n"), "column_map: No column holds addresses."},
			"an archive":          {[]byte("PK\x03\x04\x14\x00\x08\x00../../x.csv"), "file: The file is not text."},
			"NUL in the header":   {[]byte("email,\x00\nann@example.net,1\n"), "file: The file is not text."},
			"wide without a mark": {[]byte("e\x00m\x00a\x00i\x00l\x00\n\x00"), "file: The file is not text."},
		} {
			answer := h.upload("/contacts/imports", "../../../etc/passwd", c.content, nil)
			if answer.Status != 400 || !strings.HasPrefix(answer.Problems(), c.want) {
				t.Errorf("%s: %d %.300s", title, answer.Status, answer.Raw)
			}
		}
		for title, c := range map[string]struct{ content, want string }{
			"NUL in a row":       {"email,first_name\na@example.net,x\x00y\nb@example.net,B\n", `["completed",{"created":1,"failed":1,"skipped":0,"total":2,"updated":0},null,"passwd"]`},
			"a row of a million": {"email,first_name\nc@example.net,C\n" + strings.Repeat("x,", 1_000_000) + "\nd@example.net,D\n", `["failed",{"created":1,"failed":0,"skipped":0,"total":1,"updated":0},"Stopped: a row must have at most 500 columns and 256 KB.","passwd"]`},
			"an open quote":      {"email,first_name\ne@example.net,\"E\n" + strings.Repeat("f@example.net,F\n", 100_000), `["failed",{"created":0,"failed":0,"skipped":0,"total":0,"updated":0},"Stopped: a row must have at most 500 columns and 256 KB.","passwd"]`},
		} {
			answer := h.upload("/contacts/imports", "..\\..\\etc\\passwd", []byte(c.content), nil)
			h.work()
			if got := h.must(200, "GET", "/contacts/imports/"+answer.Text("id"), nil).Pick("status", "counts", "failure", "filename"); got != c.want {
				t.Errorf("%s: %s", title, got)
			}
		}
		form := map[string]string{"Authorization": "Bearer " + h.Key, "Content-Type": "multipart/form-data; boundary=x"}
		for _, body := range []string{"--x\r\n", "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc", "--\r\n", "--x--\r\n"} {
			if answer := h.ask("POST", "/contacts/imports", []byte(body), form); answer.Status != 400 {
				t.Errorf("%q: %d %s", body, answer.Status, answer.Raw)
			}
		}
		alone := h.ask("POST", "/contacts/imports", []byte("--x\r\nContent-Disposition: form-data; name=\"list_id\"\r\n\r\n\r\n--x--\r\n"), form)
		if want := "file: The form needs a field file with the comma-separated values."; alone.Status != 400 || alone.Problems() != want {
			t.Errorf("without a file: %d %s", alone.Status, alone.Raw)
		}
		for title, body := range map[string]any{"nobody": fields{"contacts": []fields{}}, "too many": fields{"contacts": make([]fields, 10_001)}, "conflict": fields{"contacts": []fields{{}}, "on_conflict": "x"}} {
			if answer := h.Call("POST", "/contacts/imports", body); answer.Status != 400 {
				t.Errorf("%s: %d", title, answer.Status)
			}
		}
	})
}

// endless is a body that never ends by itself.
type endless struct{ sent int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.sent += int64(len(p))
	return len(p), nil
}

func TestAFileOverTheLimitIsCutOffBeforeItIsHeld(t *testing.T) {
	t.Parallel()
	h := &house{apptest.New(t, "sqlite"), t}
	for title, length := range map[string]int64{"announced": 1 << 30, "not announced": -1} {
		body := &endless{}
		r := httptest.NewRequest(http.MethodPost, "/v1/contacts/imports", io.LimitReader(body, 1<<30))
		r.ContentLength = length
		r.Header.Set("Authorization", "Bearer "+h.Key)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		w := httptest.NewRecorder()
		h.App.API.ServeHTTP(w, r)
		if w.Code != 413 || body.sent > 60<<20 {
			t.Errorf("%s: %d after %d bytes: %s", title, w.Code, body.sent, w.Body)
		}
	}
}

// shaky is a store of files whose next reads break off.
type shaky struct {
	blob.Store
	broken bool
}

var errAway = errors.New("the store is away")

func (s *shaky) Open(ctx context.Context, ref blob.Ref) (io.ReadCloser, error) {
	if s.broken {
		return io.NopCloser(iotest.ErrReader(errAway)), nil
	}
	return s.Store.Open(ctx, ref)
}

func TestAnImportOutlivesTroubleOfTheStore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		files, err := blob.NewFiles(t.TempDir(), h.App.World.Clock, h.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		store := &shaky{Store: files}
		service := audience.New(h.App.World, h.App.DB, audience.Parts{Keys: h.Keys, Blobs: store, Plans: h.App.Plans, Accounts: h.App.Accounts, Suppressions: h.App.Suppressions,
			Emails: h.App.Emails, Webhooks: h.App.Webhooks, Node: "one"})
		front := api.NewServer(api.Config{World: h.App.World, Keys: h.App.Keys, Sessions: h.App.Accounts, Rates: h.App.Plans.RateOf}, service.Routes())
		id := h.uploadTo(front, "/contacts/imports", "users.csv", []byte("email\nann@example.net\n"), nil).Text("id")
		step := func() string {
			if _, err := service.Workers()[0].Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			return h.must(200, "GET", "/contacts/imports/"+id, nil).Pick("status", "failure")
		}
		store.broken = true
		if got := step(); got != `["queued",null]` {
			t.Fatal(got)
		}

		store.broken = false
		h.Clock.Advance(time.Minute)

		if got := step(); got != `["completed",null]` {
			t.Error(got)
		}
	})
}

func TestAnImportGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		blobs, err := blob.NewFiles(t.TempDir(), h.App.World.Clock, h.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		process := func(node string) *audience.Service {
			return audience.New(h.App.World, h.App.DB, audience.Parts{Keys: h.Keys, Blobs: blobs, Plans: h.App.Plans, Accounts: h.App.Accounts, Suppressions: h.App.Suppressions,
				Emails: h.App.Emails, Webhooks: h.App.Webhooks, Node: node})
		}
		step := func(s *audience.Service) bool {
			busy, err := s.Workers()[0].Step(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return busy
		}
		first := process("first")
		var file bytes.Buffer
		file.WriteString("email,first_name\n")
		for i := range 12_500 {
			fmt.Fprintf(&file, "c%d@example.net,\"C, %d\"\n", i%50, i)
		}
		front := api.NewServer(api.Config{World: h.App.World, Keys: h.App.Keys, Sessions: h.App.Accounts, Rates: h.App.Plans.RateOf}, first.Routes())
		answer := h.uploadTo(front, "/contacts/imports", "users.csv", file.Bytes(), nil)
		step(first)
		if got := h.must(200, "GET", "/contacts/imports/"+answer.Text("id"), nil).Pick("status", "counts"); got != `["in_progress",{"created":50,"failed":0,"skipped":0,"total":10000,"updated":9950}]` {
			t.Fatal(got)
		}
		// The process takes the import up again and dies with it: another goes on once the lease is over.
		err = h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := queue.Claim(tx, audience.ImportLane, queue.Lease{Owner: "first/audience", For: time.Minute, Token: 1}, 1)
			return err
		})
		second := process("second")
		if err != nil || step(second) {
			t.Fatalf("two processes have the same import: %v", err)
		}
		h.Clock.Advance(2 * time.Minute)
		if err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err }); err != nil {
			t.Fatal(err)
		}
		for step(second) {
		}
		if got := h.must(200, "GET", "/contacts/imports/"+answer.Text("id"), nil).Pick("status", "counts"); got != `["completed",{"created":50,"failed":0,"skipped":0,"total":12500,"updated":12450}]` {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts/c49@example.net", nil).Pick("first_name"); got != `["C, 12499"]` {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/contacts?limit=1", nil).Pick("total"); got != "[50]" {
			t.Error(got)
		}
	})
}

func TestTenThousandContactsComeWithAllTheirProperties(t *testing.T) {
	t.Parallel()
	h := &house{apptest.New(t, "sqlite"), t}
	list := h.made("/audience/lists", "All", nil)
	properties := fields{}
	for i := range 20 {
		properties[fmt.Sprintf("p%d", i)] = i
	}
	people := make([]fields, 10_000)
	for i := range people {
		people[i] = fields{"email": fmt.Sprintf("person%d@example.net", i), "first_name": "Ann", "properties": properties}
	}
	h.must(202, "POST", "/audience/contacts/import", fields{"list_id": list, "contacts": people})
}

package audience_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"postrider/platform/blob"
	"postrider/product/audience"
	"postrider/product/plan"
)

func TestAPersonIsForgottenWhereverTheyWereTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.must(201, "POST", "/webhooks", fields{"endpoint": "https://app.example.com/hook", "events": []string{"contact.*", "import.*"}})
		h.property("seats", "number")
		h.contact("ann@example.net", fields{"first_name": "Ann"})
		im := h.imported([]byte("email,seats\nAnn@Example.net,x\nbob@example.net,x\n"), nil).Text("id")
		h.must(400, "POST", "/contacts", fields{"email": "ann@example.net", "properties": fields{"seats": "x"}})
		h.follow()
		if got := string(h.must(200, "GET", "/logs?search=ann@example.net", nil).Raw); !strings.Contains(got, "ann@example.net") {
			t.Fatalf("nothing was logged: %s", got)
		}
		h.Clock.Advance(time.Minute)

		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		h.work()
		h.follow()

		h.nothingOf("ann@example.net")
		if got := h.must(200, "GET", "/logs?search=ann@example.net", nil).Column("id"); got != "" {
			t.Errorf("the log still finds %s", got)
		}
		errors := h.must(200, "GET", "/contacts/imports/"+im, nil).Body["errors"].([]any)
		if errors[0].(fields)["email"] != nil || errors[1].(fields)["email"] != "bob@example.net" {
			t.Errorf("%v", errors)
		}
	})
}

func TestAPersonIsForgottenInTheFilesOfWhatCouldNotBeImported(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("seats", "number")
		h.contact("ann@bücher.example", nil)
		// More than a hundred fail, so that only the file names the last.
		im := h.imported([]byte("email,seats\n"+strings.Repeat("bob@example.net,x\n", 150)+"Ann@Bücher.Example,x\n\"=1+1\",x\n"), nil).Text("id")
		file := func() string { return h.file(h.must(200, "GET", "/contacts/imports/"+im, nil).Text("errors_url")) }
		before := file()
		h.must(202, "POST", "/audience/contacts/ann@bücher.example/erase", nil)
		h.work()
		if after := file(); !strings.Contains(before, ",Ann@Bücher.Example,") || after != strings.Replace(before, ",Ann@Bücher.Example,", ",,", 1) {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

func TestMailThatCameAfterAnErasureIsNotForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("ann@example.net", nil)
		waiting := h.must(202, "POST", "/emails", fields{"from": sender, "to": "ann@example.net", "subject": "Later", "text": "Later", "scheduled_at": "in 10 minutes"}).Text("id")
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		h.work()
		h.Clock.Advance(5 * time.Minute)
		after := h.Send("ann@example.net") // who is a customer again
		h.Deliver()
		h.must(200, "POST", "/emails/"+waiting+"/cancel", nil)
		h.Clock.Advance(2 * time.Hour)
		h.work()
		if raw := string(h.must(200, "GET", "/emails/"+waiting, nil).Raw); strings.Contains(raw, "ann@example.net") {
			t.Errorf("%s", raw)
		}
		if raw := string(h.must(200, "GET", "/emails/"+after, nil).Raw); !strings.Contains(raw, "ann@example.net") {
			t.Errorf("%s", raw)
		}
	})
}

func TestAnImportThatWasAskedForBringsNobodyBackWhoIsForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("seats", "number")
		h.contact("ann@example.net", nil)
		im := h.upload("/contacts/imports", "users.csv", []byte("email,seats\nANN@example.net,1\nann@example.net,x\nbob@example.net,2\n"), nil).Text("id")
		h.Clock.Advance(time.Second)
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		for _, w := range h.App.Audience.Workers()[2:3] { // before the import has begun
			h.Finish(w.Step)
		}
		h.work()

		h.must(404, "GET", "/contacts/ann@example.net", nil)
		const forgotten = `"message":"The person was forgotten after the import was asked for."`
		if got := h.must(200, "GET", "/contacts/imports/"+im, nil).Pick("status", "counts", "errors"); got != `["completed",{"created":1,"failed":2,"skipped":0,"total":3,"updated":0},`+
			`[{"email":null,`+forgotten+`,"row":1},{"email":null,`+forgotten+`,"row":2}]]` {
			t.Error(got)
		}

		h.Clock.Advance(time.Hour)
		h.work()
		h.nothingOf("ann@example.net")
		if again := h.imported([]byte("email\nann@example.net\n"), nil); again.Pick("counts") != `[{"created":1,"failed":0,"skipped":0,"total":1,"updated":0}]` {
			t.Errorf("who is a customer again: %s", again.Raw)
		}
	})
}

func TestAPersonIsForgottenInEverySpellingThatCouldNotBeImported(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.contact("änn@bücher.example", nil)
		im := h.must(202, "POST", "/contacts/imports", fields{"contacts": []fields{{"email": "Ännchen <ÄNN@Bücher.example>", "properties": fields{"nope": 1}},
			{"email": "ÄNN@xn--bcher-kva.example", "properties": fields{"nope": 1}}, {"email": "bob@example.net", "properties": fields{"nope": 1}}}}).Text("id")
		h.work()
		h.Clock.Advance(time.Second)
		h.must(202, "POST", "/audience/contacts/änn@bücher.example/erase", nil)
		h.work()
		var left []any
		for _, e := range h.must(200, "GET", "/contacts/imports/"+im, nil).Body["errors"].([]any) {
			left = append(left, e.(fields)["email"])
		}
		if got := fmt.Sprint(left); got != "[<nil> <nil> bob@example.net]" {
			t.Error(got)
		}
	})
}

func TestAPersonOfOneWorkspaceIsNotForgottenInAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		_, key := h.NewWorkspace(plan.Unlimited)
		im := h.CallAs(key, "POST", "/contacts/imports", fields{"contacts": []fields{{"email": "ann@example.net", "properties": fields{"nope": 1}}}}, nil).Text("id")
		waits := fields{"contacts": []fields{{"email": "ann@example.net"}}}
		h.contact("ann@example.net", nil)
		h.work()
		later := h.CallAs(key, "POST", "/contacts/imports", waits, nil).Text("id")
		h.Clock.Advance(time.Second)
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		h.work()
		first := h.CallAs(key, "GET", "/contacts/imports/"+im, nil, nil)
		if got := first.Body["errors"].([]any)[0].(fields)["email"]; got != "ann@example.net" || !strings.Contains(h.file(first.Text("errors_url")), "ann@example.net") {
			t.Errorf("%s\n%s", first.Raw, h.file(first.Text("errors_url")))
		}
		if got := h.CallAs(key, "GET", "/contacts/imports/"+later, nil, nil).Pick("counts"); got != `[{"created":1,"failed":0,"skipped":0,"total":1,"updated":0}]` {
			t.Error(got)
		}
	})
}

// meddler is a store without files that lets something happen whenever one is asked for.
type meddler struct {
	blob.Store
	meddle func()
}

func (m meddler) Open(context.Context, blob.Ref) (io.ReadCloser, error) {
	m.meddle()
	return nil, blob.ErrNotFound
}

func TestWhatIsForgottenIsNotLoggedByAFollowerThatLagsBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("seats", "number")
		h.imported([]byte("email,seats\n"+strings.Repeat("bob@example.net,x\n", 150)), nil) // whose file is asked for after the log was gone through
		h.follow()
		h.contact("ann@example.net", nil)
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		asked := 0
		late := audience.New(h.App.World, h.App.DB, audience.Parts{Keys: h.Keys, Blobs: meddler{meddle: func() { asked++; h.follow() }}, Plans: h.App.Plans,
			Accounts: h.App.Accounts, Templates: h.App.Templates, Suppressions: h.App.Suppressions, Emails: h.App.Emails, Webhooks: h.App.Webhooks, Logs: h.App.Logs})
		for _, w := range late.Workers() {
			h.Finish(w.Step)
		}
		h.follow()
		if got := h.must(200, "GET", "/logs?search=ann@example.net", nil); got.Column("id") != "" || asked == 0 {
			t.Errorf("asked for %d files, and the log finds %s", asked, got.Raw)
		}
		h.nothingOf("ann@example.net")
	})
}

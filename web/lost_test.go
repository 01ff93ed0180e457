package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
	"postrider/product/plan"
)

func TestWhatWasWrittenOutlivesItsSession(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	letter := url.Values{"name": {"News"}, "subject": {"What is new"}, "html": {`<p class="long">A long letter</p>`}, "content": {"own"}, "when": {"now"}, "confirm_password": {"secret"}}
	gone := *owner.cookie
	gone.Value = "ended"
	answer := visitor{t, in, &gone}.post("/broadcasts/new", letter)
	if answer.Code != http.StatusUnauthorized || !strings.Contains(said(answer), `href="/signin" target="_blank"`) {
		t.Fatalf("%d %s", answer.Code, said(answer))
	}
	kept := owner.filled(answer.Body.String(), "/broadcasts/new")
	if letter.Del("confirm_password"); kept.Encode() != letter.Encode() {
		t.Errorf("kept %v", kept)
	}
	if again := owner.post("/broadcasts/new", kept); again.Code != http.StatusSeeOther {
		t.Errorf("posted again: %d %s", again.Code, said(again))
	}
}

func TestAFormOfAWorkspaceThatWasLeftIsKept(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	other, _ := in.NewWorkspace(plan.Unlimited)
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE account_member SET user_id = (SELECT user_id FROM account_member WHERE workspace_id = $1) WHERE workspace_id = $2`, in.Workspace, other)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cookie, err := in.App.Accounts.Enter(context.Background(), in.Owner(), account.Visitor{})
	if err != nil {
		t.Fatal(err)
	}
	owner, ids := visitor{t, in, cookie}, []string{string(in.Workspace), string(other)}
	refused := 0
	for _, id := range ids { // the session is in one of them
		answer := owner.submit("/w/"+id+"/templates/new", url.Values{"name": {"A template"}})
		if answer.Code != http.StatusConflict {
			continue
		}
		refused++
		if page := said(answer); !strings.Contains(page, `href="/w/`+id+`" target="_blank"`) || !strings.Contains(page, `name="name" value="A template"`) {
			t.Error(page)
		}
	}
	if refused != 1 {
		t.Errorf("%d of the two workspaces refused the form", refused)
	}
}

func TestAFormThatIsRefusedComesBackAsItWasFilledIn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	broadcast := in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "subject": "News", "html": "<p>Hi</p>"}).Text("id")
	in.VerifiedDomain(in.Workspace, "scheduled.test")
	later := in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "a@scheduled.test", "to": "ada@example.net", "subject": "Later", "text": "Hi", "scheduled_at": "in 3 days"}).Text("id")
	customer := in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants", map[string]any{"name": "Shop", "external_id": "shop"}).Text("id")
	tooLong := strings.Repeat("x", 501)
	for _, form := range []struct {
		path   string
		values url.Values
		want   string
	}{
		{"/broadcasts/" + broadcast + "/test", url.Values{"to": {"nobody at all"}}, `name="to" value="nobody at all"`},
		{"/broadcasts/" + broadcast + "/test", url.Values{"to": {"nobody at all"}, "back": {"review"}}, `name="to" value="nobody at all"`},
		{"/settings/members/invite", url.Values{"email": {"nobody"}, "role": {"viewer"}}, `<option value="viewer" selected>`},
		{"/settings/connections", url.Values{"name": {"Our account"}, "api_token": {""}}, `value="Our account"`},
		{"/settings/relay", url.Values{"host": {"smtp.example.net"}, "port": {"mail"}, "security": {"tls"}}, `name="port" inputmode="numeric" value="mail"`},
		{"/customers/" + customer + "/pause", url.Values{"reason": {tooLong}, "to": {"paused"}}, `name="reason" type="text" value="` + tooLong + `"`},
		{"/emails/" + later + "/reschedule", url.Values{"scheduled_at": {"2001-01-01T10:00"}}, `value="2001-01-01T10:00"`},
	} {
		answer := owner.post(form.path, form.values)
		if page := said(answer); answer.Code < 400 || answer.Code >= 500 || !strings.Contains(page, form.want) || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s %v: %d %s", form.path, form.values, answer.Code, page)
		}
	}
	if page := said(owner.post("/broadcasts/"+broadcast+"/test", url.Values{"to": {"nobody"}})); !strings.Contains(page, `id="compose" method="post" action="`+owner.path("/broadcasts/"+broadcast+"/edit")) {
		t.Error("the form of the broadcast leads to its test")
	}
}

func TestAnActionThatFailsLeadsBackToItsPage(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	action := owner.path("/webhooks/" + nobody + "/status")
	for from, want := range map[string]string{"http://example.com" + owner.path("/webhooks?offset=50"): `href="` + owner.path("/webhooks") + `?offset=50"`,
		"http://evil.test/webhooks": "Back to the start", "http://example.com" + action: "Back to the start", "": "Back to the start"} {
		if answer := owner.ask(http.MethodPost, action, map[string]string{"Referer": from}); answer.Code != http.StatusNotFound || !strings.Contains(said(answer), want) {
			t.Errorf("from %s: %d %.1500s", from, answer.Code, said(answer))
		}
	}
}

func TestNumbersAndTimesAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	if page := main(owner.open("/settings/plan")); !strings.Contains(page, "00,000 requests a second") {
		t.Error("large numbers have no separators")
	}
	in.VerifiedDomain(in.Workspace, "scheduled.test")
	at := in.App.World.Clock.Now().Add(72 * time.Hour).UTC().Truncate(time.Minute)
	id := in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "a@scheduled.test", "to": "ada@example.net", "subject": "Later", "text": "Hi", "scheduled_at": at.Format(time.RFC3339)}).Text("id")
	page := main(owner.open("/emails/" + id))
	written := at.Format("Mon 2 Jan 2006, 15:04 UTC")
	for _, want := range []string{"Goes out " + written, "Scheduled for " + written, `value="` + at.Format("2006-01-02T15:04") + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestSettingsOfADomainThatAreRefusedComeBackAsTheyWereChosen(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	path := "/domains/" + in.DomainID + "/settings"
	form := owner.filled(owner.open("/domains/"+in.DomainID+"?tab=settings"), path)
	form.Set("way", "direct")
	form.Set("tls", "enforced")
	form.Set("custom_return_path", "not a label")
	answer := owner.post(path, form)
	if kept := owner.filled(answer.Body.String(), path); answer.Code < 400 || kept.Encode() != form.Encode() {
		t.Errorf("%d kept %v, want %v", answer.Code, kept, form)
	}
}

func TestALetterIsNotThrownAwayForATemplateThatNobodyChose(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts",
			map[string]any{"name": "News", "subject": "News", "html": "<p>A long letter</p>"}).Text("id")
		form := owner.filled(owner.open(path+"/edit"), path+"/edit")
		form.Set("content", "template")
		answer := owner.post(path+"/edit", form)
		kept := owner.filled(answer.Body.String(), path+"/edit")
		if answer.Code != http.StatusBadRequest || kept.Get("html") != "<p>A long letter</p>" || kept.Get("content") != "template" {
			t.Errorf("%d kept %v", answer.Code, kept)
		}
		if got := in.Call(http.MethodGet, path, nil).Text("html"); got != "<p>A long letter</p>" {
			t.Errorf("what is stored is %q", got)
		}
	})
}

func TestAPaceThatIsNoNumberIsRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts",
		map[string]any{"name": "News", "throttle_per_hour": 500}).Text("id")
	form := owner.filled(owner.open(path+"/edit"), path+"/edit")
	form.Set("throttle_per_hour", "1e3")
	answer := owner.post(path+"/edit", form)
	if kept := owner.filled(answer.Body.String(), path+"/edit"); answer.Code != http.StatusBadRequest || kept.Get("throttle_per_hour") != "1e3" {
		t.Errorf("%d kept %v", answer.Code, kept)
	}
	if got := in.Call(http.MethodGet, path, nil).Text("throttle_per_hour"); got != "500" {
		t.Errorf("the pace is %q", got)
	}
}

func TestAnEmptyNameIsNotSaidToBeSaved(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	made := func(path string, body map[string]any) string {
		t.Helper()
		body["name"] = "Friends"
		return in.Must(http.StatusCreated, http.MethodPost, path, body).Text("id")
	}
	for _, path := range []string{
		"/audience/segments/" + made("/segments", map[string]any{"type": "manual"}) + "/edit",
		"/audience/lists/" + made("/audience/lists", map[string]any{}) + "/edit",
		"/audience/topics/" + made("/topics", map[string]any{"default_subscription": "opt_in"}),
		"/templates/" + made("/templates", map[string]any{"subject": "Hi", "text": "Hi"}) + "/settings",
		"/customers/" + made("/managed-tenants", map[string]any{"external_id": "friends"}),
	} {
		answer := owner.post(path, url.Values{"name": {""}, "description": {"Typed before"}, "metadata": {`{"a": "Typed before"}`}, "type": {"manual"}})
		if page := said(answer); answer.Code != http.StatusBadRequest || !strings.Contains(page, `aria-describedby="e-name`) || !strings.Contains(page, "Typed before") ||
			!strings.Contains(answer.Body.String(), "Friends") {
			t.Errorf("%s: %d %s", path, answer.Code, page)
		}
	}
}

func TestWhatNoInputSaysStandsAboveTheForm(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	id := in.Must(http.StatusCreated, http.MethodPost, "/templates", map[string]any{"name": "Hi", "subject": "Hi", "text": "Hi"}).Text("id")
	if page := said(owner.post("/templates/"+id+"/edit", url.Values{"subject": {"Hi"}})); !strings.Contains(page, `id="e-html">Either html or text is required.`) {
		t.Errorf("a template without words: %s", page)
	}
	// The form has no input for the kind of a segment that nobody offers.
	answer := owner.post("/audience/segments/new", url.Values{"name": {"Friends"}, "type": {"secret"}})
	if page := said(answer); answer.Code != http.StatusBadRequest || strings.Count(page, "<p>type: ") != 1 {
		t.Errorf("a kind that there is not: %d %s", answer.Code, page)
	}
}

func TestRecordsThatWereChosenForCloudflareStayChosen(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	page := "/domains/" + in.DomainID
	var accounts []string
	for _, name := range []string{"Ours", "Theirs"} {
		id := in.App.World.NewID()
		accounts = append(accounts, id)
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`
				INSERT INTO dnsprovider_connection (id, workspace_id, provider, name, token, token_end, created_at)
				VALUES ($1, $2, 'cloudflare', $3, $4, '0000', $5)`, id, in.Workspace, name, []byte("sealed"), tx.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, form := range []struct {
		path   string
		values url.Values
	}{
		{page + "/cloudflare-link", url.Values{"inbound": {"on"}}}, // there is no template for it
		{page + "/cloudflare", url.Values{"overwrite": {"on"}, "connection_id": accounts[:1]}},
		{page + "/cloudflare", url.Values{"overwrite": {"on"}, "connection_id": accounts[1:]}},
	} {
		answer := owner.post(form.path, form.values)
		if kept := owner.filled(answer.Body.String(), form.path); answer.Code < 400 || kept.Encode() != form.values.Encode() {
			t.Errorf("%s %v: %d kept %v", form.path, form.values, answer.Code, kept)
		}
	}
}

func TestHowLongAnOldSecretSignsStaysChosen(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	hook := "/webhooks/" + in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": "https://app.example.com/hooks", "events": []string{"email.sent"}}).Text("id")
	path := hook + "/rotate"
	first := owner.filled(owner.open(hook+"?tab=secret"), path)
	first.Set("confirm_password", "correct horse battery")
	if answer := owner.post(path, first); answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, said(answer))
	}
	now := url.Values{"overlap": {"0"}}
	answer := owner.post(path, now) // two secrets sign already
	if kept := owner.filled(answer.Body.String(), path); answer.Code < 400 || kept.Encode() != now.Encode() {
		t.Errorf("%d kept %v", answer.Code, kept)
	}
}

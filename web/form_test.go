package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/product/plan"
)

// open returns a page of the workspace, which must be there.
func (v visitor) open(path string) string {
	v.t.Helper()
	answer := v.ask(http.MethodGet, v.path(path), nil)
	if answer.Code != http.StatusOK {
		v.t.Fatalf("%s: %d %s", path, answer.Code, said(answer))
	}
	return answer.Body.String()
}

func (v visitor) path(path string) string { return "/w/" + string(v.in.Workspace) + path }

// post submits a form of the workspace.
func (v visitor) post(path string, form url.Values) *httptest.ResponseRecorder {
	v.t.Helper()
	return v.submit(v.path(path), form)
}

// submit submits a form of any page.
func (v visitor) submit(path string, form url.Values) *httptest.ResponseRecorder {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(v.cookie)
	answer := httptest.NewRecorder()
	v.in.App.Handler().ServeHTTP(answer, r)
	return answer
}

// said is what a page says between its navigation and its end.
func said(answer *httptest.ResponseRecorder) string {
	_, main, _ := strings.Cut(answer.Body.String(), "<main")
	return main
}

// filled is what a browser would post of a form that nobody has touched.
func (v visitor) filled(page, action string) url.Values {
	v.t.Helper()
	document, err := html.Parse(strings.NewReader(page))
	if err != nil {
		v.t.Fatal(err)
	}
	for node := range document.Descendants() {
		if node.Data == "form" && attribute(node, "action") == v.path(action) {
			return valuesOf(node)
		}
	}
	v.t.Fatalf("there is no form for %s", action)
	return nil
}

func valuesOf(form *html.Node) url.Values {
	values := url.Values{}
	for node := range form.Descendants() {
		name, kind := attribute(node, "name"), attribute(node, "type")
		switch {
		case name == "":
		case node.Data == "input" && (kind != "checkbox" && kind != "radio" || has(node, "checked")):
			values.Add(name, attribute(node, "value"))
		case node.Data == "textarea" && node.FirstChild != nil:
			values.Add(name, node.FirstChild.Data)
		case node.Data == "select":
			values.Add(name, chosenOf(node))
		}
	}
	return values
}

// chosenOf is the option of a select that is chosen, or the first.
func chosenOf(list *html.Node) string {
	var options []*html.Node
	for node := range list.Descendants() {
		if node.Data == "option" {
			options = append(options, node)
		}
	}
	if len(options) == 0 {
		return ""
	}
	return attribute(options[max(slices.IndexFunc(options, func(o *html.Node) bool { return has(o, "selected") }), 0)], "value")
}

func has(node *html.Node, name string) bool {
	return slices.ContainsFunc(node.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// more is one thing more than the longest page of the API holds.
const more = 201

func TestSavingAFormChangesNothingThatItDoesNotShow(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		var tenants, lists []string
		for i := range more {
			tenants = append(tenants, in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants", map[string]any{"name": fmt.Sprintf("Shop %d", i), "external_id": fmt.Sprintf("shop_%d", i)}).Text("id"))
			lists = append(lists, in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": fmt.Sprintf("List %d", i)}).Text("id"))
		}
		hook := in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": "https://app.example.com/hooks", "events": []string{"email.sent"}, "managed_tenant_ids": tenants[:1],
			"domain_ids": []string{in.DomainID}, "custom_headers": map[string]string{"X-Key": "secret"}}).Text("id")
		draft := in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi</p>", "audience_id": lists[0]}).Text("id")

		page := owner.open("/webhooks/" + hook + "?tab=settings")
		if answer := owner.post("/webhooks/"+hook+"/settings", owner.filled(page, "/webhooks/"+hook+"/settings")); answer.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", answer.Code, said(answer))
		}
		if got, want := in.Call(http.MethodGet, "/webhooks/"+hook, nil).Pick("managed_tenant_ids", "domain_ids", "events"), fmt.Sprintf(`[[%q],[%q],["email.sent"]]`, tenants[0], in.DomainID); got != want {
			t.Errorf("the webhook hears of %s, want %s", got, want)
		}

		form := owner.filled(owner.open("/broadcasts/"+draft+"/edit"), "/broadcasts/"+draft+"/edit")
		form.Set("subject", "Other news")
		if answer := owner.post("/broadcasts/"+draft+"/edit", form); answer.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", answer.Code, said(answer))
		}
		if got := in.Call(http.MethodGet, "/broadcasts/"+draft, nil).Text("audience_id"); got != lists[0] {
			t.Errorf("the broadcast is for %q, want %q", got, lists[0])
		}
		if page := owner.open("/broadcasts"); !strings.Contains(page, "List 0") || strings.Contains(page, "Deleted") {
			t.Error("the list of broadcasts does not name whom they are for")
		}
	})
}

func TestEditingAContactLeavesTheOtherValuesAlone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		for key, kind := range map[string]string{"address": "string", "vip": "boolean", "seats": "number"} {
			in.Must(http.StatusCreated, http.MethodPost, "/contact-properties", map[string]any{"key": key, "type": kind})
		}
		id := in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net", "properties": map[string]any{"address": "1 Main St\nLondon", "vip": true, "seats": 3}}).Text("id")
		path := "/audience/contacts/" + id + "/edit"
		form := owner.filled(owner.open(path), path)
		form.Set("first_name", "Ada")
		form.Set("p.seats", "4")
		if answer := owner.post(path, form); answer.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", answer.Code, said(answer))
		}
		got := in.Call(http.MethodGet, "/audience/contacts/"+id, nil).Pick("first_name", "properties")
		if want := `["Ada",{"address":"1 Main St\nLondon","seats":4,"vip":true}]`; got != want {
			t.Errorf("the contact is %s, want %s", got, want)
		}
	})
}

func TestAFallbackKeepsItsLines(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	made := owner.post("/audience/properties/new", url.Values{"key": {"address"}, "type": {"string"}, "fallback_value": {"1 Main St\r\nLondon"}})
	if made.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", made.Code, said(made))
	}
	id := in.Call(http.MethodGet, "/contact-properties", nil).Column("id")
	path := "/audience/properties/" + id
	form := owner.filled(owner.open(path), path)
	form.Set("label", "Where they live")
	if saved := owner.post(path, form); saved.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", saved.Code, said(saved))
	}
	if got, want := in.Call(http.MethodGet, "/contact-properties/"+id, nil).Pick("label", "fallback_value"), `["Where they live","1 Main St\nLondon"]`; got != want {
		t.Errorf("the property is %s, want %s", got, want)
	}
	if page := owner.open(path); !strings.Contains(page, ">1 Main St\nLondon</textarea>") {
		t.Error("the form cannot show several lines")
	}
}

func TestPressingSendTwiceSendsOneEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		write := func() url.Values {
			form := owner.filled(owner.open("/emails/new"), "/emails/new")
			form.Set("to", `"Doe, Jane" <jane@example.net>, ada@example.net`)
			return form
		}
		send := func(form url.Values) string {
			t.Helper()
			answer := owner.post("/emails/new", form)
			if answer.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", answer.Code, said(answer))
			}
			return answer.Header().Get("Location")
		}
		form := write()
		first := send(form)
		if again := send(form); again != first {
			t.Errorf("the second press led to %s, the first to %s", again, first)
		}
		form.Set("subject", "Something else")
		if changed := send(form); changed == first {
			t.Error("what was changed before the second press is not sent")
		}
		if other := send(write()); other == first {
			t.Error("the same words in a new form are not sent")
		}
		if got := in.Email(first[strings.LastIndex(first, "/")+1:]).Pick("to"); !strings.Contains(got, "jane@example.net") || !strings.Contains(got, "ada@example.net") {
			t.Errorf("it went to %s", got)
		}
	})
}

func TestPressingReplyTwiceSendsOneAnswer(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	tried := owner.post("/inbox/try", url.Values{"to": {"hello@" + apptest.Domain}})
	path := strings.TrimPrefix(tried.Header().Get("Location"), owner.path(""))
	form := owner.filled(owner.open(path), path+"/reply")
	form.Set("text", "It does.")
	first, second := owner.post(path+"/reply", form), owner.post(path+"/reply", form)
	if to := first.Header().Get("Location"); first.Code != http.StatusSeeOther || second.Header().Get("Location") != to {
		t.Errorf("%d leads to %s, then %d to %s", first.Code, to, second.Code, second.Header().Get("Location"))
	}
}

func TestAScheduledEmailIsChangedByThoseWhoMaySend(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Must(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "hello@" + apptest.Domain, "to": "ada@example.net", "subject": "Later", "text": "Hi", "scheduled_at": "in 2 hours"}).Text("id")
	owner := signedIn(t, in, api.Owner)
	answer := owner.post("/emails/"+id+"/reschedule", url.Values{"scheduled_at": {"2001-01-01T10:00"}})
	if page := said(answer); answer.Code < 400 || !strings.Contains(page, "Goes out") || !strings.Contains(page, `role="alert"`) {
		t.Errorf("a time that has passed: %d %s", answer.Code, page)
	}
	if page := owner.open("/emails/" + id + "?shared=https://evil.example/"); strings.Contains(page, "evil.example") {
		t.Error("the page shows a link that somebody else made up")
	}
	if answer := owner.post("/emails/"+id+"/share", nil); answer.Code != http.StatusOK || !strings.Contains(said(answer), "Anyone with this link") {
		t.Errorf("sharing: %d %s", answer.Code, said(answer))
	}
	if page := signedIn(t, in, api.Viewer).open("/emails/" + id); strings.Contains(page, "/cancel\"") || strings.Contains(page, "/reschedule\"") {
		t.Error("a viewer is offered to cancel or move it")
	}
}

func TestTakingAnAddressOffAListComesBackToItsPlace(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Must(http.StatusCreated, http.MethodPost, "/suppressions", map[string]any{"email": "gone@example.net"})
	owner, place := signedIn(t, in, api.Owner), "/suppressions?q=gone&reason=manual"
	answer := owner.post("/suppressions/remove", owner.filled(owner.open(place), "/suppressions/remove"))
	if to := answer.Header().Get("Location"); to != owner.path(place) {
		t.Errorf("%d leads to %s", answer.Code, to)
	}
}

func TestPagesPromiseNothingThatARoleCannotSee(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Must(http.StatusCreated, http.MethodPost, "/suppressions", map[string]any{"email": "gone@example.net"})
	if page := signedIn(t, in, api.Marketer).open("/people/gone@example.net"); strings.Contains(page, "Can be mailed") {
		t.Error("a marketer is told that a suppressed address can be mailed")
	}
	if page := signedIn(t, in, api.Owner).open("/people/gone@example.net"); !strings.Contains(page, "Suppressed") {
		t.Error("the owner is not told that the address is suppressed")
	}
}

func TestADeliveryThatHasEndedIsNotReadAgainAndAgain(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	hook := in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": "https://nowhere.example/hooks", "events": []string{"*"}}).Text("id")
	delivery := in.Browse(http.MethodPost, "/v1/webhooks/"+hook+"/test/live", map[string]any{})
	if delivery.Text("status") != "failed" {
		t.Fatalf("%d %s", delivery.Status, delivery.Raw)
	}
	if page := signedIn(t, in, api.Viewer).open("/webhooks/deliveries/" + delivery.Text("id")); strings.Contains(page, "data-again") {
		t.Error("the page of a viewer asks for ever")
	}
}

func TestWhatIsRefusedStandsBesideItsForm(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net"})
	segment := in.Must(http.StatusCreated, http.MethodPost, "/segments", map[string]any{"name": "Friends", "type": "manual"}).Text("id")
	path := "/audience/segments/" + segment + "/contacts"
	tooMany := strings.Repeat("ada@example.net, ", 1001)
	if answer := owner.post(path, url.Values{"emails": {tooMany}}); answer.Code < 400 || !strings.Contains(said(answer), tooMany+"</textarea>") {
		t.Errorf("people for a segment: %d %.2000s", answer.Code, said(answer))
	}
	answer := owner.post(path, url.Values{"emails": {"ada@example.net, a@example.net, b@example.net, c@example.net, d@example.net, e@example.net"}})
	if answer.Code != http.StatusSeeOther || !strings.Contains(answer.Header().Get("Set-Cookie"), url.QueryEscape("and 2 others")) {
		t.Errorf("people who are no contacts: %d %s", answer.Code, answer.Header().Get("Set-Cookie"))
	}
	hook := url.Values{"url": {"https://app.example.com/hooks"}, "events": {"email.sent"}, "custom_headers": {"Authorization Bearer x"}}
	if answer := owner.post("/webhooks/new", hook); answer.Code != http.StatusBadRequest && answer.Code != http.StatusUnprocessableEntity {
		t.Errorf("a header without a colon: %d %s", answer.Code, said(answer))
	}
}

func TestAPlanWithoutCustomersOpensEveryOtherPage(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite", func(s *app.Settings) {
		s.Plans = plan.Shipped()
		limited := s.Plans[plan.Unlimited]
		limited.Limits.ManagedTenants = new(int64)
		s.Plans[plan.Unlimited] = limited
	})
	owner := signedIn(t, in, api.Owner)
	walk(in, http.MethodGet, func(path string, whole bool) {
		if answer := owner.ask(http.MethodGet, path, nil); whole && answer.Code >= 400 && !strings.HasPrefix(path, "/system") && !strings.HasSuffix(path, "/sandbox") {
			t.Errorf("%s: %d %.300s", path, answer.Code, said(answer))
		}
	})
}

func TestThePlanSaysHowLongReceivedMailIsKept(t *testing.T) {
	t.Parallel()
	days := int64(365)
	for want, kept := range map[string]*int64{"<dt>Received mail kept</dt><dd>until you delete it": nil, "<dt>Received mail kept</dt><dd>365 days": &days} {
		in := apptest.New(t, "sqlite", func(s *app.Settings) {
			s.Plans = plan.Shipped()
			changed := s.Plans[plan.Unlimited]
			changed.Limits.ReceivedRetentionDays = kept
			s.Plans[plan.Unlimited] = changed
		})
		if page := signedIn(t, in, api.Owner).open("/settings/plan"); !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
}

func TestOnlyABroadcastThatWasLookedAtIsSent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
		in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net", "list_id": list})
		path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts",
			map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi</p>", "audience_id": list}).Text("id")
		form := owner.filled(owner.open(path+"/review"), path+"/send")
		in.Clock.Advance(time.Second)
		in.Must(http.StatusOK, http.MethodPatch, path, map[string]any{"subject": "Something else"})
		if answer := owner.post(path+"/send", form); answer.Code != http.StatusConflict || !strings.Contains(said(answer), "Something else") {
			t.Errorf("%d %.600s", answer.Code, said(answer))
		}
		if status := in.Call(http.MethodGet, path, nil).Text("status"); status != "draft" {
			t.Errorf("it is %s", status)
		}
		if answer := owner.post(path+"/send", owner.filled(owner.open(path+"/review"), path+"/send")); answer.Code != http.StatusSeeOther {
			t.Errorf("%d %.600s", answer.Code, said(answer))
		}
		if status := in.Call(http.MethodGet, path, nil).Text("status"); status == "draft" {
			t.Error("it is not sent")
		}
	})
}

func TestAnOldButtonOfABroadcastSaysWhatHappenedSince(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": "ada@example.net", "list_id": list})
	draft := map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi</p>", "audience_id": list}
	draft["scheduled_at"] = in.Clock.Now().Add(72 * time.Hour)
	path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", draft).Text("id")
	press := owner.filled(owner.open(path+"/review"), path+"/send")
	pressed := func(want string) {
		t.Helper()
		in.Clock.Advance(time.Second)
		answer := owner.post(path+"/send", press)
		if said := answer.Header().Get("Set-Cookie"); answer.Code != http.StatusSeeOther || !strings.Contains(said, url.QueryEscape(want)) {
			t.Errorf("%d says %s, not %q", answer.Code, said, want)
		}
	}
	pressed("Scheduled. You can change")
	pressed("It is scheduled already, for ")
	in.Must(http.StatusOK, http.MethodPost, path+"/cancel", nil)
	pressed("It was cancelled since you looked.")
	delete(draft, "scheduled_at")
	path = "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", draft).Text("id")
	press = owner.filled(owner.open(path+"/review"), path+"/send")
	pressed("")
	pressed("It is on its way already.")
}

func TestWhoGetsABroadcastIsASumThatPeopleCanFollow(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	list := in.Must(http.StatusCreated, http.MethodPost, "/audience/lists", map[string]any{"name": "Readers"}).Text("id")
	for _, email := range []string{"ada@example.net", "bob@example.net", "gone@example.net", "left@example.net"} {
		in.Must(http.StatusCreated, http.MethodPost, "/audience/contacts", map[string]any{"email": email, "list_id": list})
	}
	in.Must(http.StatusCreated, http.MethodPost, "/suppressions", map[string]any{"email": "gone@example.net"})
	in.Must(http.StatusOK, http.MethodPatch, "/audience/contacts/left@example.net", map[string]any{"unsubscribed": true})
	in.CatchUp(in.App.Followers())
	path := "/broadcasts/" + in.Must(http.StatusCreated, http.MethodPost, "/broadcasts",
		map[string]any{"name": "News", "from": "news@" + apptest.Domain, "subject": "News", "html": "<p>Hi</p>", "audience_id": list}).Text("id")
	page := strings.Join(strings.Fields(plain.ReplaceAllString(signedIn(t, in, api.Owner).open(path+"/review"), " ")), " ")
	for _, want := range []string{"4 on the list", "1 unsubscribed", "1 suppressed", "Send to 2 people"} {
		if !strings.Contains(page, want) {
			t.Errorf("the review does not say %q: %s", want, page)
		}
	}
	if strings.Contains(page, "Your plan has") {
		t.Error("a plan without limits is said to be too small")
	}
}

// plain is what a page has beside its words.
var plain = regexp.MustCompile(`<[^>]*>`)

func TestWhoAddsAPasskeyLateIsAskedToConfirm(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	v := signedIn(t, in, api.Owner)
	in.Clock.Advance(20 * time.Minute)
	form := url.Values{"passkey_name": {"My laptop"}}
	asked := v.submit("/you/passkeys/confirm", form)
	if asked.Code != http.StatusForbidden || !strings.Contains(said(asked), `value="My laptop"`) || !strings.Contains(said(asked), "confirm_password") {
		t.Fatalf("%d %s", asked.Code, said(asked))
	}
	form.Set("confirm_password", "correct horse battery")
	if proven := v.submit("/you/passkeys/confirm", form); proven.Code != http.StatusSeeOther || proven.Header().Get("Location") != "/you/security?passkey_name=My+laptop" {
		t.Fatalf("%d %s %s", proven.Code, proven.Header(), said(proven))
	}
}

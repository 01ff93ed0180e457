package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
)

// received hands in a message and returns its page.
func (v visitor) received() string {
	v.t.Helper()
	tried := v.post("/inbox/try", url.Values{"to": {"hello@" + apptest.Domain}})
	if tried.Code != http.StatusSeeOther {
		v.t.Fatalf("%d %s", tried.Code, said(tried))
	}
	return strings.TrimPrefix(tried.Header().Get("Location"), v.path(""))
}

// linkTo is the address of the link on a page that begins with a path.
func (v visitor) linkTo(page, path string) string {
	v.t.Helper()
	_, rest, found := strings.Cut(page, `href="`+v.path(path))
	if !found {
		v.t.Fatalf("nothing leads to %s: %.2000s", path, main(page))
	}
	rest, _, _ = strings.Cut(rest, `"`)
	return path + strings.ReplaceAll(rest, "&amp;", "&")
}

func TestAReceivedMessageIsDeletedAndTheFiltersOfTheInboxStay(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	path, place := owner.received(), "/inbox?only=unread&domain="+apptest.Domain
	page := owner.open(owner.linkTo(owner.open(place), path))
	if form := owner.filled(owner.open(owner.linkTo(page, path+"?filters=")), path+"/mark"); form.Get("filters") == "" {
		t.Error("another tab of the message forgets the filters")
	}
	answer := owner.post(path+"/delete", owner.filled(page, path+"/delete"))
	if to := answer.Header().Get("Location"); answer.Code != http.StatusSeeOther || to != owner.path(place) {
		t.Errorf("%d leads to %s: %s", answer.Code, to, said(answer))
	}
	if notice := answer.Header().Get("Set-Cookie"); !strings.Contains(notice, url.QueryEscape("Message deleted.")) {
		t.Errorf("it says %q", notice)
	}
	if gone := owner.ask(http.MethodGet, owner.path(path), nil); gone.Code != http.StatusNotFound {
		t.Errorf("its page answers %d", gone.Code)
	}
}

func TestOnlyThoseMayDeleteAReceivedMessageWhoManageDomains(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := signedIn(t, in, api.Owner).received()
	for role, may := range map[api.Role]bool{api.Viewer: false, api.Marketer: false, api.Developer: true, api.Admin: true} {
		member := signedIn(t, in, role)
		answer := member.ask(http.MethodGet, member.path(path), nil)
		if offered := strings.Contains(answer.Body.String(), path+"/delete"); offered != may {
			t.Errorf("%s is offered to delete it: %t (%d)", role, offered, answer.Code)
		}
		if may {
			continue
		}
		if refused := member.post(path+"/delete", nil); refused.Code != http.StatusForbidden {
			t.Errorf("%s is answered %d", role, refused.Code)
		}
	}
}

func TestAMessageThatIsStillPassedOnSaysWhyItStays(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving/forwarding",
		map[string]any{"address": "hello@" + apptest.Domain, "forward_to": []string{"ann@example.net"}})
	owner := signedIn(t, in, api.Owner)
	path := owner.received()
	refused := owner.post(path+"/delete", url.Values{"filters": {"only=starred"}})
	if refused.Code != http.StatusConflict || !strings.Contains(said(refused), "Delete it in a moment.") {
		t.Fatalf("%d %.2000s", refused.Code, said(refused))
	}
	in.Receive()
	again := owner.post(path+"/delete", owner.filled(refused.Body.String(), path+"/delete"))
	if to := again.Header().Get("Location"); to != owner.path("/inbox?only=starred") {
		t.Errorf("%d leads to %s", again.Code, to)
	}
}

func TestTheInboxTellsWhatAProgramWroteAndWhatWentToMany(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	for mark, want := range map[string]string{"Auto-Submitted: auto-replied": "A program", "List-Id: <friends.example.net>": "Many at once, by a list or as a newsletter"} {
		raw := "From: ann@example.net\r\nSubject: News\r\n" + mark + "\r\n\r\nHello.\r\n"
		came := in.Call(http.MethodPost, "/emails/receiving", map[string]any{"to": []string{"hello@" + apptest.Domain}, "raw": raw})
		if page := owner.words("/inbox/" + came.Text("id")); !strings.Contains(page, want) {
			t.Errorf("%s: %s", mark, page)
		}
	}
}

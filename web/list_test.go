package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
)

func TestAPagePastTheEndLeadsToTheFirst(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	broadcast := in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", map[string]any{"name": "News"}).Text("id")
	automation := in.Must(http.StatusCreated, http.MethodPost, "/automations", map[string]any{"name": "Welcome"}).Text("id")
	template := in.Must(http.StatusCreated, http.MethodPost, "/templates", map[string]any{"name": "Hello", "subject": "Hi", "html": "<p>Hi</p>"}).Text("id")
	for _, list := range []string{"/inbox", "/inbox/forwarding", "/templates", "/templates/" + template, "/broadcasts", "/broadcasts/" + broadcast + "/recipients",
		"/automations", "/automations/" + automation + "/runs", "/automations/" + automation + "/versions", "/credentials", "/events",
		"/audience", "/audience/lists", "/audience/segments", "/audience/topics", "/audience/imports", "/suppressions", "/logs", "/domains", "/keys", "/webhooks", "/webhooks/deliveries",
		"/customers", "/settings/audit"} {
		page := owner.open(list + "?offset=5000&q=")
		if !strings.Contains(page, "past the end") || !strings.Contains(page, `href="`+owner.path(list)+`?q="`) {
			t.Errorf("%s does not lead back from a page past its end:\n%.600s", list, main(page))
		}
	}
}

// main is what a page says beside its navigation.
func main(page string) string {
	_, after, _ := strings.Cut(page, "<main")
	return after
}

func TestAnEmptyPageOfEmailsIsNoEmptyWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		in.Send("ada@example.com")
		in.Send("ada@example.com")
		cursorOf := func(filter string) string {
			return url.QueryEscape(in.Must(http.StatusOK, http.MethodGet, "/emails?limit=1"+filter, nil).Text("next_cursor"))
		}
		cursors := map[string]string{"/emails": cursorOf(""), "/people/ada@example.com": cursorOf("&to=ada@example.com")}
		err := in.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`DELETE FROM email WHERE workspace_id = $1`, in.Workspace)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for list, cursor := range cursors {
			if page := owner.open(list + "?cursor=" + cursor); !strings.Contains(page, "past the end") || !strings.Contains(page, `href="`+owner.path(list)+`?"`) {
				t.Errorf("%s does not lead back from a page past its end:\n%.600s", list, main(page))
			}
		}
	})
}

func TestAFilterThatMatchesNothingCanBeCleared(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	broadcast := in.Must(http.StatusCreated, http.MethodPost, "/broadcasts", map[string]any{"name": "News"}).Text("id")
	automation := in.Must(http.StatusCreated, http.MethodPost, "/automations", map[string]any{"name": "Welcome"}).Text("id")
	for list, filters := range map[string][]string{
		"/emails": {"q=nobody", "status=bounced", "since=hour"}, "/inbox": {"q=nobody", "only=unread"}, "/templates": {"q=nobody", "status=archived"},
		"/broadcasts": {"q=nobody", "status=sent"}, "/broadcasts/" + broadcast + "/recipients": {"email=nobody", "status=delivered"},
		"/automations": {"q=nobody", "status=archived"}, "/automations/" + automation + "/runs": {"contact=nobody@example.com", "status=failed", "since=hour"},
		"/credentials": {"q=nobody", "type=basic"}, "/events": {"q=nobody"}, "/audience": {"q=nobody", "status=pending"}, "/suppressions": {"q=nobody", "reason=bounce", "since=hour"},
		"/logs": {"q=nobody", "level=error"}, "/domains": {"q=nobody", "status=failed"}, "/keys": {"q=nobody", "status=revoked"},
		"/webhooks/deliveries": {"status=failed", "event=email.sent", "since=hour"}, "/customers": {"q=nobody", "status=paused"}} {
		for _, filter := range filters {
			page := main(owner.open(list + "?" + filter))
			_, empty, _ := strings.Cut(page, `class="empty"`)
			if empty, _, _ = strings.Cut(empty, "</div>"); strings.Contains(empty, "yet") || !strings.Contains(empty, `<a class="btn" href="`+owner.path(list)+`"`) {
				t.Errorf("%s?%s cannot be cleared: %s", list, filter, empty)
			}
		}
	}
}

package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestTheQuickStartFindsTheCallBehindManyOthers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		owner := signedIn(t, in, api.Owner)
		shows := func(want string) {
			t.Helper()
			if err := in.App.Logs.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if page := owner.words("/quickstart"); !strings.Contains(page, want) {
				t.Errorf("the page does not say %q: %.2000s", want, page)
			}
		}
		others := func() {
			for range 25 {
				in.Clock.Advance(time.Second)
				in.Call(http.MethodPost, "/audience/contacts", map[string]any{"email": "nobody"})
			}
		}
		shows("Waiting for your first call")
		letter := map[string]any{"from": "hello@stranger.test", "to": "ada@example.net", "subject": "Hello", "text": "Hi"}
		in.Call(http.MethodPost, "/emails", letter)
		others()
		shows("Refused: ")
		letter["from"] = "hello@" + apptest.Domain
		in.Must(http.StatusAccepted, http.MethodPost, "/emails/batch", []any{letter})
		others()
		shows("Got it: ")
	})
}

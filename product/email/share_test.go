package email_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func open(in *apptest.Installation, link string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	in.App.Emails.ServeShared(recorder, httptest.NewRequest(http.MethodGet, link, nil))
	return recorder
}

func TestASharedEmailCanBeReadUntilTheLinkExpires(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"subject": "Hi <b>you</b>", "html": `<p class="x">Hi</p><script>alert(1)</script>`})
		shared := in.Call(http.MethodPost, "/emails/"+id+"/share", fields{"expires_in": "2h"})
		if shared.Status != http.StatusOK || shared.Text("id") != id {
			t.Fatalf("%d %s", shared.Status, shared.Raw)
		}
		link := shared.Text("url")
		page := open(in, link)
		for _, want := range []string{`<iframe sandbox title="The email" srcdoc="&lt;p class=&#34;x&#34;`, "Hi &lt;b&gt;you&lt;/b&gt;", "hello@acme.test", "ann@example.net"} {
			if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), want) {
				t.Errorf("%d, the page does not show %q:\n%s", page.Code, want, page.Body)
			}
		}
		if strings.Contains(page.Body.String(), "<script>") || !strings.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("the page could run a script:\n%v\n%s", page.Header(), page.Body)
		}
		if tampered := open(in, link[:len(link)-2]+"xx"); tampered.Code != http.StatusNotFound {
			t.Errorf("a changed link is answered with %d", tampered.Code)
		}
		in.Clock.Advance(2*time.Hour + time.Second)
		if late := open(in, link); late.Code != http.StatusForbidden {
			t.Errorf("an old link is answered with %d", late.Code)
		}
	})
}

func TestOnlyOwnEmailsCanBeSharedAndNotForLong(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, nil)
		_, stranger := in.NewWorkspace(plan.Unlimited)
		refused(t, in.CallAs(stranger, http.MethodPost, "/emails/"+id+"/share", fields{}, nil), 404, "not_found")
		for _, lasts := range []string{"49h", "-1h", "1s", "soon"} {
			refused(t, in.Call(http.MethodPost, "/emails/"+id+"/share", fields{"expires_in": lasts}), 400, "validation_error")
		}
		if day := in.Call(http.MethodPost, "/emails/"+id+"/share", nil); day.Status != http.StatusOK {
			t.Errorf("%d %s", day.Status, day.Raw)
		}
	})
}

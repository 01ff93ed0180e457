package email_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"postrider/app/apptest"
	"postrider/platform/blob"
	"postrider/product/email"
)

// download follows a link as a browser does that has no key.
func download(in *apptest.Installation, url string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	in.App.Emails.ServeFile(recorder, httptest.NewRequest(http.MethodGet, strings.TrimPrefix(url, "https://postrider.test"), nil))
	return recorder
}

func TestAttachmentsAreListedWithLinksThatLastAnHour(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		content := base64.StdEncoding.EncodeToString([]byte("<script>alert(1)</script>"))
		sent := in.Call(http.MethodPost, "/emails", map[string]any{"from": "a@acme.test", "to": "b@example.net", "subject": "x", "html": "<img src=cid:logo>",
			"attachments": []any{map[string]any{"filename": "page.html", "content": content}, map[string]any{"filename": "logo.png", "content": content, "content_id": "logo"}}})
		path := "/emails/" + sent.Text("id") + "/attachments"
		page := in.Call(http.MethodGet, path+"?limit=1&offset=1", nil)
		second := listed(page, "data")[0]
		if page.Text("total") != "2" || second["filename"] != "logo.png" || second["content_disposition"] != "inline" || second["content_id"] != "logo" {
			t.Fatalf("%s", page.Raw)
		}
		first := listed(in.Call(http.MethodGet, path, nil), "data")[0]
		one := in.Call(http.MethodGet, path+"/"+first["id"].(string), nil)
		got := download(in, one.Text("download_url"))
		if got.Code != http.StatusOK || got.Body.String() != "<script>alert(1)</script>" || !strings.HasPrefix(one.Text("download_url"), "https://postrider.test/files/v1.") {
			t.Fatalf("%d %s from %s", got.Code, got.Body, one.Text("download_url"))
		}
		if got.Header().Get("Content-Disposition") != `attachment; filename=page.html` || got.Header().Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(got.Header().Get("Content-Security-Policy"), "sandbox") || got.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("headers: %v", got.Header())
		}
		in.Clock.Advance(61 * time.Minute)
		if late := download(in, one.Text("download_url")); late.Code != http.StatusForbidden {
			t.Errorf("after an hour: %d", late.Code)
		}
	})
}

func TestLinksCannotBeMadeUp(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	content := base64.StdEncoding.EncodeToString([]byte("secret"))
	sent := in.Call(http.MethodPost, "/emails", map[string]any{"from": "a@acme.test", "to": "b@example.net", "subject": "x", "text": "x",
		"attachments": []any{map[string]any{"filename": "a.txt", "content": content}}})
	link := listed(in.Call(http.MethodGet, "/emails/"+sent.Text("id")+"/attachments", nil), "data")[0]["url"].(string)
	start := strings.Index(link, "v1.")
	for i := start; i < len(link); i++ {
		touched := []byte(link)
		touched[i] ^= 1
		if got := download(in, string(touched)); got.Code == http.StatusOK {
			t.Fatalf("a link changed at %d still works", i-start)
		}
	}
	for _, path := range []string{"/files/", "/files/v1.", "/files/../secret", "/files/v1.AAAA"} {
		if got := download(in, path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}

// torn is a store whose files cannot be read to their end.
type torn struct{ blob.Store }

var errTorn = errors.New("the disk does not answer")

func (torn) Open(context.Context, blob.Ref) (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("half of "), iotest.ErrReader(errTorn))), nil
}

func TestAFileThatCannotBeReadToItsEndDoesNotPassForAWholeOne(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	emails := email.New(in.App.World, in.App.DB, email.Parts{Blobs: torn{}, Keys: in.Keys})
	server := httptest.NewServer(http.HandlerFunc(emails.ServeFile))
	t.Cleanup(server.Close)
	link, _ := emails.LinkToBlob("", "report.csv")
	answer, err := http.Get(server.URL + link)
	if err != nil {
		return // not even its beginning came
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%d with the file %q", answer.StatusCode, got)
	}
}

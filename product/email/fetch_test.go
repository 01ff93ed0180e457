package email_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
)

// onLoopback lets files be fetched from this machine, where the tests have their servers.
func onLoopback(settings *app.Settings) { settings.Outbound.AnyLoopbackPort = true }

func TestFilesAreFetchedFromWhereTheyAre(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("pdf "), 5000)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/My invoice.pdf":
			_, _ = w.Write(content)
		case "/huge.bin":
			_, _ = w.Write(make([]byte, 10<<20+1))
		case "/away.pdf":
			http.Redirect(w, r, "/My%20invoice.pdf", http.StatusFound)
		case "/program.txt":
			_, _ = w.Write([]byte("MZ\x90\x00"))
		case "/x.exe", "/file":
			_, _ = w.Write([]byte("x"))
		case "/empty.txt":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(files.Close)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			in := apptest.New(t, engine, onLoopback)
			id := accepted(t, in, fields{"attachments": []fields{{"path": files.URL + "/My%20invoice.pdf"}, {"url": files.URL + "/file", "filename": "b.txt"}}})
			list := in.Call(http.MethodGet, "/emails/"+id+"/attachments", nil)
			all := rows(list)
			if len(all) != 2 || all[0]["filename"] != "My invoice.pdf" || all[0]["content_type"] != "application/pdf" || all[1]["filename"] != "b.txt" {
				t.Fatalf("%s", list.Raw)
			}
			if got := in.Download(all[0]["download_url"].(string)); !bytes.Equal(got, content) {
				t.Errorf("%d bytes came back", len(got))
			}
			for path, want := range map[string]string{
				"/missing.pdf": "The server answered 404 instead of the file.",
				"/away.pdf":    "The server answered 302 instead of the file.",
				"/huge.bin":    "A file must have at most 10 MB.",
				"/empty.txt":   "The file is empty.",
			} {
				answer := send(in, fields{"attachments": []fields{{"path": files.URL + path}}})
				if got := problems(answer)["attachments[0].path"]; got != want {
					t.Errorf("%s: %d %q, want %q", path, answer.Status, got, want)
				}
			}
			for _, path := range []string{"/x.exe", "/program.txt"} {
				if answer := send(in, fields{"attachments": []fields{{"path": files.URL + path}}}); problems(answer)["attachments[0].filename"] == "" {
					t.Errorf("%s: %d %s", path, answer.Status, answer.Raw)
				}
			}
			both := send(in, fields{"attachments": []fields{{"filename": "a.txt", "content": "eA==", "path": files.URL + "/file"}}})
			if got := problems(both)["attachments[0].path"]; got != "Give content or path, not both." {
				t.Errorf("both: %s", both.Raw)
			}
		})
	}
}

func TestFilesOfABatchAreFetchedSideBySideAndKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	var waiting sync.WaitGroup
	waiting.Add(4)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/early") { // nobody is answered before four have asked
			waiting.Done()
			waiting.Wait()
		}
		if strings.HasSuffix(r.URL.Path, "missing.txt") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(r.URL.Path))
	}))
	t.Cleanup(files.Close)
	in := apptest.New(t, "sqlite", onLoopback)
	var list []any
	for _, path := range []string{"/early/0.txt", "/early/1.txt", "/early/missing.txt", "/early/3.txt", "/4.txt", "/missing.txt", "/6.txt"} {
		list = append(list, item("ann@example.net", fields{"attachments": []fields{{"path": files.URL + path}}}))
	}

	answer := sendBatch(in, list, map[string]string{"X-Batch-Validation": "permissive"})
	data, refusals := listed(answer, "data"), listed(answer, "errors")
	if len(data) != 5 || len(refusals) != 2 || refusals[0]["index"] != 2.0 || refusals[1]["index"] != 5.0 {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	for i, name := range []string{"0.txt", "1.txt", "3.txt", "4.txt", "6.txt"} {
		if got := rows(in.Call(http.MethodGet, "/emails/"+data[i]["id"].(string)+"/attachments", nil)); got[0]["filename"] != name {
			t.Errorf("email %v has %v, not %s", data[i]["index"], got, name)
		}
	}
}

func TestNothingIsFetchedFromOurOwnNetwork(t *testing.T) {
	t.Parallel()
	asked := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(inside.Close)
	in := apptest.New(t, "sqlite")
	for _, path := range []string{inside.URL, "http://localhost/", "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
		"http://127.1/", "http://0x7f000001/", "file:///etc/passwd", "gopher://x", "https://user:pass@example.net/a", strings.Repeat("x", 3000), "//", "https://10.0.0.1/a.txt"} {
		answer := send(in, fields{"attachments": []fields{{"filename": "a.txt", "path": path}}})
		if answer.Status != http.StatusBadRequest || problems(answer)["attachments[0].path"] == "" {
			t.Errorf("%.60s: %d %s", path, answer.Status, answer.Raw)
		}
	}
	if asked {
		t.Error("a server on this machine was asked")
	}
}

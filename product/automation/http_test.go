package automation_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
)

const secret = "sekrit-4711-abcdefghij"

// credential makes a credential for the host of a server and returns its id.
func (h house) credential(server *receiver, more fields) string {
	h.t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	body := fields{"name": "CRM", "type": "bearer", "secret": secret, "allowed_hosts": []string{u.Host}, "base_url": server.URL}
	for name, value := range more {
		body[name] = value
	}
	return h.must(201, "POST", "/automation-credentials", body).Text("id")
}

func TestAnHTTPStepShowsItsCredentialAndItsAnswerIsUsedLater(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, in *http.Request) {
			fmt.Fprintf(w, `{"id":"lead_1","echo":%q}`, in.Header.Get("Authorization"))
		})
		credential := h.credential(server, fields{"settings": fields{"default_headers": fields{"X-Source": "mail"}}})
		id := h.enabled(line(on("lead"),
			step("crm", "http_request", fields{"method": "POST", "url": "/leads", "credential_id": credential, "headers": fields{"X-Plan": fields{"var": "event.plan"}},
				"body": fields{"email": fields{"var": "contact.email"}, "n": fields{"var": "event.n"}}}),
			step("more", "http_request", fields{"method": "GET", "url": server.URL + "/x", "query": fields{"lead": fields{"var": "steps.crm.output.id"}}})))
		run := h.send("lead", "ann@example.net", fields{"plan": "pro", "n": 12345678901234567})[0]
		h.work()

		asked := server.requests()
		if len(asked) != 2 {
			t.Fatalf("%d requests: %s", len(asked), h.run(id, run).Raw)
		}
		first := asked[0]
		if first.Get("Authorization") != "Bearer "+secret || first.Get("X-Plan") != "pro" || first.Get("X-Source") != "mail" || first.uri != "/leads" ||
			first.body != `{"email":"ann@example.net","n":12345678901234567}` || first.Get("Idempotency-Key") != run+".crm.1" {
			t.Errorf("first request %+v", first)
		}
		if asked[1].uri != "/x?lead=lead_1" || asked[1].Get("Authorization") != "" {
			t.Errorf("second request %+v", asked[1])
		}
		shown := h.run(id, run)
		if shown.Text("status") != "completed" || strings.Contains(string(shown.Raw), secret) || !strings.Contains(string(shown.Raw), "[secret]") {
			t.Errorf("run %s", shown.Raw)
		}
		for _, path := range []string{"/automation-credentials", "/automations/" + id, "/automations/" + id + "/versions", "/automations/" + id + "/runs"} {
			if raw := string(h.must(200, "GET", path, nil).Raw); strings.Contains(raw, secret) {
				t.Errorf("%s shows the secret", path)
			}
		}
	})
}

func TestFailedRequestsAreTriedAgainUnderTheSameKeyAndThenTakeTheErrorPath(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		call := step("crm", "http_request", fields{"method": "POST", "url": server.URL, "retry": 2})
		id := h.enabled(line(on("a"), call))
		other := h.enabled(graph([]fields{on("b"), call, step("rescue", "exit", nil)}, []fields{way("start crm"), way("crm rescue error")}))
		failing, rescued := h.send("a", "ann@example.net", nil)[0], h.send("b", "ann@example.net", nil)[0]
		for range 4 {
			h.work()
			h.Clock.Advance(time.Hour)
		}
		run := h.run(id, failing)
		if run.Text("status") != "failed" || run.Text("error", "message") != "HTTP 500 after 3 tries" || run.Text("error", "step") != "crm" {
			t.Errorf("run %s", run.Raw)
		}
		if got := path(h.run(other, rescued)); got != "start:completed crm:failed rescue:completed" {
			t.Errorf("with an error path: %s", got)
		}
		keys := map[string]int{}
		for _, r := range server.requests() {
			keys[r.Get("Idempotency-Key")]++
		}
		if len(keys) != 2 || keys[failing+".crm.1"] != 3 || keys[rescued+".crm.1"] != 3 {
			t.Errorf("keys %v", keys)
		}
	})
}

func TestASecretGoesToItsHostsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		evil := newReceiver(t, nil)
		server := newReceiver(t, func(w http.ResponseWriter, in *http.Request) {
			http.Redirect(w, in, evil.URL+"/steal", http.StatusFound)
		})
		credential := h.credential(server, nil)
		wrong := h.must(400, "POST", "/automations", fields{"name": "x", "status": "enabled", "steps": []fields{on("a"),
			step("crm", "http_request", fields{"url": evil.URL, "credential_id": credential})}, "connections": []fields{way("start crm")}})
		if problem(wrong, "steps[1].config.url") == "" {
			t.Errorf("another host: %s", wrong.Raw)
		}
		id := h.enabled(line(on("a"), step("crm", "http_request", fields{"url": "/x", "credential_id": credential})))
		run := h.send("a", "", nil)[0]
		h.must(200, "PATCH", "/automation-credentials/"+credential, fields{"name": "CRM 2"})
		h.work()
		if got := h.run(id, run); got.Text("error", "message") != "HTTP 302 after 1 try" || len(evil.requests()) != 0 {
			t.Errorf("redirect: %s, %d requests elsewhere", got.Raw, len(evil.requests()))
		}
		h.must(400, "POST", "/automation-credentials/"+credential+"/test", fields{"url": evil.URL})
		h.must(409, "DELETE", "/automation-credentials/"+credential, nil)
		h.must(200, "DELETE", "/automations/"+id, nil)
		h.must(200, "DELETE", "/automation-credentials/"+credential, nil)
	})
}

func TestACredentialIsTestedAndRotated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, in *http.Request) {
			if _, password, _ := in.BasicAuth(); password != "new-"+secret {
				w.WriteHeader(401)
			}
		})
		id := h.credential(server, fields{"type": "basic", "username": "ann"})
		failed := h.must(200, "POST", "/automation-credentials/"+id+"/test", fields{"url": "/ping"})
		if failed.Text("ok") != "false" || failed.Text("status_code") != "401" {
			t.Errorf("test %s", failed.Raw)
		}
		rotated := h.must(200, "POST", "/automation-credentials/"+id+"/rotate", fields{"secret": "new-" + secret})
		if rotated.Text("rotated_at") == "" || rotated.Text("secret_prefix") != "new-" {
			t.Errorf("rotated %s", rotated.Raw)
		}
		if passed := h.must(200, "POST", "/automation-credentials/"+id+"/test", nil); passed.Text("ok") != "true" {
			t.Errorf("test %s", passed.Raw)
		}
		list := h.must(200, "GET", "/automation-credentials?type=basic&search=cr", nil)
		if !strings.Contains(string(list.Raw), `"last_test":{"ok":true`) || strings.Contains(string(list.Raw), secret) {
			t.Errorf("list %s", list.Raw)
		}
		h.must(409, "POST", "/automation-credentials", fields{"name": "crm", "type": "bearer", "secret": "x", "allowed_hosts": []string{"x.example.com"}})
	})
}

func TestNoRequestReachesTheInside(t *testing.T) {
	t.Parallel()
	strict := func(s *app.Settings) { s.Delivery.AllowPrivate = false }
	each(t, func(t *testing.T, h house) {
		hit := newReceiver(t, nil)
		port := hit.URL[strings.LastIndex(hit.URL, ":"):]
		for _, target := range []string{hit.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://2130706433" + port,
			"http://0x7f.1" + port, "http://169.254.169.254/latest", "http://10.0.0.1/", "https://user:pass@example.com/", "ftp://example.com/", "file:///etc/passwd",
			"https://postrider.test/v1/events/send", "//example.com", ""} {
			answer := h.Call("POST", "/automations", fields{"name": "x", "status": "enabled", "steps": []fields{on("a"), step("crm", "http_request", fields{"url": target})},
				"connections": []fields{way("start crm")}})
			if answer.Status != 400 || problem(answer, "steps[1].config.url") == "" {
				t.Errorf("step to %s: %d %s", target, answer.Status, answer.Raw)
			}
			base := h.Call("POST", "/automation-credentials", fields{"name": target, "type": "bearer", "secret": secret, "allowed_hosts": []string{"127.0.0.1", "localhost"}, "base_url": target})
			if target != "" && base.Status != 400 {
				t.Errorf("base %s: %d %s", target, base.Status, base.Raw)
			}
		}
		credential := h.must(201, "POST", "/automation-credentials", fields{"name": "x", "type": "bearer", "secret": secret, "allowed_hosts": []string{"127.0.0.1", "localhost"}}).Text("id")
		h.must(400, "POST", "/automation-credentials/"+credential+"/test", fields{"url": hit.URL})
		// A name that leads inside is seen only when it is asked.
		id := h.enabled(line(on("a"), step("crm", "http_request", fields{"url": "https://acme.test/"})))
		run := h.send("a", "", nil)[0]
		h.work()
		if got := h.run(id, run).Text("status"); got != "failed" {
			t.Errorf("a name without a public address: %s", got)
		}
		if got := len(hit.requests()); got != 0 {
			t.Errorf("%d requests reached the machine", got)
		}
	}, strict)
}

func TestSecretsAreSealedOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := house{apptest.New(t, "sqlite"), t}
	h.must(201, "POST", "/automation-credentials", fields{"name": "x", "type": "header", "header_name": "X-Token", "secret": secret, "allowed_hosts": []string{"a.example.com"}})
	if err := h.App.DB.Backup(context.Background(), filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), secret) || !strings.Contains(string(raw), "X-Token") {
		t.Error("the secret lies open, or the test looks at the wrong file")
	}
}

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
		for i := range 4 {
			h.work()
			if got := len(server.requests()); got > 2*(i+1) {
				t.Errorf("%d requests after %d hours", got, i)
			}
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

func TestARequestThatIsRefusedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(422) })
		id := h.enabled(line(on("a"), step("crm", "http_request", fields{"url": server.URL, "retry": 3})))
		run := h.send("a", "", nil)[0]
		h.work()
		if got := h.run(id, run).Text("error", "message"); got != "HTTP 422 after 1 try" || len(server.requests()) != 1 {
			t.Errorf("%q, %d requests", got, len(server.requests()))
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
		other := h.credential(server, fields{"name": "Other"})
		for _, taken := range []apptest.Answer{
			h.must(409, "POST", "/automation-credentials", fields{"name": "crm 2", "type": "bearer", "secret": "secret", "allowed_hosts": []string{"crm.example.com"}}),
			h.must(409, "PATCH", "/automation-credentials/"+other, fields{"name": "CRM 2"}),
		} {
			if taken.Text("error", "code") != "already_exists" || taken.Text("error", "details", "id") != credential {
				t.Errorf("a name that is taken: %s", taken.Raw)
			}
		}
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

func TestARequestAfterTheContactIsGoneKnowsWhatStepsGave(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":"lead_1"}`) })
		id := h.enabled(line(on("bye"), step("crm", "http_request", fields{"method": "GET", "url": server.URL}), step("gone", "contact_delete", nil),
			step("drop", "http_request", fields{"method": "DELETE", "url": server.URL, "query": fields{"id": fields{"var": "steps.crm.output.id"}, "who": fields{"var": "contact.email"}}})))
		run := h.send("bye", "ann@example.net", nil)[0]
		h.work()
		if asked := server.requests(); len(asked) != 2 || asked[1].uri != "/?id=lead_1&who=" || h.run(id, run).Text("status") != "completed" {
			t.Errorf("%+v, %s", asked, h.run(id, run).Raw)
		}
	})
}

// A server that repeats what it was shown may write it in ways of its own: PHP writes a\/b for a/b.
func TestASecretIsCutOutHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		const slashed = "ab/cd+ef gh/0123456789"
		server := newReceiver(t, func(w http.ResponseWriter, in *http.Request) {
			shown := in.Header.Get("Authorization") + in.Header.Get("X-Token") + in.URL.Query().Get("token")
			escaped := strings.ReplaceAll(shown, "/", `\/`)
			if in.URL.Path == "/text" {
				fmt.Fprintf(w, "not JSON: %s %s %s", shown, escaped, in.URL.RawQuery)
				return
			}
			fmt.Fprintf(w, `{"echo":"%s","list":["%s"],"%s":1,"url":"?%s","n":12345678901234567}`, escaped, strings.ReplaceAll(shown, "c", `\u0063`), escaped, url.PathEscape(shown))
		})
		for kind, more := range map[string]fields{"bearer": nil, "basic": {"username": "ann"}, "header": {"header_name": "X-Token"}, "query": {"header_name": "token"}} {
			config := fields{"name": kind, "type": kind, "secret": slashed}
			for name, value := range more {
				config[name] = value
			}
			credential := h.credential(server, config)
			id := h.enabled(line(on(kind), step("json", "http_request", fields{"url": "/json", "credential_id": credential}),
				step("text", "http_request", fields{"url": "/text", "credential_id": credential})))
			run := h.send(kind, "", nil)[0]
			before := len(server.requests())
			h.work()
			asked := server.requests()[before:]
			if len(asked) != 2 || asked[0].Get("Authorization") == "" && asked[0].Get("X-Token") != slashed && asked[0].uri != "/json?token="+url.QueryEscape(slashed) {
				t.Fatalf("%s: asked %+v", kind, asked)
			}
			shown := h.run(id, run)
			if shown.Text("status") != "completed" || !strings.Contains(string(shown.Raw), `"n":12345678901234567`) {
				t.Errorf("%s: %s", kind, shown.Raw)
			}
			for _, part := range []string{"cd+ef", "cd%2Bef", "YW5uOmFi", `ef gh`} {
				if strings.Contains(string(shown.Raw), part) {
					t.Errorf("%s: %s shows %q", kind, shown.Raw, part)
				}
			}
		}
	})
}

func TestACredentialIsLookedAtAgainWhenItIsShown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		credential := h.credential(server, nil)
		wait := step("wait", "delay", fields{"duration": "1 hour"})
		definition := line(on("go"), wait, step("crm", "http_request", fields{"url": server.URL, "credential_id": credential}))
		id := h.enabled(definition)
		moved := h.send("go", "", nil)[0]
		h.work()
		h.must(200, "PATCH", "/automation-credentials/"+credential, fields{"allowed_hosts": []string{"crm.example.com"}, "base_url": ""})
		h.Clock.Advance(time.Hour + time.Second)
		h.work()
		if got := h.run(id, moved).Text("error", "message"); got != "The host is not among the allowed hosts of the credential." {
			t.Errorf("another host: %q", got)
		}
		gone := h.send("go", "", nil)[0]
		h.work()
		h.must(200, "PATCH", "/automations/"+id, fields{"status": "enabled", "steps": []fields{on("go"), wait}, "connections": []fields{way("start wait")}})
		h.must(200, "DELETE", "/automation-credentials/"+credential, nil)
		h.Clock.Advance(time.Hour + time.Second)
		h.work()
		if got := h.run(id, gone).Text("error", "message"); got != "The credential of the step is gone." {
			t.Errorf("without the credential: %q", got)
		}
		if got := len(server.requests()); got != 0 {
			t.Errorf("%d requests", got)
		}
	})
}

func TestAStepSaysMoreThanItsCredentialAndALongAnswerIsCut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"long":%q}`, strings.Repeat("x", 20<<10))
		})
		credential := h.credential(server, fields{"settings": fields{"default_headers": fields{"X-Source": "default"}}})
		id := h.enabled(line(on("a"), step("crm", "http_request", fields{"method": "GET", "url": "/", "credential_id": credential, "headers": fields{"X-Source": "step"}, "body": fields{"a": 1}})))
		run := h.send("a", "", nil)[0]
		h.work()
		asked := server.requests()
		if len(asked) != 1 || asked[0].Get("X-Source") != "step" || asked[0].body != "" {
			t.Errorf("asked %+v", asked)
		}
		if got := h.run(id, run); output(got, "crm")["truncated"] != true || len(got.Raw) > 18<<10 {
			t.Errorf("%d bytes are kept", len(got.Raw))
		}
		list, _ := h.must(200, "GET", "/automation-credentials", nil).Body["data"].([]any)
		if used := list[0].(fields)["last_used_at"]; used == nil {
			t.Error("nobody noted that the credential was used")
		}
	})
}

func TestAStepWaitsAsLongAsItSaysOrElseItsCredential(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		answers := map[string]time.Duration{"/late": 1500 * time.Millisecond, "/later": 9 * time.Second} // a step waits 10 seconds if nothing is said
		server := newReceiver(t, func(_ http.ResponseWriter, in *http.Request) {
			select {
			case <-in.Context().Done():
			case <-time.After(answers[in.URL.Path]):
			}
		})
		credential := h.credential(server, fields{"settings": fields{"timeout_ms": 1000}})
		own := h.enabled(line(on("own"), step("ask", "http_request", fields{"method": "GET", "url": "/late", "credential_id": credential, "timeout_ms": 15000})))
		none := h.enabled(line(on("none"), step("ask", "http_request", fields{"method": "GET", "url": "/later", "credential_id": credential})))
		first, second := h.send("own", "ann@example.net", nil)[0], h.send("none", "ann@example.net", nil)[0]
		h.work()
		if own, none := h.run(own, first).Text("status"), h.run(none, second).Text("status"); own != "completed" || none != "failed" {
			t.Errorf("with a limit of its own %s, with its credential's %s", own, none)
		}
	})
}

package dashboard

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// quoted writes a text as JavaScript does.
func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// openUntil opens a page again and again until it shows a text: entries of the log are written in batches, a moment later.
func (o *tour) openUntil(page, text string) {
	o.t.Helper()
	for began := time.Now(); time.Since(began) < startWithin; {
		o.open(page)
		if o.Eval("document.body.innerText.includes("+quoted(text)+")") == "true" {
			return
		}
	}
	o.t.Fatalf("%s never shows %q", page, text)
}

// refused makes a request that the API refuses, and returns its id.
func (o *tour) refused(path, body string) string {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.ready.HTTP+"/v1"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.ready.APIKey)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode < 400 {
		o.t.Fatalf("%v %v", response, err)
	}
	_ = response.Body.Close()
	return response.Header.Get("X-Request-Id")
}

func TestRefusedRequestIsFoundInTheLogAndRepeated(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("logs-empty", "/logs")
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hi", "text": "Secret text"})
	id := o.refused("/emails", `{"from":"hello@elsewhere.test","to":"<script>alert(1)</script>@example.net","subject":"Hi","text":"Secret text","subjekt":"typo"}`)
	o.openUntil("/find?q="+id, "These fields were not read")
	o.look("logs", "/logs")
	o.open("/logs")
	o.Set("status", "4xx")
	o.Wait(`location.search.includes("status=4xx") && document.querySelectorAll("#results tbody tr").length === 1`)
	o.open("/find?q=" + id)
	o.See("These fields were not read")
	o.See("subjekt")
	if text := o.Eval("document.body.innerText"); strings.Contains(text, "Secret text") {
		t.Error("the log shows what the mail says")
	}
	if curl := o.Eval(`[...document.querySelectorAll("[data-copy]")].find(e => e.innerText.includes("curl")).dataset.copy`); !strings.Contains(curl, "curl -X POST '"+o.ready.HTTP+"/v1/emails'") || !strings.Contains(curl, "Bearer $POSTRIDER_API_KEY") {
		t.Errorf("the command is %s", curl)
	}
	page := strings.TrimPrefix(o.Path(), o.path(""))
	o.look("log", page)
	o.look("logs-by-kind", "/logs?group=kind&since=day")
	if n := o.Dialogs(); n != 0 {
		t.Errorf("%d dialogs", n)
	}
}

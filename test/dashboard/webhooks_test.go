package dashboard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// listener is a customer's server that remembers what it was told.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	header []http.Header // guarded by mu, as are bodies and gone
	bodies []string
	// gone makes it answer that it is no longer there.
	gone bool
}

// leave makes the server answer that it is gone, or not any more.
func (l *listener) leave(gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = gone
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.header, l.bodies = append(l.header, r.Header.Clone()), append(l.bodies, string(body))
		if l.gone {
			w.WriteHeader(http.StatusGone)
		}
		_, _ = io.WriteString(w, "thank you")
	}))
	t.Cleanup(l.Close)
	return l
}

// last returns the newest request.
func (l *listener) last() (http.Header, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.header[len(l.header)-1], l.bodies[len(l.bodies)-1]
}

func TestWebhookHearsOfAnEmailAndIsReplayed(t *testing.T) {
	t.Parallel()
	o := begin(t)
	server := listen(t)
	o.look("webhooks-empty", "/webhooks")
	o.look("webhook-new", "/webhooks/new")
	o.open("/webhooks/new")
	o.Fill("url", "ftp://nowhere.test")
	o.Press("Add webhook")
	o.Wait(`document.querySelector(".wrong")`)
	o.Fill("url", server.URL+"/hooks")
	o.Press("Add webhook")
	o.See("Copy the secret now")
	secret := o.Eval(`document.querySelector(".secret code").textContent`)
	if *pictures {
		o.Picture("../../docs/pictures/webhook-created-light-1440.png")
	}
	o.Press("I saved it")
	o.See("Nothing was sent yet")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	o.Wait(`!document.querySelector("[data-live-state][data-off]")`)
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hi", "text": "Hi"})
	o.Wait(`[...document.querySelectorAll("#deliveries tr")].some(row => row.innerText.includes("email.delivered") && row.querySelector(".st-delivered") && row.innerText.includes("200"))`)
	o.look("webhook", page)
	o.open(page)
	o.Press("email.delivered")
	o.See("thank you")
	o.See("Webhook-Signature")
	o.look("webhook-delivery", strings.TrimPrefix(o.Path(), o.path("")))
	o.Press("Replay")
	o.See("Sent once more")
	o.Wait(`document.querySelector("#state .st-delivered") && document.querySelector("#attempts pre")`)
	o.look("webhook-deliveries", "/webhooks/deliveries")
	o.checkSnippets(page, secret, server)
	o.rotateSecret(page)
}

// checkSnippets runs what the page shows for checking a signature, on a request that really came.
func (o *tour) checkSnippets(page, secret string, server *listener) {
	o.t.Helper()
	header, body := server.last()
	for _, one := range []struct{ language, program, file, call string }{
		{"node", "node", "verify.mjs", "\nprocess.exit(verify({'webhook-id': process.argv[2], 'webhook-timestamp': process.argv[3], 'webhook-signature': process.argv[4]}, process.argv[5], process.argv[6]) ? 0 : 1);\n"},
		{"python", "python3", "verify.py", "\nimport sys\nsys.exit(0 if verify({'webhook-id': sys.argv[1], 'webhook-timestamp': sys.argv[2], 'webhook-signature': sys.argv[3]}, sys.argv[4].encode(), sys.argv[5]) else 1)\n"},
	} {
		o.open(page + "?tab=verify&lang=" + one.language)
		code := o.Eval(`document.querySelector(".listing pre").textContent`)
		if _, err := exec.LookPath(one.program); err != nil {
			continue
		}
		file := filepath.Join(o.t.TempDir(), one.file)
		if err := os.WriteFile(file, []byte(code+one.call), 0o600); err != nil {
			o.t.Fatal(err)
		}
		run := func(body string) error {
			return exec.CommandContext(o.t.Context(), one.program, file, header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), header.Get("Webhook-Signature"), body, secret).Run()
		}
		if err := run(body); err != nil {
			o.t.Errorf("%s does not take a true request: %v", one.language, err)
		}
		if run(body+" ") == nil {
			o.t.Errorf("%s takes a body that was changed", one.language)
		}
	}
	o.look("webhook-verify", page+"?tab=verify")
	o.open(page + "?tab=verify")
	for name, value := range map[string]string{"f-vid": header.Get("Webhook-Id"), "f-vstamp": header.Get("Webhook-Timestamp"), "f-vsig": header.Get("Webhook-Signature"), "f-vsecret": secret, "f-vbody": body} {
		o.Eval("(e => { e.value = " + quoted(value) + "; e.dispatchEvent(new Event('input', {bubbles: true})); })(document.getElementById('" + name + "'))")
	}
	o.See("The signature is right.")
}

func (o *tour) rotateSecret(page string) {
	o.t.Helper()
	o.look("webhook-secret", page+"?tab=secret")
	o.open(page + "?tab=secret")
	o.Press("Make a new secret")
	o.See("The new secret")
	o.open(page + "?tab=secret")
	o.See("Two secrets sign now.")
	o.Press("Make a new secret")
	o.See("The previous secret is still good")
	o.Press("End it now")
	o.Press("Yes, end it")
	o.See("The previous secret signs no more.")
}

func TestWebhookIsTestedChangedDisabledAndDeleted(t *testing.T) {
	t.Parallel()
	o := begin(t)
	server := listen(t)
	made := o.call("POST", "/webhooks", map[string]any{"url": server.URL + "/hooks", "events": []string{"email.*"}, "description": "Production"})
	page := "/webhooks/" + made["id"].(string)
	o.open(page)
	o.Press("Live test")
	o.See("Your server took it.")
	o.See("thank you")
	o.open(page)
	o.Set("event", "email.bounced")
	o.Eval(`document.querySelector("#s-sample").value = "email.bounced"`)
	o.Press("Send test event")
	o.See("Queued.")
	o.Wait(`document.querySelector("#state .st-delivered")`)
	o.look("webhooks", "/webhooks")
	o.look("webhook-settings", page+"?tab=settings")
	o.open(page + "?tab=settings")
	o.Set("all", "true")
	o.Set("custom_headers", "X-Shop: 17")
	o.Press("Save")
	o.See("Saved.")
	if events := o.call("GET", page, nil)["events"].([]any); len(events) != 1 || events[0] != "*" {
		t.Errorf("it hears %v", events)
	}
	o.open(page)
	o.Press("Disable")
	o.See("What was waiting for it is cancelled")
	o.Press("Enable")
	o.See("It is told of everything")
	o.open(page + "?tab=settings")
	o.Press("Delete webhook")
	o.Press("Yes, delete it")
	o.See("Hear about bounces within a second")
}

func TestWhatAWebhookDidNotTakeIsSentOnceMore(t *testing.T) {
	t.Parallel()
	o := begin(t)
	server := listen(t)
	made := o.call("POST", "/webhooks", map[string]any{"url": server.URL + "/hooks", "events": []string{"email.queued"}})
	page := "/webhooks/" + made["id"].(string)
	server.leave(true)
	o.open(page)
	sent := o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "ada@example.net", "subject": "Hi", "text": "Hi"})["id"].(string)
	o.See("your server said that it is gone")
	server.leave(false)
	o.Press("Enable") // which the page shows by itself, like the state
	o.See("It is told of everything")
	o.look("webhook-failed", page)
	o.open(page)
	o.Press("Send what failed once more")
	o.See("1 event is on the way again.")
	o.Wait(`document.querySelector("#deliveries tbody tr .st-delivered")`)
	if _, body := server.last(); !strings.Contains(body, sent) {
		t.Errorf("the server was told %s, nothing of %s", body, sent)
	}
	o.Press("Send what failed once more")
	o.See("Every event that failed was delivered since, or is on its way.")
}

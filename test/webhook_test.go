package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/resend/resend-go/v3"
)

// verdict is what the receiving program says about one webhook.
type verdict struct {
	Type   string
	ID     string
	Failed []string
}

// receiver is a customer's server in Node.
type receiver struct {
	t       *testing.T
	address string
	said    chan string
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	needNode(t)
	cmd := exec.Command("node", "clients/webhook.mjs")
	cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_NO_WARNINGS=1"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r := &receiver{t: t, said: make(chan string, 1000)}
	go func() {
		defer close(r.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.said <- lines.Text()
		}
	}()
	var first struct{ Address string }
	if err := json.Unmarshal([]byte(<-r.said), &first); err != nil {
		t.Fatal(err)
	}
	r.address = first.Address
	return r
}

// checkWith tells the receiver the secret.
func (r *receiver) checkWith(secret string) {
	r.t.Helper()
	answer, err := http.Post(r.address+"/secret", "text/plain", strings.NewReader(secret))
	if err != nil {
		r.t.Fatal(err)
	}
	answer.Body.Close()
}

// expect waits for webhooks of these types, in any order, each verified.
func (r *receiver) expect(types ...string) {
	r.t.Helper()
	missing := map[string]bool{}
	for _, name := range types {
		missing[name] = true
	}
	for len(missing) > 0 {
		var v verdict
		line, ok := <-r.said
		if !ok || json.Unmarshal([]byte(line), &v) != nil {
			r.t.Fatalf("receiver ended; missing %v", missing)
		}
		if len(v.Failed) > 0 {
			r.t.Errorf("%s: %v", v.Type, v.Failed)
		}
		delete(missing, v.Type)
	}
}

func TestOtherPeoplesLibrariesVerifyWebhooks(t *testing.T) {
	t.Parallel()
	p, r := dev(t), startReceiver(t)
	status, made, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/webhooks", map[string]any{"url": r.address + "/hook", "events": []string{"email.*"}})
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%d %v %v", status, made, err)
	}
	r.checkWith(made["secret"].(string))
	if _, _, err := p.send("ann@example.net"); err != nil {
		t.Fatal(err)
	}
	r.expect("email.queued", "email.sent", "email.delivered")
}

func TestResendsGoSDKVerifiesWebhooks(t *testing.T) {
	t.Parallel()
	p := dev(t)
	verified := make(chan error, 100)
	secret := make(chan string, 1)
	client := resend.NewClient(p.APIKey)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		known := <-secret
		secret <- known
		body, err := io.ReadAll(q.Body)
		if err == nil {
			err = client.Webhooks.Verify(&resend.VerifyWebhookOptions{Payload: string(body), WebhookSecret: known, Headers: resend.WebhookHeaders{
				Id: q.Header.Get("svix-id"), Timestamp: q.Header.Get("svix-timestamp"), Signature: q.Header.Get("svix-signature")}})
		}
		verified <- err
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	status, made, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/webhooks",
		map[string]any{"url": "http://" + listener.Addr().String(), "events": []string{"email.delivered"}})
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%d %v %v", status, made, err)
	}
	secret <- made["secret"].(string)
	if _, _, err := p.send("ann@example.net"); err != nil {
		t.Fatal(err)
	}
	if err := <-verified; err != nil {
		t.Error(err)
	}
}

func TestALostStreamGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	var after []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			return // an event that is forwarded
		}
		if after = append(after, r.Header.Get("Last-Event-ID")); len(after) > 1 {
			w.WriteHeader(http.StatusUnauthorized) // enough has been seen
			return
		}
		fmt.Fprint(w, "id: e1\ndata: {\"id\":\"e1\",\"type\":\"email.sent\"}\n\nid: e2\ndata: {\"id\":\"e2\",\"type\":\"email.sent\"}\n\n")
	}))
	defer server.Close()
	if _, stderr, err := run(t, "listen", "--url", server.URL, "--key", "k", "--forward", server.URL); code(err) != 3 || fmt.Sprint(after) != "[ e2]" {
		t.Errorf("ended with %d, asked for what follows %q: %s", code(err), after, stderr)
	}
}

func TestADeveloperListensWithoutAPublicAddress(t *testing.T) {
	t.Parallel()
	p, r := dev(t), startReceiver(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "listen", "--forward", r.address+"/hook", "--key", p.APIKey, "--url", p.HTTP)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "Listening."; {
		if _, secret, ok := strings.Cut(lines.Text(), "with the secret "); ok {
			r.checkWith(secret)
		}
	}
	if _, _, err := p.send("ann@example.net"); err != nil {
		t.Fatal(err)
	}
	r.expect("email.queued", "email.delivered")
}

package test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spans is a collector of traces.
type spans struct {
	mu      sync.Mutex
	all     []*otlp.Span // guarded by mu
	service string       // guarded by mu
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		s.service = value(resource.Resource.Attributes, "service.name")
		for _, scope := range resource.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// find returns the first span that fits.
func (s *spans) find(fits func(*otlp.Span) bool) *otlp.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range s.all {
		if fits(span) {
			return span
		}
	}
	return nil
}

func named(name string) func(*otlp.Span) bool {
	return func(s *otlp.Span) bool { return s.Name == name }
}

func value(attributes []*common.KeyValue, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			return strings.TrimPrefix(a.Value.String(), "int_value:")
		}
	}
	return ""
}

// traced is an installation that sends its spans to a collector, and a key of a workspace in it.
func traced(t *testing.T, collector string, internet *process) *process {
	t.Helper()
	_, port, err := net.SplitHostPort(internet.SandboxSMTP)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := startWith(t, []string{"env", "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_SERVICE_NAME=post-office"}, "serve", "--data", dir, "--domain", serviceDomain, "--http", "127.0.0.1:0", "--insecure-test-network",
		"--resolver", internet.DNS, "--smtp-port", port, "--otlp-endpoint", collector)
	stdout, stderr, err := run(t, "workspace", "create", "--data", dir, "--name", "Shop", "--owner-email", "olga@shop.test", "--owner-password", "correct horse battery", "--json")
	var created struct {
		APIKey string `json:"api_key"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	p.APIKey = created.APIKey
	_, registered, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains", map[string]any{"domain": "shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, internet, registered)
	if _, verified, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains/"+registered["id"].(string)+"/verify", nil); err != nil || verified["verified"] != true {
		t.Fatalf("%v %v", verified, err)
	}
	return p
}

func TestTracesTellOfRequestsTransactionsAttemptsAndWebhooks(t *testing.T) {
	t.Parallel()
	seen := &spans{}
	server := httptest.NewServer(seen)
	defer server.Close()
	carried := make(chan string, 100)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { carried <- r.Header.Get("Traceparent") }))
	defer endpoint.Close()
	p := traced(t, server.URL, dev(t))
	if status, answer, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/webhooks", map[string]any{"url": endpoint.URL, "events": []string{"email.delivered"}}); err != nil || status/100 != 2 {
		t.Fatalf("%d %v %v", status, answer, err)
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"
	request, err := http.NewRequest(http.MethodPost, p.HTTP+"/v1/emails", strings.NewReader(`{"from":"olga@shop.test","to":"user@example.net","subject":"Order","text":"Thanks"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + p.APIKey, "Content-Type": "application/json", "traceparent": "00-" + trace + "-b7ad6b7169203331-01"} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != http.StatusAccepted {
		t.Fatalf("%v %v", answer, err)
	}
	answer.Body.Close()

	var sent, written, attempt, post *otlp.Span
	ours := func(s *otlp.Span) bool { return hex.EncodeToString(s.TraceId) == trace }
	until(t, startWithin, "spans", func() bool {
		sent = seen.find(func(s *otlp.Span) bool { return ours(s) && s.Name == "POST /emails" })
		written = seen.find(func(s *otlp.Span) bool { return ours(s) && s.Name == "db write" })
		attempt, post = seen.find(named("delivery attempt")), seen.find(named("webhook post"))
		return sent != nil && written != nil && attempt != nil && post != nil && seen.find(named("queue step")) != nil
	})
	if id := value(sent.Attributes, "postrider.request_id"); id == "" || id != answer.Header.Get("X-Request-Id") {
		t.Errorf("request id: %q, %q", id, answer.Header.Get("X-Request-Id"))
	}
	if value(sent.Attributes, "http.route") != "/emails" || value(sent.Attributes, "http.response.status_code") != "202" || hex.EncodeToString(sent.ParentSpanId) != "b7ad6b7169203331" {
		t.Errorf("request: %v", sent)
	}
	if string(written.ParentSpanId) != string(sent.SpanId) {
		t.Errorf("the transaction is not below the request: %v", written)
	}
	if value(attempt.Attributes, "postrider.outcome") != "delivered" || value(attempt.Attributes, "postrider.phase") != "end_of_data" || value(attempt.Attributes, "postrider.site") == "" {
		t.Errorf("attempt: %v", attempt)
	}
	if want := "00-" + hex.EncodeToString(post.TraceId) + "-" + hex.EncodeToString(post.SpanId) + "-01"; <-carried != want || value(post.Attributes, "http.response.status_code") != "200" {
		t.Errorf("post: %v", post)
	}
	if seen.service != "post-office" {
		t.Errorf("service: %q", seen.service)
	}
	for _, secret := range []string{"user@example.net", "Thanks", "Order", p.APIKey, endpoint.URL} {
		if found := seen.find(func(s *otlp.Span) bool { return strings.Contains(s.String(), secret) }); found != nil {
			t.Errorf("%q is in a span: %v", secret, found)
		}
	}
}

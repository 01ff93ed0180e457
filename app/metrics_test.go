package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"postrider/app/apptest"
)

var sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\]|\\.)*",?)*\})? (\S+)$`)

// scrape reads the metrics as a monitor does: by name and labels.
func scrape(t *testing.T, in *apptest.Installation) map[string]float64 {
	t.Helper()
	recorder := httptest.NewRecorder()
	promhttp.HandlerFor(in.App.Metrics(), promhttp.HandlerOpts{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("%d: %s", recorder.Code, recorder.Body)
	}
	values := map[string]float64{}
	for line := range strings.Lines(recorder.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := sample.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("not a sample: %s", line)
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		values[parts[1]+parts[2]] = value
	}
	return values
}

func TestMetricsTellWhatHappens(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@google.test")
		in.Deliver()
		in.Send("bob@example.net")
		in.Clock.Advance(time.Minute)
		in.Call(http.MethodGet, "/no/such/path", nil)
		in.Call("SURPRISE", "/no/such/path", nil)
		got := scrape(t, in)
		for name, want := range map[string]float64{
			`postrider_api_requests_total{method="POST",route="/emails",status="202"}`: 2,
			`postrider_api_requests_total{method="other",route="none",status="404"}`:   2,
			`postrider_api_request_seconds_count`:                                      4,
			`postrider_delivery_attempts_total{outcome="delivered",provider="google"}`: 1,
			`postrider_mail_queue`:                               1,
			`postrider_queue_items{lane="mail",state="ready"}`:   1,
			`postrider_queue_items{lane="mail",state="leased"}`:  0,
			`postrider_webhook_posts_total{outcome="delivered"}`: 0,
			`postrider_db_reachable`:                             1,
			`postrider_delivery_held`:                            0,
		} {
			if value, ok := got[name]; !ok || value != want {
				t.Errorf("%s is %v (%v), want %v", name, value, ok, want)
			}
		}
		for _, name := range []string{`postrider_follower_behind{follower="stats"}`, `postrider_db_writes_total`, `postrider_db_write_wait_seconds_total`} {
			if got[name] <= 0 {
				t.Errorf("%s is %v", name, got[name])
			}
		}
		if age := got[`postrider_queue_age_seconds{lane="mail"}`]; age < 59 || age > 120 {
			t.Errorf("the oldest mail has waited %v seconds", age)
		}
		in.CatchUp(in.App.Followers())
		for name, value := range scrape(t, in) {
			if strings.HasPrefix(name, "postrider_follower_behind") && value != 0 && !strings.Contains(name, "webhook") {
				t.Errorf("after all have followed, %s is %v", name, value)
			}
		}
	})
}

func TestMailForOneNodeIsInTheQueueToo(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, w := range in.App.Nodes.Workers()[:1] { // the one that says that the node is there
			if _, err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		in.Send("ann@example.net")
		if answer := in.Call(http.MethodPatch, "/domains/"+in.DomainID, map[string]any{"sending_node_id": apptest.NodeID}); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Send("bob@example.net")
		if got := scrape(t, in)[`postrider_mail_queue`]; got != 2 {
			t.Errorf("%v recipients wait, of two", got)
		}
	})
}

func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Send("ann@google.test")
	in.Deliver()
	in.Send("bob@example.net")
	known, shown := map[string]bool{}, map[string]bool{}
	metric := regexp.MustCompile(`postrider_[a-z_]+`)
	for name := range scrape(t, in) {
		known[metric.FindString(name)] = true
	}
	raw, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%q shows nothing", p.Title)
		}
	}
	for _, name := range metric.FindAllString(string(raw), -1) {
		shown[name] = true
		if !known[name] {
			t.Errorf("the dashboard asks for %s, which does not exist", name)
		}
	}
	for name := range known {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count"), "_bucket")
		if name != "" && !shown[name] && !shown[base+"_bucket"] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

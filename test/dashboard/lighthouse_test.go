package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/test/browser"
)

var lighthouse = flag.Bool("lighthouse", false, "let Lighthouse judge the main pages, which takes minutes")

const (
	// goodScore is what every page must reach in every category, of 100.
	goodScore = 95
	// lighthouseRounds is how often a page is measured before it counts as slow: other work on the machine can only take points away.
	lighthouseRounds = 5
)

// categories are what pages are judged by.
var categories = []string{"performance", "accessibility", "best-practices"}

// verdicts are what Lighthouse says of a page.
type verdicts struct {
	Categories map[string]struct {
		Score  float64
		Audits []weighed `json:"auditRefs"`
	}
	Audits map[string]struct {
		Score   *float64
		Title   string
		Display string `json:"displayValue"`
	}
	Environment struct {
		// Benchmark is how fast the machine seemed; about 1500 is a laptop that does nothing else.
		Benchmark float64 `json:"benchmarkIndex"`
	}
	Error struct{ Code, Message string } `json:"runtimeError"`
}

// weighed is a check of a category, and how much of the score it is.
type weighed struct {
	ID     string
	Weight float64
}

func TestLighthouseFindsLittleToBetterOnTheMainPages(t *testing.T) {
	if !*lighthouse {
		t.Skip("measured by make lighthouse")
	}
	program, err := filepath.Abs(filepath.Join("..", "clients", "node_modules", "lighthouse", "cli", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil || browser.Program() == "" {
		t.Skip("skipped: Lighthouse needs npm and Chromium; see CONTRIBUTING.md")
	}
	o := &tour{t: t, ready: install(t)}
	headers := o.signedInHeaders()
	pages := o.mainPages()
	for _, device := range []string{"desktop", "mobile"} {
		for _, page := range pages {
			found := judge(t, program, headers, o.ready.HTTP+o.path(page.path), device)
			t.Logf("%-16s %-8s %s", page.name, device, found.line())
			for _, category := range categories {
				if score := found.score(category); score < goodScore {
					t.Errorf("%s on %s: %s %d, at least %d:\n%s", page.name, device, category, score, goodScore, found.complaints(category))
				}
			}
		}
	}
}

// signedInHeaders writes a file with the headers that make a request one of the owner.
func (o *tour) signedInHeaders() string {
	o.t.Helper()
	cookie := o.person().cookie()
	raw, err := json.Marshal(map[string]string{"Cookie": cookie.Name + "=" + cookie.Value})
	if err != nil {
		o.t.Fatal(err)
	}
	file := filepath.Join(o.t.TempDir(), "headers.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return file
}

type mainPage struct{ name, path string }

// mainPages fills the installation and returns the pages that people spend their days on.
func (o *tour) mainPages() []mainPage {
	o.t.Helper()
	var id string
	for i := range 60 {
		id, _ = o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("reader%d@example.net", i), "subject": fmt.Sprintf("Letter %d", i),
			"html": "<h1>Good day</h1><p>How are you?</p>"})["id"].(string)
	}
	for began := time.Now(); o.call("GET", "/emails/"+id, nil)["status"] != "delivered"; time.Sleep(100 * time.Millisecond) { // what happens while a page is measured changes it
		if time.Since(began) > startWithin {
			o.t.Fatal("the last email was not delivered")
		}
	}
	made, _ := o.call("POST", "/templates", map[string]any{"name": "Welcome", "subject": "Hi {{FIRST_NAME|there}}", "html": "<h1>Hi {{FIRST_NAME|there}}</h1><p>Welcome to the house.</p>"})["id"].(string)
	return []mainPage{{"overview", ""}, {"emails", "/emails"}, {"email", "/emails/" + id}, {"template editor", "/templates/" + made + "/edit"}}
}

// judge measures a page, and again if it seems slow, and returns the best of what was found.
func judge(t *testing.T, program, headers, url, device string) (best verdicts) {
	t.Helper()
	for range lighthouseRounds {
		found := measure(t, program, headers, url, device)
		if best.Categories == nil || found.score("performance") > best.score("performance") {
			best = found
		}
		if best.score("performance") >= goodScore {
			break
		}
	}
	return best
}

func measure(t *testing.T, program, headers, url, device string) (found verdicts) {
	t.Helper()
	arguments := []string{program, url, "--quiet", "--output=json", "--no-enable-error-reporting", "--only-categories=" + strings.Join(categories, ","), "--extra-headers=" + headers,
		"--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-component-update --disable-sync"}
	if device == "desktop" {
		arguments = append(arguments, "--preset=desktop")
	}
	command := exec.CommandContext(t.Context(), "node", arguments...)
	command.Env = append(os.Environ(), "CHROME_PATH="+browser.Program())
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil || found.Error.Code != "" {
		t.Fatalf("lighthouse %s: %v %s %s", url, err, found.Error.Message, complaint.String())
	}
	return found
}

// score is what a category reached, of 100.
func (v verdicts) score(category string) int { return int(v.Categories[category].Score*100 + .5) }

func (v verdicts) line() string {
	var parts []string
	for _, category := range categories {
		parts = append(parts, fmt.Sprintf("%s %3d", category, v.score(category)))
	}
	return fmt.Sprintf("%s   (machine %.0f)", strings.Join(parts, "   "), v.Environment.Benchmark)
}

// complaints are the checks of a category that cost points, the dearest first.
func (v verdicts) complaints(category string) string {
	audits := slices.Clone(v.Categories[category].Audits)
	lost := func(a weighed) float64 {
		if score := v.Audits[a.ID].Score; score != nil {
			return (1 - *score) * a.Weight
		}
		return 0
	}
	slices.SortFunc(audits, func(a, b weighed) int { return cmp.Compare(lost(b), lost(a)) })
	var lines []string
	for _, a := range audits {
		if lost(a) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s %s", a.ID, v.Audits[a.ID].Title, v.Audits[a.ID].Display))
		}
	}
	return strings.Join(lines, "\n")
}

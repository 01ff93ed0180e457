// Command audience measures what a large audience costs on the embedded database: importing 100,000 contacts from a file, filling up to
// a million, and counting and listing segments among them. It talks to the built program over HTTP, and prints each figure with its
// bound.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"postrider/bench/measure"
)

const (
	importSize  = 100_000
	importBound = 20 * time.Second
	countBound  = time.Second
	pageBound   = 50 * time.Millisecond
	// pages is how far a segment is followed.
	pages = 100
	poll  = 20 * time.Millisecond
)

func main() {
	contacts := flag.Int("contacts", 1_000_000, "how many contacts there are when segments are measured")
	measure.Main("audience", func(ctx context.Context) error { return run(ctx, *contacts) })
}

// client talks to the program under measurement.
type client struct {
	ctx       context.Context
	process   *measure.Process
	base, key string
}

func run(ctx context.Context, contacts int) error {
	dir, err := os.MkdirTemp(".", "bench-audience-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := measure.Build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	p, err := measure.Start(ctx, dir, program, "dev", "--data", filepath.Join(dir, "data"), "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer p.Stop()
	c := &client{ctx: ctx, process: p, base: p.Text("http") + "/v1", key: p.Text("api_key")}
	for _, property := range []map[string]any{{"key": "plan", "type": "string"}, {"key": "seats", "type": "number"}} {
		if _, err := c.call(http.MethodPost, "/contact-properties", property); err != nil {
			return err
		}
	}
	if err := c.measureImports(contacts); err != nil {
		return err
	}
	return c.measureSegments()
}

// measureImports imports the first contacts, and then the rest in one file as far as one may be large.
func (c *client) measureImports(contacts int) error {
	took, err := c.importFile(0, importSize)
	if err != nil {
		return err
	}
	fmt.Printf("import of %d contacts     %8.1f s   bound %s   %s\n", importSize, took.Seconds(), importBound, verdict(took, importBound))
	first := c.process.PeakMemory()
	const most = 800_000 // a larger file would be refused
	for have := importSize; have < contacts; have += most {
		size := min(most, contacts-have)
		took, err := c.importFile(have, size)
		if err != nil {
			return err
		}
		fmt.Printf("import of %d contacts     %8.1f s   %.0f a second\n", size, took.Seconds(), float64(size)/took.Seconds())
	}
	fmt.Printf("peak memory after %d contacts %d MB, after all %d MB (a file of 50 MB is held once while it is received)\n", importSize, first>>20, c.process.PeakMemory()>>20)
	return nil
}

func verdict(took, bound time.Duration) string {
	if took > bound {
		return "MISSED"
	}
	return "met"
}

// importFile imports contacts with these numbers and returns how long that took, from the request to the last contact.
func (c *client) importFile(from, count int) (time.Duration, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "contacts.csv")
	if err != nil {
		return 0, err
	}
	fmt.Fprint(file, "email,first_name,last_name,plan,seats\n")
	plans := []string{"free", "pro", "team", "free", "free"}
	for i := from; i < from+count; i++ {
		fmt.Fprintf(file, "user%d@example%d.net,First%d,Last,%s,%d\n", i, i%500, i%1000, plans[i%len(plans)], i%97)
	}
	form.Close()
	begun := time.Now()
	answer, err := c.send(http.MethodPost, "/contacts/imports", form.FormDataContentType(), &body)
	if err != nil {
		return 0, err
	}
	for {
		im, err := c.call(http.MethodGet, "/contacts/imports/"+fmt.Sprint(answer["id"]), nil)
		if err != nil {
			return 0, err
		}
		switch im["status"] {
		case "completed":
			return time.Since(begun), nil
		case "failed":
			return 0, fmt.Errorf("import failed: %v", im["failure"])
		}
		select {
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		case <-time.After(poll):
		}
	}
}

func rule(field, operator string, value any) map[string]any {
	return map[string]any{"type": "rule", "field": field, "operator": operator, "value": value}
}

// measureSegments counts segments and follows them page by page.
func (c *client) measureSegments() error {
	and := func(rules ...any) map[string]any { return map[string]any{"type": "and", "rules": rules} }
	for _, s := range []struct {
		name   string
		filter map[string]any
	}{
		{"plan is pro", rule("properties.plan", "eq", "pro")},
		{"plan is not free", rule("properties.plan", "neq", "free")},
		{"pro with more than 50 seats", and(rule("properties.plan", "eq", "pro"), rule("properties.seats", "gt", 50))},
		{"domain, or 96 seats", map[string]any{"type": "or", "rules": []any{rule("email_domain", "eq", "example7.net"), rule("properties.seats", "eq", 96)}}},
		{"name contains 99", rule("first_name", "contains", "99")},
		{"made this week", rule("created_at", "within_last", "7 days")},
		{"few among many", and(rule("properties.seats", "eq", 13), rule("email_domain", "eq", "example13.net"))},
	} {
		begun := time.Now()
		made, err := c.call(http.MethodPost, "/segments", map[string]any{"name": s.name, "filter": s.filter})
		if err != nil {
			return err
		}
		counting := time.Since(begun)
		took, err := c.follow(fmt.Sprint(made["id"]))
		if err != nil {
			return err
		}
		p99 := took[len(took)*99/100]
		fmt.Printf("%-28s %8.0f contacts   counted in %6.0f ms (bound %s, %s)   pages p50 %5.1f ms, p99 %5.1f ms (bound %s, %s)\n", s.name, made["contact_count"],
			milliseconds(counting), countBound, verdict(counting, countBound), milliseconds(took[len(took)/2]), milliseconds(p99), pageBound, verdict(p99, pageBound))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// follow reads pages of a segment one after the other and returns how long each took, the shortest first.
func (c *client) follow(id string) ([]time.Duration, error) {
	var took []time.Duration
	after := ""
	for range pages {
		begun := time.Now()
		page, err := c.call(http.MethodGet, "/segments/"+id+"/contacts?limit=50"+after, nil)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun))
		rows, _ := page["data"].([]any)
		if page["has_more"] != true || len(rows) == 0 {
			break
		}
		last, _ := rows[len(rows)-1].(map[string]any)
		after = "&after=" + fmt.Sprint(last["id"])
	}
	slices.Sort(took)
	return took, nil
}

func (c *client) call(method, path string, body map[string]any) (map[string]any, error) {
	if body == nil {
		return c.send(method, path, "", http.NoBody)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.send(method, path, "application/json", bytes.NewReader(raw))
}

func (c *client) send(method, path, kind string, body io.Reader) (answer map[string]any, err error) {
	request, err := http.NewRequestWithContext(c.ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s", method, strings.SplitN(path, "?", 2)[0], raw)
	}
	return answer, json.Unmarshal(raw, &answer)
}

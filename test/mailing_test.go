package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
)

// mailing is a broadcast of a shop, with what its recipients' servers have seen of it.
type mailing struct {
	*shop
	people int
	list   string
	id     string
	// kills are the moments at which the program was killed.
	kills []time.Time
	// unwilling are those who must not be mailed.
	unwilling map[string]bool
}

// statisticsFrom is how many rows PostgreSQL should not plan for blindly: the server that tests share keeps no statistics.
const statisticsFrom = 10_000

// onBothEngines runs test on the storage of each.
func onBothEngines(t *testing.T, test func(t *testing.T, storage []string)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			var storage []string
			switch {
			case engine == "postgres" && *broadcastPeople > statisticsFrom:
				storage = []string{"--database-url", startPostgres(t, "127.0.0.1").url()}
			case engine == "postgres":
				storage = []string{"--database-url", dbtest.URL(t, "postgres")}
			}
			test(t, storage)
		})
	}
}

// person is the address of one of the people on the list.
func person(n int) string { return fmt.Sprintf("person-%d@d%d.test", n, n%killSites) }

// openMailing starts an installation with a list of people, some of whom want no mail.
func openMailing(t *testing.T, people int, storage []string) *mailing {
	t.Helper()
	s, _ := newShop(t, nil, storage...)
	s.key = s.p.shop(t, s.internet, "", s.storage)
	m := &mailing{shop: s, people: people, unwilling: map[string]bool{}}
	m.list = m.must(http.MethodPost, "/audience/lists", map[string]any{"name": "Everybody"})["id"].(string)
	m.importPeople()
	for n := range 10 {
		left, blocked := person(n*people/10), person(n*people/10+1)
		m.must(http.MethodPatch, "/contacts/"+left, map[string]any{"unsubscribed": true})
		m.must(http.MethodPost, "/suppressions", map[string]any{"email": blocked})
		m.unwilling[left], m.unwilling[blocked] = true, true
	}
	return m
}

// must makes a request that has to be answered with a yes.
func (m *mailing) must(method, path string, body any) map[string]any {
	m.t.Helper()
	status, answer, err := call(m.key, method, "http://"+m.address+"/v1"+path, body)
	if err != nil || status/100 != 2 {
		m.t.Fatalf("%s %s: %d %v %v", method, path, status, answer, err)
	}
	return answer
}

// importPeople puts everybody on the list from a file.
func (m *mailing) importPeople() {
	m.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("list_id", m.list); err != nil {
		m.t.Fatal(err)
	}
	file, err := form.CreateFormFile("file", "people.csv")
	if err != nil {
		m.t.Fatal(err)
	}
	fmt.Fprintln(file, "email,first_name")
	for n := range m.people {
		fmt.Fprintf(file, "%s,Name%d\n", person(n), n)
	}
	form.Close()
	request, err := http.NewRequest(http.MethodPost, "http://"+m.address+"/v1/contacts/imports", &body)
	if err != nil {
		m.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+m.key)
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	var made struct{ ID string }
	if err != nil || json.Unmarshal(raw, &made) != nil || answer.StatusCode != http.StatusAccepted {
		m.t.Fatalf("import: %d %s %v", answer.StatusCode, raw, err)
	}
	m.patiently(5*time.Minute, "the import", func() bool {
		return m.must(http.MethodGet, "/contacts/imports/"+made.ID, nil)["status"] == "completed"
	})
}

// patiently is until for what takes long and costs something to be asked for.
func (m *mailing) patiently(within time.Duration, what string, happened func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(within); !happened(); after(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.t.Fatalf("%s did not come within %s: %v", what, within, m.look())
		}
	}
}

// launch sends the broadcast.
func (m *mailing) launch() {
	m.t.Helper()
	m.id = m.must(http.MethodPost, "/broadcasts", map[string]any{"audience_id": m.list, "from": "News <olga@shop.test>", "subject": "Hi {{{FIRST_NAME}}}",
		"html": "<p>News for {{{FIRST_NAME}}}</p>", "send": true})["id"].(string)
}

// look returns the broadcast.
func (m *mailing) look() map[string]any {
	m.t.Helper()
	if m.id == "" {
		return nil
	}
	return m.must(http.MethodGet, "/broadcasts/"+m.id, nil)
}

// totals returns the counters of the broadcast, as its statistics tell them.
func (m *mailing) totals() map[string]int {
	m.t.Helper()
	stats := m.must(http.MethodGet, "/broadcasts/"+m.id+"/stats", nil)
	all := map[string]int{}
	for name, value := range stats["totals"].(map[string]any) {
		all[name] = int(value.(float64))
	}
	for _, part := range []string{"timeseries", "by_isp"} {
		for _, row := range stats[part].([]any) {
			all["delivered in "+part] += int(row.(map[string]any)["delivered"].(float64))
		}
	}
	return all
}

// arrivedSoFar is how many people have the mail.
func (m *mailing) arrivedSoFar() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.arrived)
}

// die kills the program and starts it again on what it left behind.
func (m *mailing) die() {
	m.t.Helper()
	m.p.kill()
	m.kills = append(m.kills, time.Now())
	m.serve()
	m.t.Logf("killed with %d arrivals and up again after %s", m.arrivedSoFar(), time.Since(m.kills[len(m.kills)-1]).Round(time.Millisecond))
}

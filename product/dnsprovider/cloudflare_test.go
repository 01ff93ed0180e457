package dnsprovider_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rr is a record as Cloudflare shows it.
type rr struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Content  string   `json:"content"`
	Priority *int     `json:"priority,omitempty"`
	TTL      int      `json:"ttl"`
	Proxied  bool     `json:"proxied"`
	Comment  *string  `json:"comment"`
	Tags     []string `json:"tags"`
}

// fakeCloudflare is Cloudflare's API as far as it is used here: envelope, tokens, zones, and records with their rules.
type fakeCloudflare struct {
	url string

	mu       sync.Mutex
	before   intercept         // guarded by mu
	tokens   map[string]string // state by token; guarded by mu
	readOnly map[string]bool   // tokens that may not write; guarded by mu
	zones    []fakeZone        // guarded by mu
	records  []rr              // of all zones; guarded by mu
	calls    []string          // method and path of every call; guarded by mu
	serial   int               // guarded by mu
}

// intercept is asked before the API answers, and without its lock; true means that it has answered.
type intercept func(w http.ResponseWriter, r *http.Request) bool

type fakeZone struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	token  string // the only one that sees it; empty means every one
}

func newCloudflare(t testing.TB) *fakeCloudflare {
	f := &fakeCloudflare{tokens: map[string]string{}, readOnly: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /client/v4/user/tokens/verify", f.verify)
	mux.HandleFunc("GET /client/v4/zones", f.listZones)
	mux.HandleFunc("GET /client/v4/zones/{zone}/dns_records", f.listRecords)
	mux.HandleFunc("POST /client/v4/zones/{zone}/dns_records", f.create)
	mux.HandleFunc("PATCH /client/v4/zones/{zone}/dns_records/{id}", f.patch)
	mux.HandleFunc("DELETE /client/v4/zones/{zone}/dns_records/{id}", f.remove)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls = append(f.calls, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/client/v4"))
		before := f.before
		f.mu.Unlock()
		if before != nil && before(w, r) {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.authorise(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f.url = server.URL + "/client/v4"
	return f
}

func (f *fakeCloudflare) authorise(w http.ResponseWriter, r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch state := f.tokens[token]; {
	case state == "":
		problem(w, 401, 1000, "Invalid API Token")
	case state != "active" && !strings.HasSuffix(r.URL.Path, "/verify"):
		problem(w, 401, 1000, "Invalid API Token")
	case f.readOnly[token] && r.Method != http.MethodGet:
		problem(w, 403, 10000, "Authentication error")
	default:
		return true
	}
	return false
}

func problem(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"success": false, "errors": []any{map[string]any{"code": code, "message": message}},
		"messages": []any{}, "result": nil})
}

func success(w http.ResponseWriter, result any, info any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "errors": []any{}, "messages": []any{}, "result": result, "result_info": info})
}

func (f *fakeCloudflare) verify(w http.ResponseWriter, r *http.Request) {
	state := f.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	success(w, map[string]string{"id": "f267e341f3dd4697bd3b9f71dd96247f", "status": state}, nil)
}

// page answers one page of a list; sizes outside of the bounds are refused.
func page[T any](w http.ResponseWriter, r *http.Request, all []T, smallest, largest int) {
	number, perPage := 1, 20
	if text := r.URL.Query().Get("page"); text != "" {
		number, _ = strconv.Atoi(text)
	}
	if text := r.URL.Query().Get("per_page"); text != "" {
		perPage, _ = strconv.Atoi(text)
	}
	if number < 1 || perPage < smallest || perPage > largest {
		problem(w, 400, 9007, "Invalid page or per_page")
		return
	}
	from := min((number-1)*perPage, len(all))
	rows := all[from:min(from+perPage, len(all))]
	if rows == nil {
		rows = []T{}
	}
	success(w, rows, map[string]int{"page": number, "per_page": perPage, "count": len(rows), "total_count": len(all),
		"total_pages": (len(all) + perPage - 1) / perPage})
}

func (f *fakeCloudflare) listZones(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	page(w, r, slices.DeleteFunc(slices.Clone(f.zones), func(z fakeZone) bool {
		return z.Name != r.URL.Query().Get("name") || z.token != "" && z.token != token
	}), 5, 50)
}

func (f *fakeCloudflare) zone(w http.ResponseWriter, r *http.Request) (fakeZone, bool) {
	for _, z := range f.zones {
		if z.ID == r.PathValue("zone") {
			return z, true
		}
	}
	problem(w, 404, 7003, "Could not route to /zones/"+r.PathValue("zone")+", perhaps your object identifier is invalid?")
	return fakeZone{}, false
}

func (f *fakeCloudflare) listRecords(w http.ResponseWriter, r *http.Request) {
	z, ok := f.zone(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	found := slices.DeleteFunc(slices.Clone(f.records), func(record rr) bool {
		return !within(record.Name, z.Name) || q.Get("name") != "" && record.Name != q.Get("name") || q.Get("type") != "" && record.Type != q.Get("type")
	})
	slices.SortStableFunc(found, func(a, b rr) int { return cmp.Compare(a.Type, b.Type) })
	page(w, r, found, 1, 5_000_000)
}

func within(name, zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

func (f *fakeCloudflare) create(w http.ResponseWriter, r *http.Request) {
	if z, ok := f.zone(w, r); ok {
		f.serial++
		f.store(w, r, z, rr{ID: fmt.Sprintf("%032x", f.serial), Tags: []string{}}, -1)
	}
}

func (f *fakeCloudflare) patch(w http.ResponseWriter, r *http.Request) {
	z, ok := f.zone(w, r)
	if !ok {
		return
	}
	at := slices.IndexFunc(f.records, func(record rr) bool { return record.ID == r.PathValue("id") })
	if at < 0 {
		problem(w, 404, 81044, "Record does not exist.")
		return
	}
	f.store(w, r, z, f.records[at], at)
}

func (f *fakeCloudflare) remove(w http.ResponseWriter, r *http.Request) {
	at := slices.IndexFunc(f.records, func(record rr) bool { return record.ID == r.PathValue("id") })
	if at < 0 {
		problem(w, 404, 81044, "Record does not exist.")
		return
	}
	f.records = slices.Delete(f.records, at, at+1)
	success(w, map[string]string{"id": r.PathValue("id")}, nil)
}

// store changes record by the body of the request and keeps it, if the rules allow, in place of the one at an index.
func (f *fakeCloudflare) store(w http.ResponseWriter, r *http.Request, z fakeZone, record rr, at int) {
	body, err := io.ReadAll(r.Body)
	kept := record.ID
	if err != nil || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &record) != nil || record.ID != kept {
		problem(w, 400, 9207, "Content-type must be application/json, and the body a record.")
		return
	}
	if code, message := f.check(z, record, at); code != 0 {
		problem(w, 400, code, message)
		return
	}
	if at < 0 {
		f.records = append(f.records, record)
	} else {
		f.records[at] = record
	}
	success(w, record, nil)
}

var characterStrings = regexp.MustCompile(`^"([^"\\]|\\.){0,255}"( "([^"\\]|\\.){0,255}")*$`)

func (f *fakeCloudflare) check(z fakeZone, record rr, at int) (code int, message string) {
	addresses := []string{"A", "AAAA", "CNAME"}
	switch {
	case !within(record.Name, z.Name):
		return 9005, "DNS name is outside of the zone."
	case record.TTL != 1 && record.TTL < 60:
		return 9021, "Invalid TTL. Must be between 60 and 86400 seconds, or 1 for Automatic."
	case record.Proxied && !slices.Contains(addresses, record.Type):
		return 9004, "This record type cannot be proxied."
	case record.Type == "MX" && record.Priority == nil:
		return 9101, "priority is a required field."
	case record.Type == "TXT" && !characterStrings.MatchString(record.Content):
		return 9009, "TXT content must be quoted character strings of up to 255 bytes."
	case record.Comment != nil && len(*record.Comment) > 100:
		return 9300, "Comment is too long."
	}
	for i, other := range f.records {
		switch {
		case i == at || other.Name != record.Name:
		case other.Type == record.Type && strings.Trim(other.Content, `"`) == strings.Trim(record.Content, `"`):
			return 81058, "An identical record already exists."
		case record.Type == "CNAME" && slices.Contains(addresses, other.Type):
			return 81053, "An A, AAAA, or CNAME record with that host already exists."
		case other.Type == "CNAME" && slices.Contains(addresses, record.Type):
			return 81054, "A CNAME record with that host already exists."
		}
	}
	return 0, ""
}

// set changes what the API knows.
func (f *fakeCloudflare) set(change func(f *fakeCloudflare)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// intercept lets somebody answer in place of the API from now on; nil ends it.
func (f *fakeCloudflare) intercept(before intercept) {
	f.set(func(f *fakeCloudflare) { f.before = before })
}

// all returns the records of all zones.
func (f *fakeCloudflare) all() []rr {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.records)
}

// heard forgets the calls so far and returns them.
func (f *fakeCloudflare) heard() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// put adds records of somebody else, as they would in the dashboard, and returns them with their ids.
func (f *fakeCloudflare) put(records ...rr) []rr {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range records {
		f.serial++
		records[i].ID = fmt.Sprintf("%032x", f.serial)
		if records[i].TTL == 0 {
			records[i].TTL = 3600
		}
		if records[i].Tags == nil {
			records[i].Tags = []string{}
		}
		f.records = append(f.records, records[i])
	}
	return records
}

// at returns the records of a name and type.
func (f *fakeCloudflare) at(kind, name string) []rr {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.records), func(record rr) bool { return record.Type != kind || record.Name != name })
}

// writes is heard without the calls that change nothing.
func (f *fakeCloudflare) writes() []string {
	return slices.DeleteFunc(f.heard(), func(c string) bool { return strings.HasPrefix(c, "GET ") })
}

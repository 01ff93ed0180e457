package cloudflare

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// perPage keeps a page of the longest records within the 64 KB that are read of an answer.
	perPage = 10
	// maxPages bounds what one name may hold; a name with more than 500 records is not a sending domain.
	maxPages = 50
)

// VerifyToken returns the state of the client's token: "active", "disabled" or "expired".
func (c *Client) VerifyToken(ctx context.Context) (string, error) {
	result, _, err := do[struct {
		Status string `json:"status"`
	}](ctx, c, call{method: http.MethodGet, path: "/user/tokens/verify"})
	return result.Status, err
}

// Zone is a domain that Cloudflare answers for.
type Zone struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// FindZone returns the zone of a name, if the token can see one. Of several, as accounts that share a name have them, the one
// in service is taken.
func (c *Client) FindZone(ctx context.Context, name string) (zone Zone, found bool, err error) {
	query := url.Values{"name": {name}, "per_page": {strconv.Itoa(perPage)}}
	zones, _, err := do[[]Zone](ctx, c, call{method: http.MethodGet, path: "/zones", query: query})
	for _, z := range zones {
		if strings.EqualFold(z.Name, name) && (!found || z.Status == "active" && zone.Status != "active") {
			zone, found = z, true
		}
	}
	return zone, found, err
}

// Record is a DNS record of a zone.
type Record struct {
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Content  string   `json:"content"`
	Priority *int     `json:"priority,omitempty"`
	TTL      int      `json:"ttl"`
	Proxied  bool     `json:"proxied"`
	Comment  string   `json:"comment"`
	Tags     []string `json:"tags,omitempty"`
}

// AutoTTL leaves the lifetime of a record to Cloudflare.
const AutoTTL = 1

// Records returns every record at a name, whatever its type.
func (c *Client) Records(ctx context.Context, zone, name string) ([]Record, error) {
	var all []Record
	for page := 1; ; page++ {
		query := url.Values{"name": {name}, "per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}
		records, info, err := do[[]Record](ctx, c, call{method: http.MethodGet, path: recordsPath(zone), query: query})
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if strings.EqualFold(r.Name, name) { // a filter that was not understood must not hand us the records of others
				all = append(all, r)
			}
		}
		if page >= info.TotalPages {
			return all, nil
		}
		if page == maxPages {
			return nil, &Failure{cause: fmt.Errorf("more than %d records at %s", perPage*maxPages, name)}
		}
	}
}

// Create adds a record.
func (c *Client) Create(ctx context.Context, zone string, r Record) error {
	_, _, err := do[Record](ctx, c, call{method: http.MethodPost, path: recordsPath(zone), body: r})
	return err
}

// Replace turns the record with the id into r.
func (c *Client) Replace(ctx context.Context, zone, id string, r Record) error {
	_, _, err := do[Record](ctx, c, call{method: http.MethodPatch, path: recordPath(zone, id), body: r})
	return err
}

// SetContent changes the content of a record and nothing else.
func (c *Client) SetContent(ctx context.Context, zone, id, content string) error {
	_, _, err := do[Record](ctx, c, call{method: http.MethodPatch, path: recordPath(zone, id), body: map[string]string{"content": content}})
	return err
}

// Delete removes a record.
func (c *Client) Delete(ctx context.Context, zone, id string) error {
	_, _, err := do[Record](ctx, c, call{method: http.MethodDelete, path: recordPath(zone, id)})
	return err
}

func recordsPath(zone string) string { return "/zones/" + url.PathEscape(zone) + "/dns_records" }

func recordPath(zone, id string) string { return recordsPath(zone) + "/" + url.PathEscape(id) }

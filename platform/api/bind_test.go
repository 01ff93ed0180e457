package api_test

import (
	"context"
	"strings"
	"testing"

	"postrider/platform/api"
)

func TestEveryValueOfAFilterMustBeText(t *testing.T) {
	t.Parallel()
	h := newServer(api.Config{}, api.Route{Method: "GET", Path: "/things", Access: api.Public, Bucket: api.BucketTracking,
		Handler: api.Handle(func(_ context.Context, _ api.Caller, r struct {
			Status []string `query:"status"`
		}) (echo, error) {
			return echo{To: r.Status}, nil
		})})
	for query, want := range map[string]string{
		"status=a&status=b,c":   `"to":["a","b","c"]`,
		"status=%00&status=b":   `"status":["Must be valid text."]`,
		"status=%e9&status=b":   `"status":["Must be valid text."]`,
		"status=b&status=%e9,c": `"status":["Must be valid text."]`,
	} {
		if got := ask(h, request{path: "/v1/things?" + query}); !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %s", query, got.Body)
		}
	}
}

package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"postrider/platform/api"
	"postrider/platform/limit"
	"postrider/world"
)

func TestReadersBehindOneProxyShareALargeBucket(t *testing.T) {
	t.Parallel()
	heads := 0
	count := api.Handle(func(_ context.Context, caller api.Caller, _ api.None) (echo, error) {
		if caller.Head {
			heads++
		}
		return echo{}, nil
	})
	h := api.NewServer(api.Config{World: world.New(slog.New(slog.NewTextHandler(io.Discard, nil))), Keys: people{}, Sessions: people{},
		Rates: func(string, api.Bucket) limit.Rate { return plenty }}, []api.Route{
		{Method: http.MethodGet, Path: "/images", Access: api.Public, Bucket: api.BucketTracking, Handler: count},
		{Method: http.MethodGet, Path: "/pages", Access: api.Public, Bucket: api.BucketPublicToken, Handler: count},
	})
	refused := map[string]bool{}
	for range 100 {
		for _, path := range []string{"/v1/images", "/v1/pages"} {
			refused[path] = refused[path] || ask(h, request{path: path}).Code == http.StatusTooManyRequests
		}
	}
	if refused["/v1/images"] || !refused["/v1/pages"] {
		t.Errorf("refused: %v", refused)
	}
	if ask(h, request{method: http.MethodHead, path: "/v1/images"}); heads != 1 {
		t.Errorf("%d requests asked for headers only", heads)
	}
}

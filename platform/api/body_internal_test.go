package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/platform/limit"
	"postrider/world"
)

func TestRefusedBodiesGiveTheirMemoryBack(t *testing.T) {
	t.Parallel()
	s := NewServer(Config{World: world.New(slog.New(slog.DiscardHandler)), SpoolDir: t.TempDir(),
		Rates: func(string, Bucket) limit.Rate { return limit.Rate{Count: 100, Per: time.Second, Burst: 100} }},
		[]Route{{Method: http.MethodPost, Path: "/choices", Access: Public, Form: true, Handler: Handle(func(context.Context, Caller, struct{ Body struct{} }) (struct{}, error) {
			return struct{}{}, nil
		})}})
	long := strings.Repeat("a", 2*smallBody)
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"form":             {mediaForm, "choice=" + long, http.StatusOK},
		"malformed form":   {mediaForm, "choice=%zz" + long, http.StatusBadRequest},
		"broken multipart": {mediaMultipart + "; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"choice\"\r\n\r\n" + long, http.StatusBadRequest},
		"not UTF-8":        {mediaJSON, `{"choice":"` + long + "\xff\"}", http.StatusBadRequest},
	} {
		request, answer := httptest.NewRequest(http.MethodPost, "/v1/choices", strings.NewReader(c.body)), httptest.NewRecorder()
		request.Header.Set("Content-Type", c.kind)
		s.ServeHTTP(answer, request)
		if answer.Code != c.status {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		if !s.bodies.TryAcquire(bodyBudget) {
			t.Fatalf("%s: memory is still claimed", name)
		}
		s.bodies.Release(bodyBudget)
		if !s.spooled.TryAcquire(spoolBudget) {
			t.Fatalf("%s: disk is still claimed", name)
		}
		s.spooled.Release(spoolBudget)
	}
}

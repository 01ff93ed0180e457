package app_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/blob"
	"postrider/product/delivery"
	"postrider/product/plan"
)

// twin is another process on the database of an installation.
func twin(t *testing.T, in *apptest.Installation) *app.App {
	t.Helper()
	w := in.App.World
	blobs, err := blob.NewFiles(t.TempDir(), w.Clock, w.Random)
	if err != nil {
		t.Fatal(err)
	}
	return app.Assemble(w, in.App.DB, blobs, in.Keys, app.Settings{ServiceDomain: "mail.postrider.test", BaseURL: "https://postrider.test",
		Delivery: delivery.Config{Node: "00000000-0000-7000-8000-00000000000b", Hello: "mx2.mail.postrider.test"}})
}

func ask(a *app.App, key, method, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, "/v1"+path, nil)
	request.Header.Set("Authorization", "Bearer "+key)
	answer := httptest.NewRecorder()
	a.API.ServeHTTP(answer, request)
	return answer
}

func TestProcessesShareTheRatesOfTheAPI(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres")
	_, key := in.NewWorkspace(plan.Free) // 20 reads a second, 40 at once; a credit of 2 for each process
	processes := []*app.App{in.App, twin(t, in)}
	begun := in.Clock.Now()
	allowed, refused := 0, 0
	for range 50 {
		for _, a := range processes {
			switch answer := ask(a, key, http.MethodGet, "/emails"); answer.Code {
			case http.StatusOK:
				allowed++
				if answer.Header().Get("Ratelimit-Limit") != "40" || answer.Header().Get("Ratelimit-Remaining") == "" {
					t.Fatalf("headers: %v", answer.Header())
				}
			case http.StatusTooManyRequests:
				refused++
				if wait, err := strconv.Atoi(answer.Header().Get("Retry-After")); err != nil || wait < 1 || answer.Header().Get("Ratelimit-Remaining") != "0" {
					t.Fatalf("headers: %v", answer.Header())
				}
			default:
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
		}
	}
	most := 40 + int(in.Clock.Now().Sub(begun)/(50*time.Millisecond)) + 1 + 2*2
	if allowed > most || allowed < 36 || refused == 0 {
		t.Fatalf("%d of 100 requests allowed, %d refused; at most %d", allowed, refused, most)
	}
}

func TestAProcessThatLearnsOfTheOthersTellsItInItsHeaders(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "postgres")
	_, key := in.NewWorkspace(plan.Free)
	other := twin(t, in)
	for range 30 {
		ask(in.App, key, http.MethodGet, "/emails")
	}
	ask(other, key, http.MethodGet, "/emails")
	for _, a := range []*app.App{in.App, other} {
		if _, err := a.API.Limits().Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	begun := in.Clock.Now()
	remaining, err := strconv.Atoi(ask(other, key, http.MethodGet, "/emails").Header().Get("Ratelimit-Remaining"))
	if slack := int(in.Clock.Now().Sub(begun)/(50*time.Millisecond)) + 20; err != nil || remaining > 9+slack {
		t.Errorf("%d remain after 31 requests elsewhere: %v", remaining, err)
	}
}

func TestAKeyThatIsRevokedAtOneProcessIsRefusedByAnotherWithinASecond(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := twin(t, in)
		made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "Short-lived", "preset": "full_access"})
		key := made.Text("token")
		if made.Status != http.StatusCreated || ask(other, key, http.MethodGet, "/emails").Code != http.StatusOK {
			t.Fatalf("%d %s", made.Status, made.Raw)
		}
		if gone := in.Browse(http.MethodDelete, "/v1/api-keys/"+made.Text("id"), nil); gone.Status != http.StatusOK {
			t.Fatalf("%d %s", gone.Status, gone.Raw)
		}
		in.Clock.Advance(time.Second)
		if answer := ask(other, key, http.MethodGet, "/emails"); answer.Code != http.StatusUnauthorized {
			t.Errorf("the other process answers %d a second later", answer.Code)
		}
	})
}

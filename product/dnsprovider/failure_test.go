package dnsprovider_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestAnAPIThatFailsIsToldWithItsStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		status  any
		message string
	}{
		"token revoked": {func(w http.ResponseWriter, _ *http.Request) { problem(w, 401, 1000, "Invalid API Token") }, 401.0, "Connect the account again"},
		"no permission": {func(w http.ResponseWriter, _ *http.Request) { problem(w, 403, 9109, "Unauthorized") }, 403.0, "Connect the account again"},
		"broken":        {func(w http.ResponseWriter, _ *http.Request) { problem(w, 500, 1, "oops") }, 500.0, "Try again"},
		"behind a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			io.WriteString(w, "<html>Bad gateway</html>")
		}, 502.0, "Try again"},
		"no success": {func(w http.ResponseWriter, _ *http.Request) { problem(w, 200, 7, "half a success") }, 200.0, "Try again"},
		"endless":    {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat(" ", 100_000)+"{}") }, 200.0, "Try again"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, 302.0, "Try again"},
		"hangs up halfway": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, "did not answer in time"},
	} {
		for _, at := range []string{"/zones", "/zones/" + zoneID + "/dns_records"} {
			t.Run(name+" at "+at, func(t *testing.T) {
				t.Parallel()
				h := oneHouse(t)
				h.connect("Acme", goodToken)
				h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool {
					failing := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, at)
					if failing {
						c.answer(w, r)
					}
					return failing
				})

				got := h.owner.Refused(502, "dns_provider_error", "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", nil)

				if got.Value("error.details.status") != c.status || got.Text("error.details.provider") != "cloudflare" ||
					!strings.Contains(got.Text("error.message"), c.message) || got.Text("name") != "application_error" {
					t.Errorf("%s", got.Body)
				}
				if writes := h.cloud.writes(); len(writes) != 0 {
					t.Errorf("it wrote %v", writes)
				}
				if strings.Contains(h.Log.String(), goodToken[:20]) {
					t.Error("the token is in the log")
				}
			})
		}
	}
}

func TestAnAPIThatNeverAnswersIsLeft(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	h.cloud.intercept(neverAnswer)
	h.serve(impatient)

	for _, r := range []struct {
		path string
		body fields
	}{{"/v1/domains/" + h.domain + "/cloudflare/apply", nil}, {h.path, fields{"provider": "cloudflare", "name": "Other", "api_token": goodToken}}} {
		got := h.owner.Refused(502, "dns_provider_error", "POST", r.path, r.body)

		if status, told := got.JSON["error"].(fields)["details"].(fields)["status"]; status != nil || !told || !strings.Contains(got.Text("error.message"), "did not answer in time") {
			t.Errorf("%s: %s", r.path, got.Body)
		}
	}
}

func neverAnswer(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

func TestABusyAPISaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	for _, c := range []struct{ asked, want string }{{"77", "77"}, {"86400", "300"}, {"9999999999", "300"}, {"soon", ""}} {
		h.cloud.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", c.asked)
			problem(w, 429, 971, "Please wait and consider throttling your request speed")
			return true
		})

		got := h.owner.Refused(502, "dns_provider_error", "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", nil)

		if got.Value("error.details.status") != 429.0 || got.Header.Get("Retry-After") != c.want {
			t.Errorf("%s: %v %s", c.asked, got.Header, got.Body)
		}
	}
}

func TestATokenThatMayOnlyReadIsToldToReconnect(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	h.cloud.set(func(f *fakeCloudflare) { f.readOnly[goodToken] = true })

	got := h.owner.Refused(502, "dns_provider_error", "POST", "/v1/domains/"+h.domain+"/cloudflare/apply", nil)

	if got.Value("error.details.status") != 403.0 || !strings.Contains(got.Text("error.message"), "Connect the account again") {
		t.Fatalf("%s", got.Body)
	}
}

// failingWrites makes writes of CNAME records fail.
func failingWrites(h house, answer http.HandlerFunc) {
	h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"CNAME"`) {
			answer(w, r)
			return true
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		return false
	})
}

func TestWhatCouldNotBeWrittenIsToldBesideWhatCould(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			problem(w, 400, 9000, "bad\x00\ncontent "+strings.Repeat("x", 300))
		}, "Cloudflare refused the record: bad  content xxx"},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { problem(w, 503, 1, "oops") }, "did not take the record"},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { problem(w, 403, 10000, "Authentication error") }, "Connect the account again"},
		"hung up":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "did not take the record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := oneHouse(t)
			h.connect("Acme", goodToken)
			failingWrites(h, c.answer)

			result := h.apply(nil)

			if got := outcomes(result); !slices.Contains(got, "CNAME bounce.acme.test error") || !slices.Contains(got, "TXT acme.test created") || result.Value("failed") != 2.0 {
				t.Errorf("%v", got)
			}
			if why := because(result, "CNAME", "track.acme.test"); !strings.Contains(why, c.want) || len(why) > 300 {
				t.Errorf("%q", why)
			}
			h.cloud.intercept(nil)
			if again := h.apply(nil); again.Value("applied") != 2.0 || again.Value("failed") != 0.0 {
				t.Errorf("again: %s", again.Body)
			}
		})
	}
}

func TestSomebodyWhoIsFasterIsNoError(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	var faster sync.Once
	h.cloud.intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			faster.Do(func() {
				h.cloud.put(rr{Type: "TXT", Name: "acme.test", Content: `"v=spf1 include:spf.` + service + ` ~all"`},
					rr{Type: "AAAA", Name: "bounce.acme.test", Content: "2001:db8::1"})
			})
		}
		return false
	})

	result := h.apply(nil)

	got := outcomes(result)
	if !slices.Contains(got, "TXT acme.test unchanged") || !slices.Contains(got, "CNAME bounce.acme.test conflict") || result.Value("failed") != 1.0 {
		t.Fatalf("%v", got)
	}
}

func TestOldReceiversStayUntilTheNewOnesAreThere(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	for i := range 4 {
		h.cloud.put(rr{Type: "MX", Name: "acme.test", Content: fmt.Sprintf("mx%d.example.net", i), Priority: number(i)})
	}
	inbound := fields{"records": fields{"inbound": true}, "overwrite": true}
	h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		failing := strings.Contains(string(body), "mx2."+service)
		if failing {
			problem(w, 500, 1, "oops")
		}
		return failing
	})

	half := h.apply(inbound)
	left := len(h.cloud.at("MX", "acme.test"))
	h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			problem(w, 500, 1, "oops")
		}
		return r.Method == http.MethodDelete
	})
	kept := h.apply(inbound)
	h.cloud.intercept(nil)
	cleared := h.apply(inbound)

	if half.Text("results.0.action") != "updated" || half.Text("results.1.action") != "error" || left != 4 {
		t.Errorf("%d receivers after %s", left, half.Body)
	}
	if kept.Text("results.1.action") != "error" || !strings.Contains(because(kept, "MX", "acme.test"), "could not all be removed") {
		t.Errorf("kept: %s", kept.Body)
	}
	if cleared.Text("results.0.action") != "unchanged" || cleared.Text("results.1.action") != "updated" || len(h.cloud.at("MX", "acme.test")) != 2 {
		t.Errorf("cleared: %s", cleared.Body)
	}
}

func TestAReceiverThatIsGoneAlreadyNeedNotBeRemoved(t *testing.T) {
	t.Parallel()
	h := oneHouse(t)
	h.connect("Acme", goodToken)
	for i := range 3 {
		h.cloud.put(rr{Type: "MX", Name: "acme.test", Content: fmt.Sprintf("mx%d.example.net", i), Priority: number(i)})
	}
	h.cloud.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			problem(w, 404, 81044, "Record does not exist.")
		}
		return r.Method == http.MethodDelete
	})

	result := h.apply(fields{"records": fields{"inbound": true}, "overwrite": true})

	if result.Value("failed") != 0.0 || result.Value("applied") != 2.0 {
		t.Fatalf("%s", result.Body)
	}
}

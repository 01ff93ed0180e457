package httpout_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"postrider/platform/httpout"
	"postrider/world"
)

func TestARequestReachesItsServerWithItsOwnName(t *testing.T) {
	t.Parallel()
	l := newLookout(t, func(c *httpout.Config) { c.RequireTLS = true })
	var host, sni, body string
	server := l.serve(t, "443", func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		host, sni, body = r.Host, r.TLS.ServerName, string(sent)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "thanks")
	})
	l.Client = httpout.New(httpout.Config{Resolver: l.names, Dialer: l.roads, Clock: world.SystemClock{}, Roots: rootsOf(server)})
	t.Cleanup(l.Close)
	request, err := http.NewRequest(http.MethodPost, "https://example.com/hook", strings.NewReader("event"))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "elsewhere.example.com"

	response, err := l.Do(t.Context(), request)

	if err != nil {
		t.Fatal(err)
	}
	if host != "example.com" || sni != "example.com" || body != "event" {
		t.Errorf("server saw host %q, name %q, body %q", host, sni, body)
	}
	if response.Status != 202 || response.Header.Get("X-Answer") != "yes" || string(response.Body) != "thanks" || response.Truncated {
		t.Errorf("response %+v", response)
	}
}

func TestACertificateThatProvesNothingIsRefused(t *testing.T) {
	t.Parallel()
	reached := func(http.ResponseWriter, *http.Request) { t.Error("a request was sent over an unproven connection") }
	for name, change := range map[string]func(*httpout.Config, *httptest.Server){
		"unknown authority": func(*httpout.Config, *httptest.Server) {},
		"expired by our clock": func(c *httpout.Config, s *httptest.Server) {
			c.Roots, c.Clock = rootsOf(s), lateClock{}
		},
		"other name": func(c *httpout.Config, s *httptest.Server) {
			c.Roots = rootsOf(s)
			c.Resolver = &names{answers: map[string][][]string{"example.com": {{public}}, "other.example.org": {{public}}}}
		},
	} {
		l := newLookout(t, nil)
		server := l.serve(t, "443", reached)
		config := httpout.Config{Resolver: l.names, Dialer: l.roads, Clock: world.SystemClock{}}
		change(&config, server)
		l.Client = httpout.New(config)
		target := "https://example.com/"
		if name == "other name" {
			target = "https://other.example.org/"
		}

		_, err := l.get(t, target)

		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestARedirectIsAnAnswerAndNotFollowed(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	l := newLookout(t, func(c *httpout.Config) { c.ExtraPorts = []int{v.port} })
	target := fmt.Sprintf("http://127.0.0.1:%d/", v.port)
	requests := 0
	l.serve(t, "80", func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, target, http.StatusTemporaryRedirect)
	})
	request, err := http.NewRequest(http.MethodGet, "http://example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer secret")

	response, err := l.Do(t.Context(), request)

	if err != nil || response.Status != 307 || response.Header.Get("Location") != target {
		t.Fatalf("response %+v, %v", response, err)
	}
	if requests != 1 || v.hits.Load() != 0 {
		t.Fatalf("%d requests, %d hits inside", requests, v.hits.Load())
	}
}

func TestALongBodyIsCut(t *testing.T) {
	t.Parallel()
	l := newLookout(t, nil)
	l.serve(t, "80", func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 16<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})

	response, err := l.get(t, "http://example.com/")

	if err != nil || len(response.Body) != 64<<10 || !response.Truncated {
		t.Fatalf("%d bytes, truncated %v, %v", len(response.Body), response.Truncated, err)
	}
}

func TestABodyOfExactlyTheLimitIsWhole(t *testing.T) {
	t.Parallel()
	l := newLookout(t, func(c *httpout.Config) { c.MaxResponseBytes = 10 })
	l.serve(t, "80", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "0123456789") })

	response, err := l.get(t, "http://example.com/")

	if err != nil || string(response.Body) != "0123456789" || response.Truncated {
		t.Fatalf("%+v, %v", response, err)
	}
}

func TestAServerThatNeverFinishesIsLeft(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"never answers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"never ends its body": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		l := newLookout(t, func(c *httpout.Config) { c.Timeout = 50 * time.Millisecond })
		l.serve(t, "80", handler)

		response, err := l.get(t, "http://example.com/")

		if !errors.Is(err, context.DeadlineExceeded) || response != nil {
			t.Errorf("%s: %+v, %v", name, response, err)
		}
	}
}

func TestAHugeHeaderIsLeft(t *testing.T) {
	t.Parallel()
	l := newLookout(t, nil)
	l.serve(t, "80", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Huge", strings.Repeat("a", 1<<20))
	})

	_, err := l.get(t, "http://example.com/")

	if err == nil || !strings.Contains(err.Error(), "header") {
		t.Fatalf("err = %v", err)
	}
}

func TestACompressedBodyStaysCompressed(t *testing.T) {
	t.Parallel()
	l := newLookout(t, nil)
	var accepted string
	l.serve(t, "80", func(w http.ResponseWriter, r *http.Request) {
		accepted = r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "\x1f\x8bnot really")
	})

	response, err := l.get(t, "http://example.com/")

	if err != nil || accepted != "" || string(response.Body) != "\x1f\x8bnot really" {
		t.Fatalf("asked for %q, got %q, %v", accepted, response.Body, err)
	}
}

func TestADeadFirstAddressDoesNotHideTheSecond(t *testing.T) {
	t.Parallel()
	l := newLookout(t, func(c *httpout.Config) { c.ConnectTimeout = 10 * time.Second })
	closed := httptest.NewServer(nil)
	l.roads.lead["1.1.1.1:80"] = closed.Listener.Addr().String()
	closed.Close()
	l.names.answers["example.com"] = [][]string{{"1.1.1.1", public}}
	l.serve(t, "80", func(http.ResponseWriter, *http.Request) {})

	response, err := l.get(t, "http://example.com/")

	if err != nil || response.Status != 200 {
		t.Fatalf("%+v, %v", response, err)
	}
}

// silent never answers.
type silent struct{ world.Resolver }

func (silent) IP(ctx context.Context, _ string) ([]netip.Addr, world.Answer, error) {
	<-ctx.Done()
	return nil, world.Answer{}, ctx.Err()
}

// half is a network in which one address answers, and packets to the others are lost.
type half string

func (h half) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	if address != string(h) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
			io.WriteString(theirs, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		}
	}()
	return ours, nil
}

func TestAnAddressThatSwallowsPacketsLeavesTheNextItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLookout(t, func(c *httpout.Config) { c.Dialer = half(public + ":80") })
		l.names.answers["example.com"] = [][]string{{"1.1.1.1", public}}
		begun := time.Now()

		response, err := l.get(t, "http://example.com/")

		if err != nil || response.Status != http.StatusNoContent || time.Since(begun) >= 5*time.Second {
			t.Fatalf("%+v, %v after %s", response, err, time.Since(begun))
		}
	})
}

func TestANameServerThatNeverAnswersIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLookout(t, func(c *httpout.Config) { c.Resolver = silent{} })
		begun := time.Now()

		_, err := l.get(t, "http://example.com/")

		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 5*time.Second {
			t.Fatalf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestLocalhostIsNotAskedFromTheNetwork(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	l := newLookout(t, func(c *httpout.Config) { c.AnyLoopbackPort = true })
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")

	response, err := l.get(t, "http://localhost:"+port+"/")

	if err != nil || response.Status != 200 || response.RemoteAddr.String() != "127.0.0.1:"+port {
		t.Fatalf("%+v, %v", response, err)
	}
	if len(l.names.asked) != 0 {
		t.Fatalf("asked for %v", l.names.asked)
	}
}

func TestANameWithoutAddressIsAnErrorButNoRefusal(t *testing.T) {
	t.Parallel()

	_, err := newLookout(t, nil).get(t, "http://missing.example.com/")

	var refusal *httpout.Refusal
	if !errors.Is(err, world.ErrNoName) || errors.As(err, &refusal) {
		t.Fatalf("err = %v, want ErrNoName", err)
	}
}

func TestAServerWithManyAddressesIsReachedByEitherKind(t *testing.T) {
	t.Parallel()
	l := newLookout(t, nil)
	l.serve(t, "80", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	const six = "2606:4700:10::1"
	l.roads.lead["["+six+"]:80"] = l.roads.lead[public+":80"]
	addresses := []string{"93.184.216.35", "93.184.216.36", "93.184.216.37", "93.184.216.38"}
	for _, address := range addresses {
		l.roads.lead[address+":80"] = "127.0.0.1:1" // as good as out of reach
	}
	l.names.answers["many.example.com"] = [][]string{append(addresses, six)}

	response, err := l.get(t, "http://many.example.com/")

	if err != nil || response.Status != http.StatusNoContent {
		t.Fatalf("%v, asked for %v", err, l.roads.dialed())
	}
}

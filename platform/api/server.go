package api

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/limit"
	"postrider/platform/queue"
	"postrider/world"
)

// Config is what a server needs from its surroundings.
type Config struct {
	World    world.World
	Keys     KeyChecker
	Sessions SessionChecker
	Rates    Rates
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// DB is where nodes share how much callers have used of their rates; nil means that this one counts alone.
	DB *db.DB
	// Fallback answers what is no route and brings no key, such as the pages of the dashboard. Nil answers 404.
	Fallback http.Handler
	// Cursors are those of lists; by default they are good for this process alone.
	Cursors Cursors
	// SpoolDir is where large bodies wait until they are complete; empty means the machine's temporary directory.
	SpoolDir string
	// Observe is told of every request once it is answered, and must not wait; nil means that nobody wants to know.
	Observe func(Finished)
	// Self is the name under which the installation makes requests; those that come back to it are refused.
	Self string
	// Info is shown in the OpenAPI document.
	Info Info
}

const (
	// maxLimiterKeys bounds the memory of rate limits; idle ones make room.
	maxLimiterKeys = 100_000
	// bodyBudget bounds the bytes of all large bodies in memory at once.
	bodyBudget = 256 << 20
	// spoolBudget bounds the bytes of all bodies that wait on disk until they are complete.
	spoolBudget = 16 << 30
)

// Server answers HTTP requests with the routes it was given.
type Server struct {
	config  Config
	routes  []Route
	root    router
	limiter *limit.Limiter // by address: a flood of them must not become one of writes
	callers *limit.Shared  // who has a name
	bodies  *semaphore.Weighted
	spooled *semaphore.Weighted
	origin  *http.CrossOriginProtection
	openapi func() []byte // made when first asked for
	// stopping ends when streams have to.
	stopping context.Context
	stop     context.CancelFunc
}

// NewServer returns a server of the routes. It panics if two of them clash.
func NewServer(config Config, routes []Route) *Server {
	s := &Server{
		config:  config,
		limiter: limit.New(config.World.Clock, maxLimiterKeys),
		callers: limit.NewShared(config.World, config.DB, maxLimiterKeys),
		bodies:  semaphore.NewWeighted(bodyBudget),
		spooled: semaphore.NewWeighted(spoolBudget),
		origin:  http.NewCrossOriginProtection(),
	}
	if config.Cursors.signer == nil {
		s.config.Cursors = newOwnCursors(config.World)
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.routes = slices.Concat(routes, s.ownRoutes())
	for _, route := range s.routes {
		s.root.add(route)
	}
	s.openapi = sync.OnceValue(func() []byte { return Document(config.Info, s.routes) })
	return s
}

// Limits returns what tells other nodes how much callers have used of their rates; it has to run wherever requests are answered.
func (s *Server) Limits() queue.Worker {
	return queue.Worker{Name: "rate limits", Step: s.callers.Settle, Every: limit.SettleEvery}
}

// Routes returns every route, for tests and documents.
func (s *Server) Routes() []Route { return s.routes }

// exchange is one request on its way through the server.
type exchange struct {
	server   *Server
	w        http.ResponseWriter
	r        *http.Request
	endpoint *endpoint
	caller   Caller
	status   int
	// What an observer is told: the parameters of the path, the body that came, and what was written.
	named              map[string]string
	received, answered []byte
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := s.config.World.Clock.Now()
	r, span := s.follow(r)
	x := &exchange{server: s, w: w, r: r}
	x.caller.RequestID = s.requestID(r, w.Header())
	x.caller.IP = s.clientIP(r)
	x.caller.UserAgent = r.UserAgent()
	x.caller.Head = r.Method == http.MethodHead
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.config.World.Log.Error("request panicked", "request", x.caller.RequestID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			x.fail(ErrInternal)
		}
		took := s.config.World.Clock.Now().Sub(started)
		x.log(s.config.World.Log, took)
		x.observe(started, took)
		x.tell(span)
	}()
	if httpout.CameBack(r.Header, s.config.Self) {
		x.fail(ErrLoop)
		return
	}
	methods, values := s.route(r)
	if methods == nil {
		if s.config.Fallback != nil && r.Header.Get("Authorization") == "" && !strings.HasPrefix(r.URL.Path, "/v1") {
			s.config.Fallback.ServeHTTP(w, r)
			return
		}
		x.fail(NotFound("route"))
		return
	}
	endpoint := methods[r.Method]
	if endpoint == nil && r.Method == http.MethodHead {
		endpoint = methods[http.MethodGet]
	}
	if endpoint == nil {
		w.Header().Set("Allow", allowed(methods))
		x.fail(ErrMethod)
		return
	}
	x.endpoint = endpoint
	named, ok := endpoint.values(values)
	if !ok {
		x.fail(NotFound("route"))
		return
	}
	x.serve(named)
}

// route also serves paths without /v1 to callers with a key, because one SDK drops the version of its base address.
func (s *Server) route(r *http.Request) (map[string]*endpoint, []string) {
	path := segments(r.URL.EscapedPath())
	methods, values := s.root.find(path)
	bearer := strings.HasPrefix(strings.ToLower(r.Header.Get("Authorization")), "bearer ")
	if methods == nil && bearer && (len(path) == 0 || path[0] != "v1") {
		return s.root.find(append([]string{"v1"}, path...))
	}
	return methods, values
}

// serve lets the request in step by step; the first step that fails decides the answer.
func (x *exchange) serve(named map[string]string) {
	x.named = named
	err := x.authenticate()
	if err == nil { // whoever is known is counted, also for what they may not do
		err = cmp.Or(x.authorise(), x.countRequest())
	}
	if err != nil {
		x.fail(err)
		return
	}
	query, err := x.readQuery()
	if err != nil {
		x.fail(err)
		return
	}
	body, release, err := x.readBody()
	if err != nil {
		x.fail(err)
		return
	}
	defer release()
	x.received = body
	in := input{path: named, query: query, header: x.r.Header, body: body,
		cursors: x.server.config.Cursors, workspace: x.caller.Workspace, list: x.endpoint.fullPath()}
	answer, err := x.endpoint.Handler.invoke(x.r.Context(), x.caller, in)
	if x.upgraded(err) {
		answer, err = x.endpoint.Handler.invoke(x.r.Context(), x.caller, in)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(answer)
}

// upgraded tells whether a request that the plan refused may succeed now: what a key stands for is remembered for a moment, and
// the plan may have changed since. An upgrade must act on the very next request.
func (x *exchange) upgraded(err error) bool {
	var public *Error
	if !errors.As(err, &public) || public.Status != http.StatusPaymentRequired || x.caller.KeyID == "" {
		return false
	}
	_, key, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	x.server.config.Keys.Forget(key)
	fresh, err := x.server.CheckKey(x.r.Context(), key, x.caller.IP)
	if err != nil || fresh.Plan == x.caller.Plan {
		return false
	}
	x.caller.Principal = fresh
	return x.authorise() == nil // the key may have lost rights since, too
}

func (x *exchange) log(log *slog.Logger, took time.Duration) {
	if x.status == 0 {
		return // the fallback keeps its own log
	}
	log.Info("request answered", "request", x.caller.RequestID, "method", x.r.Method, "path", x.loggedPath(), "status", x.status,
		"took_us", took.Microseconds(), "workspace", string(x.caller.Workspace), "key", x.caller.KeyID)
}

// loggedPath is how the log of the installation names the request. People are named in the paths of some routes by their addresses, and can
// be forgotten everywhere but in a log.
func (x *exchange) loggedPath() string {
	path := x.path()
	if !strings.Contains(path, "@") {
		return path
	}
	return addressInPath.ReplaceAllString(path, "{address}")
}

var addressInPath = regexp.MustCompile(`[^/]*@[^/]*`)

// path is how others hear of the request. What proves the right to a public route stands in its path and stays with us.
func (x *exchange) path() string {
	if x.endpoint != nil && x.endpoint.Access == Public {
		return x.endpoint.fullPath()
	}
	return x.r.URL.Path
}

var safeID = regexp.MustCompile(`^[A-Za-z0-9._:-]{8,128}$`)

// requestID takes the caller's id if it is harmless, else makes one, and echoes it.
func (s *Server) requestID(r *http.Request, header http.Header) string {
	id := r.Header.Get("X-Request-Id")
	if !safeID.MatchString(id) {
		if id = r.Header.Get("X-Correlation-Id"); safeID.MatchString(id) {
			header.Set("X-Correlation-Id", id)
		} else {
			id = "req_" + hex.EncodeToString(s.config.World.Bytes(16))
		}
	}
	header.Set("X-Request-Id", id)
	return id
}

// clientIP believes X-Forwarded-For only as far as trusted proxies wrote it.
func (s *Server) clientIP(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	ip := peer.Addr().Unmap()
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0 && s.trusted(ip); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		ip = next.Unmap()
	}
	return ip
}

func (s *Server) trusted(ip netip.Addr) bool {
	return slices.ContainsFunc(s.config.TrustedProxies, containing(ip))
}

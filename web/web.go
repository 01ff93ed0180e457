// Package web is the dashboard: pages for people, drawn on the server. A page does nothing that the API cannot do: every look and
// every change is a request to the API, made inside the process with the session of the person who looks. Rights, limits, checks
// and audit are therefore those of the API, and a page that forgets one cannot open a hole.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"postrider/world"
)

// Config is what the dashboard needs from its surroundings.
type Config struct {
	// API answers requests; the dashboard asks it for everything.
	API http.Handler
	// BaseURL is where people and programs reach the installation; snippets show it.
	BaseURL string
	// Submission is where mail is taken over SMTP, as host:port; empty if it is not.
	Submission string
	// Sandbox answers below /sandbox in dev mode; nil means that mail goes to the internet.
	Sandbox http.Handler
	// SandboxDomain is the domain that can send from the first moment in dev mode.
	SandboxDomain string
	// Start opens a session for a token that was printed to the terminal; nil means there is no such door.
	Start func(ctx context.Context, r *http.Request, token string) (cookie *http.Cookie, workspace string, err error)
	// Operator answers what only those may ask who run the installation; nil means that there are no pages for them.
	Operator http.Handler
	// EventTypes are those of the stream of events that pages listen to.
	EventTypes []string
	Clock      world.Clock
	Log        *slog.Logger
}

// Dashboard answers requests for pages.
type Dashboard struct {
	config Config
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
}

// page is one page or one action: a pattern of the mux, and what answers it. An error becomes a page that says so.
type page struct {
	pattern string
	answer  func(*visit) error
}

// files are what every dashboard of the process is drawn with. They are part of the program and never change; nobody pays for them
// before the first page is opened.
var files = sync.OnceValue(func() (made struct {
	assets    assets
	templates templates
}) {
	made.assets = loadAssets()
	made.templates = parseTemplates(made.assets) // panics if one does not parse, which a test finds out first
	return made
})

// New returns the dashboard.
func New(config Config) *Dashboard {
	d := &Dashboard{config: config, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection()}
	d.mux.HandleFunc("GET "+assetPath, func(w http.ResponseWriter, r *http.Request) { files().assets.ServeHTTP(w, r) })
	for _, p := range d.open() {
		d.mux.Handle(p.pattern, d.handler(p, (*visit).answerAnyone))
	}
	for _, p := range d.personal() {
		d.mux.Handle(p.pattern, d.handler(p, (*visit).answerSignedIn))
	}
	for _, p := range d.workspace() {
		method, path, _ := strings.Cut(p.pattern, " ")
		d.mux.Handle(method+" /w/{workspace}"+path, d.handler(p, (*visit).answerMember))
	}
	d.mux.Handle(nowhere, d.handler(page{nowhere, func(*visit) error { return errNoPage }}, (*visit).answerMember))
	return d
}

// nowhere is every address in a workspace that is no page: who goes there is still in the workspace, and finds its navigation.
const nowhere = "GET /w/{workspace}/{rest...}"

var errNoPage = &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}

// open lists the pages for anyone, personal those of somebody who is signed in, and workspace those of a member, whose paths
// begin with the workspace.
func (d *Dashboard) open() []page { return slices.Concat(signInPages(), startPages(), manualPages()) }

func (d *Dashboard) personal() []page {
	return slices.Concat(homePages(), accountPages(), systemPages())
}

func (d *Dashboard) workspace() []page {
	return slices.Concat(overviewPages(), emailPages(), settingsPages(),
		domainPages(), keyPages(), webhookPages(), logPages(), quickStartPages(), suppressionPages(), peoplePages(),
		templatePages(), inboxPages(), sandboxPages(), customerPages(), audiencePages(), broadcastPages(),
		automationPages(), credentialPages(), platformEventPages(), statisticsPages())
}

// Patterns are the pages and actions there are, as the mux names them, for a test that walks them all.
func (d *Dashboard) Patterns() []string {
	var all []string
	for _, p := range slices.Concat(d.open(), d.personal()) {
		all = append(all, p.pattern)
	}
	for _, p := range d.workspace() {
		method, path, _ := strings.Cut(p.pattern, " ")
		all = append(all, method+" /w/{workspace}"+path)
	}
	return all
}

// ServeHTTP answers a request for a page.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			d.config.Log.Error("page panicked", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		}
	}()
	if _, pattern := d.mux.Handler(r); pattern == "" {
		v := d.visit(w, r)
		v.fail(errNoPage)
		return
	}
	d.mux.ServeHTTP(w, r)
}

// maxForm is the largest form a page takes, in bytes: a template with its HTML and text, or a file of contacts, and some room.
const maxForm = 32 << 20

func (d *Dashboard) handler(p page, answer func(*visit, page) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := d.visit(w, r)
		if err := d.origin.Check(r); err != nil {
			v.fail(&problem{Status: http.StatusForbidden, Code: "csrf_failed", Message: "The request did not come from this dashboard."})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := answer(v, p); err != nil {
			v.fail(err)
		}
	})
}

func (d *Dashboard) visit(w http.ResponseWriter, r *http.Request) *visit {
	protect(w.Header())
	return &visit{dashboard: d, w: w, r: r, now: d.config.Clock.Now()}
}

// policy allows what the dashboard itself brings and nothing else: no inline scripts or styles, no other hosts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self)")
	header.Set("Cache-Control", "no-store")
}

// local returns a path of this dashboard to go to, or the fallback if the text is anything else: a link must not lead people away.
func local(path, fallback string) string {
	parsed, err := url.Parse(path)
	if err != nil || parsed.IsAbs() || parsed.Host != "" || !strings.HasPrefix(parsed.Path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return fallback
	}
	return path
}

// isSandboxDomain tells whether a domain is one that every installation on a laptop begins with.
func (d *Dashboard) isSandboxDomain(name string) bool {
	return d.config.Sandbox != nil && name == d.config.SandboxDomain
}

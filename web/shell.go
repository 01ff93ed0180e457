package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"postrider/platform/api"
	"postrider/product/account"
)

// shell is what every page shows around its own content. Pages embed it.
type shell struct {
	Title string
	// Section is the entry of the navigation that the page belongs to.
	Section string
	Crumbs  []crumb
	Theme   string
	Notice  string
	Session session
	// SignedIn and Member tell whether there is somebody, and whether they are in a workspace.
	SignedIn, Member bool
	// Sandbox is true where mail never leaves the machine.
	Sandbox bool
	// Listens are the types of events that a live page listens to.
	Listens string
	// Scripts and Styles are further files that the page needs.
	Scripts, Styles []string
}

type crumb struct{ Label, Href string }

// shell begins a page.
func (v *visit) shell(title, section string) shell {
	s := shell{Title: title, Section: section, Session: v.session, SignedIn: v.session.ID != "", Member: v.session.Workspace != nil,
		Sandbox: v.dashboard.config.Sandbox != nil, Notice: v.takeNotice(),
		Listens: strings.Join(v.dashboard.config.EventTypes, " ")}
	if cookie, err := v.r.Cookie("theme"); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		s.Theme = cookie.Value
	}
	return s
}

// under returns the shell with the pages above this one.
func (s shell) under(crumbs ...crumb) shell {
	s.Crumbs = append(crumbs, crumb{Label: s.Title})
	return s
}

// with returns the shell with further scripts and styles, by the names of their files.
func (s shell) with(files ...string) shell {
	for _, file := range files {
		if strings.HasSuffix(file, ".css") {
			s.Styles = append(s.Styles, file)
		} else {
			s.Scripts = append(s.Scripts, file)
		}
	}
	return s
}

// Link returns the address of a page in the workspace.
func (s shell) Link(parts ...string) string {
	if s.Session.Workspace == nil {
		return "/"
	}
	return workspaceLink(s.Session.Workspace.ID, parts...)
}

// Can tells whether the person's role carries a scope.
func (s shell) Can(scope string) bool {
	return s.Session.Workspace != nil && slices.Contains(account.ScopesOf(s.Session.Workspace.Role), api.Scope(scope))
}

// Manages tells whether the person may change the workspace itself.
func (s shell) Manages() bool {
	return s.Session.Workspace != nil && (s.Session.Workspace.Role == api.Owner || s.Session.Workspace.Role == api.Admin)
}

// show answers with a page.
func (v *visit) show(name string, page any) error { return v.showStatus(http.StatusOK, name, page) }

// showStatus draws the whole page before it sends a byte, so that an error is a clean answer and never half a page.
func (v *visit) showStatus(status int, name string, page any) error {
	var drawn bytes.Buffer
	if err := files().templates.draw(&drawn, name, page); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.writeGzipped(status, drawn.Bytes())
	return nil
}

// problemPage says why there is no other page.
type problemPage struct {
	shell
	Problem *problem
	Heading string
}

// fail answers with a page that says what went wrong. What nobody foresaw is logged, and its cause stays with us.
func (v *visit) fail(err error) {
	var p *problem
	if !errors.As(err, &p) {
		v.dashboard.config.Log.Error("page failed", "path", v.r.URL.Path, "error", err)
		p = &problem{Status: http.StatusInternalServerError, Code: "internal_error", Message: "Something went wrong on our side."}
	}
	if p.Status == http.StatusUnauthorized && v.r.Method == http.MethodGet && v.askToSignIn() == nil {
		return
	}
	headings := map[int]string{http.StatusNotFound: "Not found", http.StatusForbidden: "Not allowed", http.StatusTooManyRequests: "Too many requests",
		http.StatusUnauthorized: "Signed out", http.StatusPaymentRequired: "Your plan does not allow this"}
	heading := headings[p.Status]
	if heading == "" {
		heading = "That did not work"
	}
	if err := v.showStatus(max(p.Status, 400), "problem", problemPage{v.shell(heading, ""), p, heading}); err != nil {
		v.dashboard.config.Log.Error("problem page failed", "error", err)
		http.Error(v.w, p.Message, http.StatusInternalServerError)
	}
}

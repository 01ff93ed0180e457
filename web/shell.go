package web

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
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
	if status >= http.StatusBadRequest && v.leftUnsaid(drawn.String()) {
		drawn.Reset()
		if err := files().templates.draw(&drawn, name, page); err != nil {
			return fmt.Errorf("draw %s once more: %w", name, err)
		}
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.writeGzipped(status, drawn.Bytes())
	return nil
}

// leftUnsaid tells whether a page keeps to itself what the API said of a field, because it has no input for it. Drawn once more, the page says
// it above the form.
func (v *visit) leftUnsaid(drawn string) bool {
	said, left := html.UnescapeString(drawn), false
	for _, p := range v.refused {
		for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
			if !strings.Contains(said, p.Fields[field]) {
				p.Unsaid, left = append(p.Unsaid, field+": "+p.Fields[field]), true
			}
		}
	}
	return left
}

// problemPage says why there is no other page.
type problemPage struct {
	shell
	Problem *problem
	Heading string
	// Back is where the form is that could not be answered, if it is known.
	Back string
	// Again posts the form once more, where the reason has nothing to do with what was filled in; Mend opens in another tab what has to
	// be done before.
	Again *postAgain
	Mend  *crumb
}

type postAgain struct {
	Action string
	Kept   []keptValue
}

// again keeps what was posted in a workspace, so that nobody has to write it twice. Files cannot be kept.
func (v *visit) again() *postAgain {
	if v.r.Method == http.MethodGet || v.r.PathValue("workspace") == "" || v.r.MultipartForm != nil {
		return nil
	}
	v.form.Del(confirmCode)
	v.form.Del(confirmPassword)
	return &postAgain{v.r.URL.RequestURI(), kept(v.form)}
}

// cameFrom is the page of ours that a form was posted from; empty if that is not known, or no page that can be opened.
func (v *visit) cameFrom() string {
	from, err := url.Parse(v.r.Referer())
	if err != nil || v.r.Method == http.MethodGet || from.Host != v.r.Host {
		return ""
	}
	page := &http.Request{Method: http.MethodGet, Host: v.r.Host, URL: &url.URL{Path: from.Path}}
	if _, pattern := v.dashboard.mux.Handler(page); !strings.HasPrefix(pattern, http.MethodGet+" ") || pattern == nowhere {
		return ""
	}
	return from.RequestURI()
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
	page := problemPage{shell: v.shell(heading, ""), Problem: p, Heading: heading, Back: v.cameFrom()}
	switch {
	case p.Status == http.StatusUnauthorized:
		page.Again, page.Mend = v.again(), &crumb{"Sign in", "/signin"}
	case p.Code == otherWorkspace:
		page.Again, page.Mend = v.again(), &crumb{"Go there", workspaceLink(v.r.PathValue("workspace"))}
	case p.Status == http.StatusTooManyRequests || p.Status >= http.StatusInternalServerError:
		page.Again = v.again()
	}
	if page.Again != nil {
		page.shell = page.with("unsaved.js")
	}
	if err := v.showStatus(max(p.Status, 400), "problem", page); err != nil {
		v.dashboard.config.Log.Error("problem page failed", "error", err)
		http.Error(v.w, p.Message, http.StatusInternalServerError)
	}
}

package web

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"postrider/platform/api"
)

// visit is one request for a page: who makes it, and what is needed to answer it.
type visit struct {
	dashboard *Dashboard
	w         http.ResponseWriter
	r         *http.Request
	now       time.Time
	session   session
	// cookie is a session cookie that was set while answering.
	cookie *http.Cookie
	// notice is what the page before this one left to say, once it was asked for.
	notice *string
	// form are the values that were posted, without those that only confirm who posts.
	form url.Values
	// refused are the answers of the API that refused something.
	refused []*problem
}

// session is who is signed in, as the API tells it.
type session struct {
	ID         string          `json:"id"`
	User       person          `json:"user"`
	Workspace  *workspace      `json:"workspace"`
	Workspaces []workspaceName `json:"workspaces"`
	CSRFToken  string          `json:"csrf_token"`
}

type person struct {
	ID               string `json:"id"`
	Email            string `json:"email"`
	Name             string `json:"name"`
	EmailVerified    bool   `json:"email_verified"`
	TwoFactorEnabled bool   `json:"two_factor_enabled"`
	Operator         bool   `json:"operator"`
	Timezone         string `json:"timezone"`
	Locale           string `json:"locale"`
}

type workspace struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Role   api.Role `json:"role"`
	Plan   string   `json:"plan"`
	Status string   `json:"status"`
}

type workspaceName struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Role api.Role `json:"role"`
}

// answerAnyone answers a page that needs no session.
func (v *visit) answerAnyone(p page) error {
	if err := v.readForm(); err != nil {
		return err
	}
	return p.answer(v)
}

// answerSignedIn answers a page for somebody who is signed in; others are asked to sign in first.
func (v *visit) answerSignedIn(p page) error {
	if err := v.readForm(); err != nil {
		return err
	}
	if err := v.get("/auth/session", nil, &v.session); err != nil {
		if isRefused(err, "session_expired", "missing_api_key") {
			return v.askToSignIn()
		}
		return err
	}
	asked, err := v.confirmed()
	if err != nil || asked {
		return err
	}
	err = p.answer(v)
	if v.r.Method != http.MethodGet && isRefused(err, "two_factor_required", "reauthentication_required") {
		return v.askToConfirm(err.(*problem), nil)
	}
	return err
}

// answerMember answers a page of a workspace. A session is in one workspace at a time; a link into another offers to go there.
func (v *visit) answerMember(p page) error {
	return v.answerSignedIn(page{p.pattern, func(v *visit) error {
		wanted := v.r.PathValue("workspace")
		if v.session.Workspace != nil && v.session.Workspace.ID == wanted {
			return p.answer(v)
		}
		for _, other := range v.session.Workspaces {
			if other.ID == wanted {
				return v.offerWorkspace(other)
			}
		}
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page, or it belongs to a workspace that you are not a member of."}
	}})
}

func (v *visit) askToSignIn() error {
	if v.r.Method != http.MethodGet {
		return &problem{Status: http.StatusUnauthorized, Code: "session_expired", Message: "Your session has ended. Sign in and try again; nothing was changed."}
	}
	to := "/signin"
	if path := v.r.URL.RequestURI(); path != "/" {
		to += "?" + url.Values{"next": {path}}.Encode()
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// readForm reads what was posted. Uploads are read by the page that takes them.
func (v *visit) readForm() error {
	if v.r.Method == http.MethodGet || v.r.Method == http.MethodHead {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		if err := v.r.ParseMultipartForm(1 << 20); err != nil {
			return tooLarge(err)
		}
	} else if err := v.r.ParseForm(); err != nil {
		return tooLarge(err)
	}
	v.form = url.Values{}
	for name, values := range v.r.PostForm {
		v.form[name] = values
	}
	return nil
}

func tooLarge(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return &problem{Status: http.StatusRequestEntityTooLarge, Code: "payload_too_large", Message: "The form is larger than this page takes."}
	}
	return &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The form could not be read. Go back and try again."}
}

// value returns a posted value.
func (v *visit) value(name string) string { return v.form.Get(name) }

// checked tells whether a box was ticked.
func (v *visit) checked(name string) bool { return v.form.Get(name) != "" }

// query returns a value of the address.
func (v *visit) query(name string) string { return v.r.URL.Query().Get(name) }

// path returns a value of the page's pattern.
func (v *visit) path(name string) string { return v.r.PathValue(name) }

// link returns the address of a page in the workspace of the visit.
func (v *visit) link(parts ...string) string {
	if v.session.Workspace == nil {
		return "/"
	}
	return workspaceLink(v.session.Workspace.ID, parts...)
}

// linkFor is link to a page that asks for a right. It is empty for whom that page would be refused: nothing is to lead there then.
func (v *visit) linkFor(scope string, parts ...string) string {
	if !v.can(scope) {
		return ""
	}
	return v.link(parts...)
}

func workspaceLink(id string, parts ...string) string {
	link := "/w/" + url.PathEscape(id)
	for _, part := range parts {
		link += "/" + url.PathEscape(part)
	}
	return link
}

// apiPath joins segments to a path of the API.
func apiPath(parts ...string) string {
	path := "/v1"
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// zone is where the person who visits lives, as far as times are concerned.
func (v *visit) zone() *time.Location {
	if zone, err := time.LoadLocation(v.session.User.Timezone); err == nil {
		return zone
	}
	return time.UTC
}

// printer writes numbers as people of the visitor's language write them.
func (v *visit) printer() *message.Printer {
	tags, _, err := language.ParseAcceptLanguage(v.r.Header.Get("Accept-Language"))
	if err != nil || len(tags) == 0 {
		return message.NewPrinter(language.English)
	}
	return message.NewPrinter(tags[0])
}

// redirect goes on to another page after a change, and says there what was done.
func (v *visit) redirect(to, notice string) error {
	if notice != "" {
		http.SetCookie(v.w, &http.Cookie{Name: noticeCookie, Value: url.QueryEscape(notice), Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// noticeCookie carries one sentence to the next page.
const noticeCookie = "notice"

// scripted is the header of requests that scripts make for parts of a page.
const scripted = "X-Requested-By"

// takeNotice returns what the page before this one left to say, and makes the browser forget it.
func (v *visit) takeNotice() string {
	if v.notice != nil {
		return *v.notice
	}
	v.notice = new(string)
	cookie, err := v.r.Cookie(noticeCookie)
	if err != nil || v.r.Header.Get(scripted) != "" {
		return "" // a script that reads a part of a page, in another tab perhaps, would lose what a person should read
	}
	http.SetCookie(v.w, &http.Cookie{Name: noticeCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	if said, err := url.QueryUnescape(cookie.Value); err == nil {
		v.notice = &said
	}
	return *v.notice
}

// can tells whether the role of the visitor carries a scope, so that what would be refused is neither asked for nor offered.
func (v *visit) can(scope string) bool { return shell{Session: v.session}.Can(scope) }

package audience

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page is a file beside this one
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"postrider/platform/api"
	"postrider/product/suppression"
)

var (
	//go:embed page.html
	pageText string

	pageTemplate = template.Must(template.New("confirm").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(suppression.PageStyle()) },
	}).Parse(pageText))
)

// confirmResult is what the answer to a link says, as JSON to programs and as a page to people.
type confirmResult struct {
	Object  string    `json:"object" example:"confirmation_result"`
	State   string    `json:"status" doc:"confirmed, or pending for a link that was only looked at." example:"confirmed"`
	Contact ContactID `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	List    ListID    `json:"list_id" example:"0193a1f5-0000-7000-8000-000000000311"`

	status   int
	page     []byte
	redirect string
}

func newConfirmResult(c confirmation) confirmResult {
	r := confirmResult{Object: "confirmation_result", State: "pending", Contact: c.Contact, List: c.List}
	if c.Done {
		r.State = "confirmed"
	}
	return r
}

// withPage lets the result be shown to people. broken says what is wrong with the link.
func (r confirmResult) withPage(c confirmation, broken string) confirmResult {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, struct {
		confirmation
		Broken string
	}{c, broken})
	if err != nil {
		panic(fmt.Sprintf("audience: page: %v", err))
	}
	r.page, r.redirect = page.Bytes(), c.RedirectURL
	return r
}

// sentOn sends a browser to where the list wants people to go once they have confirmed.
func (r confirmResult) sentOn() confirmResult {
	if r.redirect != "" {
		r.status = http.StatusSeeOther
	}
	return r
}

// Status returns that of a broken link or of one that leads on; else the route decides.
func (r confirmResult) Status() int { return r.status }

// Show returns the page, if there is one.
func (r confirmResult) Show() (mediaType string, body []byte) {
	if r.page == nil {
		return "", nil
	}
	return "text/html; charset=utf-8", r.page
}

// SetHeaders keeps the page to itself: the token in its address must reach nobody else.
func (r confirmResult) SetHeaders(header http.Header) {
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex")
	header.Set("Cache-Control", "no-store")
	if r.status == http.StatusSeeOther {
		header.Set("Location", r.redirect)
	}
	if r.page != nil {
		header.Set("Content-Security-Policy", r.policy())
		header.Set("Vary", "Accept")
	}
}

// policy lets the page show itself, send its form home, follow from there to where the list leads, and nothing else.
func (r confirmResult) policy() string {
	sum := sha256.Sum256([]byte(suppression.PageStyle()))
	home := "'self'"
	if u, err := url.Parse(r.redirect); err == nil && u.Host != "" {
		home += " " + u.Scheme + "://" + u.Host
	}
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; form-action %s; base-uri 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(sum[:]), home)
}

// wants tells what kind of answer somebody understands, by their Accept header.
type wants string

func (w wants) page() bool { return strings.Contains(string(w), "text/html") }

// json is only what names JSON and no pages. Browsers, and the programs that check mail as browsers would, never do.
func (w wants) json() bool { return !w.page() && strings.Contains(string(w), "application/json") }

// broken returns the answer to a link that is not good: people are told what to do, programs get the error.
func (w wants) broken(err error) (confirmResult, error) {
	var known *api.Error
	if !w.page() || !errors.As(err, &known) || !errors.Is(err, ErrLink) && !errors.Is(err, ErrLinkExpired) {
		return confirmResult{}, err
	}
	return confirmResult{status: known.Status}.withPage(confirmation{}, known.Message), nil
}

package suppression

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style are files beside this one
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("unsubscribe").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(pageStyle) },
	}).Parse(pageText))

	// pagePolicy lets the page show itself, send its form home, and nothing else.
	pagePolicy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(digest(pageStyle)))
)

func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// result is what the answer to a link says, as JSON to programs and as a page to people.
type result struct {
	Object string `json:"object" example:"unsubscribe_result"`
	State  string `json:"status" doc:"unsubscribed, or confirm for a link that was only looked at." example:"unsubscribed"`
	Scope  Scope  `json:"scope" example:"all"`
	Email  string `json:"email" example:"a…n@example.net"`

	status int
	page   []byte
}

func newResult(u unsubscribed) result {
	r := result{Object: "unsubscribe_result", State: "confirm", Scope: u.Scope, Email: mask(u.Address)}
	if u.Done {
		r.State = "unsubscribed"
	}
	return r
}

// withPage lets the result be shown to people.
func (r result) withPage(u unsubscribed, broken bool) result {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, struct {
		unsubscribed
		Address string
		Broken  bool
	}{u, r.Email, broken})
	if err != nil {
		panic(fmt.Sprintf("suppression: page: %v", err))
	}
	r.page = page.Bytes()
	return r
}

// Status returns that of a broken link; else the route decides.
func (r result) Status() int { return r.status }

// Show returns the page, if there is one.
func (r result) Show() (mediaType string, body []byte) {
	if r.page == nil {
		return "", nil
	}
	return "text/html; charset=utf-8", r.page
}

// SetHeaders keeps the page to itself: the token in its address must reach nobody else.
func (r result) SetHeaders(header http.Header) {
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex")
	if r.page != nil {
		header.Set("Content-Security-Policy", pagePolicy)
		header.Set("Vary", "Accept")
	}
}

// wants tells what kind of answer somebody understands, by their Accept header.
type wants string

func (w wants) page() bool { return strings.Contains(string(w), "text/html") }
func (w wants) json() bool { return !w.page() && strings.Contains(string(w), "application/json") }

// broken returns the answer to a link that is not ours: people are told what to do, programs get the error.
func (w wants) broken(err error) (result, error) {
	if errors.Is(err, ErrLink) && w.page() {
		return result{status: ErrLink.Status}.withPage(unsubscribed{}, true), nil
	}
	return result{}, err
}

package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// problem is what the API says when it refuses. It is also how a page fails.
type problem struct {
	Status    int
	Code      string
	Message   string
	RequestID string
	// Fields says what is wrong with each field of the request.
	Fields map[string]string
	// Unsaid are those of them that no input of the page says.
	Unsaid []string
	// Details are what else the API tells, such as the limit that was reached.
	Details map[string]any
}

func (p *problem) Error() string { return p.Code + ": " + p.Message }

// Field returns what is wrong with a field, or nothing. Of a list, it is what is wrong with any element. It may be asked of nil.
func (p *problem) Field(name string) string {
	if p == nil {
		return ""
	}
	if said := p.Fields[name]; said != "" {
		return said
	}
	for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
		if strings.HasPrefix(field, name+"[") || strings.HasPrefix(field, name+".") {
			return p.Fields[field]
		}
	}
	return ""
}

// Others are the fields that none of the named inputs shows, each with what is wrong.
func (p *problem) Others(shown ...string) []string {
	if p == nil {
		return nil
	}
	var others []string
	for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
		if !slices.ContainsFunc(shown, func(name string) bool {
			return field == name || strings.HasPrefix(field, name+"[") || strings.HasPrefix(field, name+".")
		}) {
			others = append(others, field+": "+p.Fields[field])
		}
	}
	return others
}

// isRefused tells whether the API refused a request with one of the codes.
func isRefused(err error, codes ...string) bool {
	p, ok := err.(*problem)
	return ok && slices.Contains(codes, p.Code)
}

// get reads what is at a path of the API into out. The path begins with /v1, or with that of a private route.
func (v *visit) get(path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return v.call(http.MethodGet, path, nil, out)
}

// send makes a change: body is written as JSON, and the answer is read into out unless that is nil.
func (v *visit) send(method, path string, body, out any) error {
	raw := []byte("{}")
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write request for %s: %w", path, err)
		}
	}
	return v.call(method, path, raw, out)
}

func (v *visit) call(method, path string, body []byte, out any) error {
	answer, err := v.ask(method, path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if answer.status >= 400 {
		refused := answer.problem()
		v.refused = append(v.refused, refused)
		return refused
	}
	if out == nil || answer.body.Len() == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.body.Bytes(), out); err != nil {
		return fmt.Errorf("read answer of %s %s: %w", method, path, err)
	}
	return nil
}

// passed are the headers of the browser that the API should see, too: who it is, and from where.
var passed = []string{"Cookie", "User-Agent", "Accept-Language", "X-Forwarded-For", "X-Forwarded-Proto", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Origin"}

// ask makes a request to the API inside this process, as the person who visits.
func (v *visit) ask(method, path, mediaType string, body io.Reader) (*answer, error) {
	r, err := http.NewRequestWithContext(v.r.Context(), method, path, body)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	r.RemoteAddr, r.Host, r.RequestURI = v.r.RemoteAddr, v.r.Host, path
	for _, name := range passed {
		if values := v.r.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	if v.cookie != nil {
		r.Header.Set("Cookie", v.cookie.Name+"="+v.cookie.Value)
	}
	r.Header.Set("Content-Type", mediaType)
	r.Header.Set("Accept", "application/json")
	if v.session.CSRFToken != "" {
		r.Header.Set("X-Csrf-Token", v.session.CSRFToken)
	}
	got := &answer{status: http.StatusOK, header: http.Header{}}
	v.dashboard.config.API.ServeHTTP(got, r)
	v.keepCookie(got)
	return got, nil
}

// keepCookie passes a new session cookie on to the browser, and uses it from now on.
func (v *visit) keepCookie(got *answer) {
	for _, set := range (&http.Response{Header: got.header}).Cookies() {
		v.w.Header().Add("Set-Cookie", set.String())
		v.cookie = set
	}
}

// answer collects what the API answers.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header             { return a.header }
func (a *answer) WriteHeader(status int)          { a.status = status }
func (a *answer) Write(bytes []byte) (int, error) { return a.body.Write(bytes) }

func (a *answer) problem() *problem {
	var said struct {
		Error struct {
			Code      string         `json:"code"`
			Message   string         `json:"message"`
			RequestID string         `json:"request_id"`
			Details   map[string]any `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(a.body.Bytes(), &said) != nil || said.Error.Code == "" {
		return &problem{Status: a.status, Code: "internal_error", Message: "Something went wrong on our side."}
	}
	p := &problem{Status: a.status, Code: said.Error.Code, Message: said.Error.Message, RequestID: said.Error.RequestID, Details: said.Error.Details, Fields: map[string]string{}}
	fields, _ := said.Error.Details["fieldErrors"].(map[string]any)
	for name, messages := range fields {
		if list, ok := messages.([]any); ok && len(list) > 0 {
			p.Fields[name] = fmt.Sprint(list[0])
		}
	}
	return p
}

package email

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"postrider/platform/api"
	"postrider/platform/seal"
	"postrider/platform/space"
)

const (
	// SharedPath is where shared emails are shown.
	SharedPath = "/shared"
	// sharePurpose keeps links to emails apart from other signed tokens.
	sharePurpose = "email/share"
	// shareFor and maxShareFor are how long a link is good: whoever has it can read the email.
	shareFor    = 24 * time.Hour
	maxShareFor = 48 * time.Hour
)

// sharedEmail is what a link stands for.
type sharedEmail struct {
	Workspace space.ID `json:"w"`
	ID        ID       `json:"e"`
}

type shareRequest struct {
	idRequest
	Body struct {
		ExpiresIn string `json:"expires_in" doc:"How long the link is good, such as 24h; at most 48h." example:"24h"`
	}
}

type shareRecord struct {
	Object    string   `json:"object" example:"email"`
	ID        ID       `json:"id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	URL       string   `json:"url" example:"https://mail.example.org/shared?token=v1.eyJ3Ijoi"`
	ExpiresAt api.Time `json:"expires_at"`
}

func (s *Service) handleShare(ctx context.Context, caller api.Caller, r shareRequest) (shareRecord, error) {
	lasts := shareFor
	if r.Body.ExpiresIn != "" {
		var err error
		if lasts, err = time.ParseDuration(r.Body.ExpiresIn); err != nil || lasts < time.Minute || lasts > maxShareFor {
			return shareRecord{}, api.Invalid("expires_in", "Must be a duration from 1m to 48h, such as 24h.")
		}
	}
	record, err := s.Get(ctx, caller.Workspace, r.ID)
	if err != nil {
		return shareRecord{}, err
	}
	raw, err := json.Marshal(sharedEmail{caller.Workspace, record.ID})
	if err != nil {
		return shareRecord{}, fmt.Errorf("link to %s: %w", record.ID, err)
	}
	expires := s.world.Clock.Now().Add(lasts).Truncate(time.Second)
	link := s.baseURL + SharedPath + "?token=" + url.QueryEscape(s.keys.Sign(sharePurpose, raw, expires))
	return shareRecord{Object: "email", ID: record.ID, URL: link, ExpiresAt: api.Time(expires)}, nil
}

// sharedPage shows an email to whoever has the link. The email's own page stands in a frame that can do nothing.
var sharedPage = template.Must(template.New("shared").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>{{.Subject}}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem }
h1 { font-size: 1.4rem; margin: 0 0 1rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0 0 1rem }
dt { opacity: .65 } dd { margin: 0; overflow-wrap: anywhere }
iframe, pre { background: #fff; border: 1px solid #8884; border-radius: 6px; box-sizing: border-box; color: #111; height: 75vh; margin: 0; padding: 1rem; width: 100% }
iframe { padding: 0 } pre { overflow: auto; white-space: pre-wrap }
</style>
<body>
<h1>{{.Subject}}</h1>
<dl><dt>From</dt><dd>{{.From}}</dd><dt>To</dt><dd>{{range $i, $to := .To}}{{if $i}}, {{end}}{{$to}}{{end}}</dd><dt>Sent</dt><dd>{{.At}}</dd></dl>
{{if .HTML}}<iframe sandbox title="The email" srcdoc="{{.HTML}}"></iframe>{{else}}<pre>{{.Text}}</pre>{{end}}
</body>
</html>
`))

// ServeShared shows the email behind a link.
func (s *Service) ServeShared(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; img-src https: data:; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "private, no-store")
	raw, err := s.keys.Verify(sharePurpose, r.URL.Query().Get("token"), s.world.Clock.Now())
	var shared sharedEmail
	if errors.Is(err, seal.ErrExpired) {
		http.Error(w, "This link has expired. Ask whoever sent it for a new one.", http.StatusForbidden)
		return
	}
	if err != nil || json.Unmarshal(raw, &shared) != nil {
		http.NotFound(w, r)
		return
	}
	record, err := s.Get(r.Context(), shared.Workspace, string(shared.ID))
	if errors.Is(err, api.ErrNotFound) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		s.world.Log.Error("shared email could not be read", "email", shared.ID, "error", err)
		http.Error(w, "The email is not available. Try again later.", http.StatusServiceUnavailable)
		return
	}
	page := struct {
		Subject, From, At, HTML, Text string
		To                            []string
	}{record.Subject, record.From, time.Time(record.CreatedAt).UTC().Format("2 January 2006, 15:04 UTC"), string(record.HTML), string(record.Text), record.To}
	_ = sharedPage.Execute(w, page) // the reader may have gone
}

package email

import (
	"context"
	"net/http"
	"strings"

	"postrider/platform/api"
	"postrider/product/email/internal/track"
)

func (s *Service) trackRoutes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/images/{token}", Access: api.Public, Bucket: api.BucketTracking, Page: true,
			Summary: "The picture at the end of tracked mail, which counts an open. It is a GIF, whatever the token is.", Handler: api.Handle(s.handleOpen)},
		{Method: http.MethodGet, Path: "/links/{token}", Access: api.Public, Bucket: api.BucketTracking, Page: true, Success: http.StatusFound,
			Errors: []*api.Error{errUnknownLink}, Summary: "Count a click and go to the page that a link in tracked mail stands for.", Handler: api.Handle(s.handleClick)},
	}
}

// errUnknownLink means that a link is not one of ours, or not whole. It leads nowhere.
var errUnknownLink = api.NotFound("link").Saying("This link is not valid. Open it again from the email.")

// trackRequest is a request for a pixel or a link. The host it was sent to decides nothing.
type trackRequest struct {
	Token      string `path:"token" doc:"Stands for a recipient and, in a link, for a page." example:"AZOh7w1cfDOOCit8HZ5PAI1nT0lV2Xb7yB4"`
	Accept     string `header:"Accept"`
	SecPurpose string `header:"Sec-Purpose" doc:"Browsers that fetch ahead say so here, or in one of the older headers."`
	Purpose    string `header:"Purpose"`
	XPurpose   string `header:"X-Purpose"`
	XMoz       string `header:"X-Moz"`
}

// visit is what a request tells.
func (r trackRequest) visit(caller api.Caller) track.Visit {
	return track.Visit{UserAgent: caller.UserAgent, IP: caller.IP, Purpose: strings.Join([]string{r.SecPurpose, r.Purpose, r.XPurpose, r.XMoz}, " ")}
}

// picture is the answer to a pixel: one dot that nobody sees.
type picture struct {
	Object string `json:"object" example:"image"`
}

const dot = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// Show returns the GIF.
func (picture) Show() (mediaType string, body []byte) { return "image/gif", []byte(dot) }

// SetHeaders keeps search engines away.
func (picture) SetHeaders(header http.Header) { hide(header) }

func hide(header http.Header) {
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Referrer-Policy", "no-referrer")
}

// handleOpen shows the dot to everyone: a forged token learns nothing from it.
func (s *Service) handleOpen(ctx context.Context, caller api.Caller, r trackRequest) (picture, error) {
	recipient, _, ok := s.readTrackToken(openPurpose, r.Token)
	if ok && !caller.Head {
		s.noteVisit(ctx, &visit{recipient: recipient, facts: r.visit(caller)})
	}
	return picture{Object: "image"}, nil
}

// destination is the answer to a link: where to go, or that it leads nowhere.
type destination struct {
	Object string `json:"object" example:"redirect"`
	URL    string `json:"url" example:"https://acme.test/start"`
}

// Status is 404 for a link that leads nowhere.
func (d destination) Status() int {
	if d.URL == "" {
		return http.StatusNotFound
	}
	return http.StatusFound
}

// SetHeaders names the page to go to.
func (d destination) SetHeaders(header http.Header) {
	hide(header)
	if d.URL != "" {
		header.Set("Location", d.URL)
		return
	}
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
}

const unknownLinkPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>This link is not valid</title>
<style>:root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 40rem; padding: 3rem 1.5rem }</style>
<main><h1>This link is not valid</h1><p>It may have been cut. Open it again from the email.</p></main>
</html>
`

// Show returns the page for people whose link leads nowhere.
func (d destination) Show() (mediaType string, body []byte) {
	if d.URL == "" {
		return "text/html; charset=utf-8", []byte(unknownLinkPage)
	}
	return "", nil
}

// handleClick goes to the target that is in the token, and to no other. That the click could not be counted is not the reader's
// trouble.
func (s *Service) handleClick(ctx context.Context, caller api.Caller, r trackRequest) (destination, error) {
	recipient, target, ok := s.readTrackToken(clickPurpose, r.Token)
	if clean, safe := track.Target(target); !ok || !safe || clean != target {
		if strings.Contains(r.Accept, "text/html") {
			return destination{}, nil
		}
		return destination{}, errUnknownLink
	}
	if !caller.Head {
		facts := r.visit(caller)
		facts.Click = true
		s.noteVisit(ctx, &visit{recipient: recipient, link: target, facts: facts})
	}
	return destination{Object: "redirect", URL: target}, nil
}

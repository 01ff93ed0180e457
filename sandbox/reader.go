package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	// maxImages is how many images of a mail a reader loads.
	maxImages = 20
	// fetchTimeout is the patience of a reader.
	fetchTimeout = 10 * time.Second
	// maxFetched is how much of an answer is read.
	maxFetched = 1 << 20
	// userAgent is that of a person's browser, so that what it does does not look automated.
	userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

var plainLink = regexp.MustCompile(`https?://[^\s<>"]+`)

// loadImages opens a mail as a reader does.
func (s *Sandbox) loadImages(ctx context.Context, _ *entry, _ string, raw []byte) error {
	page, _ := bodies(raw)
	for _, image := range attributes(page, "img", "src", maxImages) {
		if err := s.fetch(ctx, image); err != nil {
			return err
		}
	}
	return nil
}

// followLink clicks on the first link of a mail.
func (s *Sandbox) followLink(ctx context.Context, _ *entry, _ string, raw []byte) error {
	page, text := bodies(raw)
	links := attributes(page, "a", "href", 1)
	if len(links) == 0 {
		links = plainLink.FindAllString(text, 1)
	}
	if len(links) == 0 {
		return nil
	}
	return s.fetch(ctx, links[0])
}

// attributes returns the web addresses in an attribute of the elements of a page, up to a number.
func attributes(page, element, attribute string, most int) []string {
	var found []string
	tokens := html.NewTokenizer(strings.NewReader(page))
	for len(found) < most {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := tokens.Token()
		for _, a := range token.Attr {
			value := strings.TrimSpace(a.Val)
			isWeb := strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
			if token.Data == element && a.Key == attribute && isWeb {
				found = append(found, value)
			}
		}
	}
	return found
}

// fetch asks the product for a page, whatever host and scheme its address names: in a sandbox there is nobody else, and nothing
// may leave it. A redirection is the end, because it leads out.
func (s *Sandbox) fetch(ctx context.Context, address string) error {
	product := s.product.Load()
	if product == nil || product.HTTPAddr == "" {
		return errNotAttached
	}
	target, err := url.Parse(address)
	if err != nil {
		return nil // a link that cannot be clicked
	}
	target.Scheme = "http"
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept-Language", "en")
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, product.HTTPAddr)
		},
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", target.Host, err)
	}
	defer response.Body.Close()
	_, err = io.CopyN(io.Discard, response.Body, maxFetched)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

package webhook

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/platform/httpout"
	"postrider/world"
)

const userAgent = "Postrider-Webhooks/1"

const (
	// maxKeptBody and maxKeptHeaders are how much of an answer is kept: enough to see what went wrong.
	maxKeptBody    = 4 << 10
	maxKeptHeaders = 4 << 10
)

// outcome is what became of a job.
type outcome struct {
	delivery Delivery
	attempt  Attempt
	// next is when to try again; the zero time means that it was the last time, or that the endpoint took it.
	next time.Time
}

func (o outcome) gone() bool { return o.attempt.Status == http.StatusGone }

// post makes one attempt.
func (s *Service) post(ctx context.Context, j job) outcome {
	started := s.world.Clock.Now()
	d := j.delivery
	a := Attempt{Number: d.Attempts + 1, StartedAt: started, Details: Details{URL: j.endpoint.URL}}
	header := s.header(j.endpoint, d, a.Number, started, j.body)
	a.Details.RequestHeaders = shownHeader(header, j.endpoint.Headers)

	ctx, span := s.world.Span(ctx, "webhook post", world.Calling)
	carry(ctx, s.world.Tracer, header)
	response, err := s.send(ctx, j.endpoint.URL, header, j.body)
	finished := s.world.Clock.Now()
	a.Took = max(0, finished.Sub(started))
	o := outcome{delivery: d}
	wish := time.Duration(0)
	if err != nil {
		a.Error = Failure(httpout.ReasonOf(err))
		var refusal *httpout.Refusal
		if errors.As(err, &refusal) {
			a.Details.Message = refusal.Sentence
		}
	} else {
		a.Status, a.Error = response.Status, judge(response.Status)
		hide := hider(j.endpoint.Headers)
		body := hide.Replace(string(response.Body))
		a.Details.RemoteAddress, a.Details.ResponseHeaders = response.RemoteAddr.String(), bounded(response.Header, hide)
		a.Details.ResponseBody = strings.ToValidUTF8(body[:min(len(body), maxKeptBody)], "\uFFFD")
		wish = wishOf(response.Status, response.Header, finished)
	}
	o.attempt = a
	tell(span, d, a)
	if delay, again := delayAfter(s.world, a.Number, d.MaxAttempts); a.Error != "" && again && !o.gone() {
		o.next = finished.Add(max(delay, wish))
	}
	if s.parts.Posted != nil {
		s.parts.Posted(Posted{j.endpoint.Workspace, d, a, o.next})
	}
	s.world.Log.Info("webhook posted", "webhook", d.Webhook, "delivery", d.ID, "event", d.EventID, "attempt", a.Number, "status", a.Status,
		"error", a.Error, "took_ms", a.Took.Milliseconds())
	return o
}

func (s *Service) send(ctx context.Context, url string, header http.Header, body string) (*httpout.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	return s.client.Do(ctx, request)
}

// judge returns what is wrong with a status; nothing is with 2xx.
func judge(status int) Failure {
	switch {
	case status >= 200 && status < 300:
		return ""
	case status >= 300 && status < 400:
		return Redirect
	}
	return HTTPError
}

// header returns what goes with a body. The customer's own headers come first, so that none of them can be taken for ours.
func (s *Service) header(e *Endpoint, d Delivery, attempt int, at time.Time, body string) http.Header {
	header := make(http.Header, 12+len(e.Headers))
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	describe(header, d, attempt)
	sign(header, e.secrets(at), d.EventID, at, body)
	if !s.config.PlainHeaders {
		repeat(header)
	}
	return header
}

func describe(header http.Header, d Delivery, attempt int) {
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", userAgent)
	header.Set("X-Service-Event", d.EventType)
	header.Set("X-Service-Delivery", string(d.ID))
	header.Set("X-Service-Attempt", strconv.Itoa(attempt))
}

// repeat gives the signature a second name, which programs written for another service read.
func repeat(header http.Header) {
	for _, part := range []string{"Id", "Timestamp", "Signature"} {
		header.Set("Svix-"+part, header.Get("Webhook-"+part))
	}
}

// Forwarder signs events as a webhook of its own would be, for a developer who has no public address.
type Forwarder struct{ secret secret }

// NewForwarder makes a forwarder with a secret of its own.
func NewForwarder(w world.World) Forwarder { return Forwarder{w.Bytes(secretBytes)} }

// Secret is what the receiving program checks signatures with.
func (f Forwarder) Secret() string { return f.secret.String() }

// Header returns the header of the request that tells of an event.
func (f Forwarder) Header(eventType, id string, at time.Time, body string) http.Header {
	header := http.Header{}
	describe(header, Delivery{ID: DeliveryID(id), EventType: eventType}, 1)
	sign(header, []secret{f.secret}, id, at, body)
	repeat(header)
	return header
}

// shownHeader is a header as it may be shown: the customer's own values are secrets.
func shownHeader(header http.Header, secrets map[string]string) map[string]string {
	shown := make(map[string]string, len(header))
	for name, values := range header {
		shown[name] = values[0]
		if _, ok := secrets[name]; ok {
			shown[name] = hiddenValue
		}
	}
	return shown
}

// leastSecret is how long a value is that is worth hiding: shorter ones are in every text.
const leastSecret = 6

// hider cuts the values of the customer's own headers out of an answer: nobody is shown them.
func hider(headers map[string]string) *strings.Replacer {
	var secrets []string
	for _, value := range headers {
		_, bare, _ := strings.Cut(value, " ") // that of Bearer and the like
		for _, secret := range []string{value, bare} {
			if len(secret) >= leastSecret {
				secrets = append(secrets, secret)
			}
		}
	}
	return httpout.Hider(hiddenValue, secrets...)
}

// bounded returns the first value of each header of an answer, as many as may be kept. One that is too large is left out alone.
func bounded(header http.Header, hide *strings.Replacer) map[string]string {
	kept, size := map[string]string{}, 0
	for _, name := range slices.Sorted(maps.Keys(header)) {
		value := header.Get(name)
		if more := len(name) + len(value); size+more <= maxKeptHeaders {
			size += more
			kept[name] = hide.Replace(value)
		}
	}
	return kept
}

package automation

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/queue"
	"postrider/product/automation/internal/flow"
)

// call is a request of an HTTP step, with its variables filled in.
type call struct {
	method     string
	url        string
	header     http.Header
	query      url.Values
	body       []byte
	timeout    time.Duration
	key        string
	credential *Credential
}

// maxOutput is how much of an answer is kept with a step.
const maxOutput = 16 << 10

// prepareCall makes the request of a step.
func (w *walk) prepareCall(item queue.Item, node *flow.Node) error {
	r := w.run
	scope, err := w.scope()
	if isAnswer(err) { // the contact is gone; the step can still be done without it
		scope, err = w.scopeWith(map[string]any{})
	}
	if err != nil {
		return err
	}
	c := newCall(node.Config.Request, scope, r.effectKey())
	if id := node.Config.Request.CredentialID; id != "" {
		credential, err := findCredential(w.tx, r.Workspace, id)
		if err != nil && !isAnswer(err) {
			return err
		}
		if err == nil {
			c.credential = &credential
		} else {
			c.url = "" // nobody is asked without the secret that the step wants to show
		}
	}
	w.jobs = append(w.jobs, job{item: item, run: *r, began: w.began, call: c})
	return nil
}

// within is how long an answer may take: as the step says, or else its credential.
func (c *call) within() time.Duration {
	switch {
	case c.timeout > 0:
		return c.timeout
	case c.credential != nil:
		return time.Duration(c.credential.Settings.TimeoutMS) * time.Millisecond
	}
	return defaultTimeoutMS * time.Millisecond
}

func newCall(q *flow.Request, scope flow.Scope, key string) *call {
	c := &call{method: q.Method, url: q.URL, header: http.Header{}, query: url.Values{}, timeout: q.Timeout, key: key}
	for name, value := range q.Headers {
		if text := flow.Text(scope.Resolve(value)); httpguts.ValidHeaderFieldValue(text) {
			c.header.Set(name, text)
		}
	}
	for name, value := range q.Query {
		c.query.Set(name, flow.Text(scope.Resolve(value)))
	}
	if q.Body != nil && q.Method != http.MethodGet {
		c.body = []byte(db.JSON(scope.Resolve(q.Body)))
		c.header.Set("Content-Type", "application/json")
	}
	return c
}

// ask makes the request of a job.
func (s *Service) ask(ctx context.Context, j job) outcome {
	o := outcome{job: j}
	if j.call.url == "" {
		o.failed = "The credential of the step is gone."
		return o
	}
	answer, err := s.exchange(ctx, j.call)
	if err != nil {
		o.failed, o.again = err.Error(), !errors.Is(err, errNotAsked)
		return o
	}
	o.output = answer.output
	if answer.status >= 200 && answer.status < 300 {
		return o
	}
	o.again = answer.status >= 500 || answer.status == http.StatusTooManyRequests || answer.status == http.StatusRequestTimeout
	tries := "1 try"
	if j.run.Tries > 0 {
		tries = fmt.Sprintf("%d tries", j.run.Tries+1)
	}
	o.failed = fmt.Sprintf("HTTP %d after %s", answer.status, tries)
	return o
}

// errNotAsked means that a request was refused before anybody was asked, and would be again.
var errNotAsked = errors.New("refused")

type refused struct{ sentence string }

func (r refused) Error() string        { return r.sentence }
func (r refused) Is(target error) bool { return target == errNotAsked }

// unanswered means that a server was asked and gave no whole answer.
type unanswered struct{ reason httpout.Reason }

func (u unanswered) Error() string { return "No answer: " + string(u.reason) + "." }

// answered is what a server said, without the secret it was shown.
type answered struct {
	status int
	output map[string]any
}

// exchange makes a request. Errors are sentences that hold nothing of the request.
func (s *Service) exchange(ctx context.Context, c *call) (answered, error) {
	target, err := url.Parse(fullURL(c.url, c.credential))
	if err != nil || target.Host == "" || target.User != nil {
		return answered{}, refused{"The URL is not valid."}
	}
	if httpout.LeadsTo(target, s.config.BaseURL) {
		return answered{}, refused{"The URL is that of this service itself."}
	}
	values := target.Query()
	for name, list := range c.query {
		values[name] = list
	}
	hide := httpout.Hider(hiddenSecret)
	header := c.header.Clone()
	if c.credential != nil {
		if !c.credential.allows(target) {
			return answered{}, refused{"The host is not among the allowed hosts of the credential."}
		}
		secret, err := s.parts.Keys.Open(c.credential.sealed, sealContext(c.credential.ID))
		if err != nil {
			return answered{}, refused{"The credential cannot be opened. Rotate it."}
		}
		hide = httpout.Hider(hiddenSecret, c.credential.show(string(secret), header, values)...)
	}
	target.RawQuery = values.Encode()
	ctx, cancel := context.WithTimeout(ctx, c.within())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.method, target.String(), bytes.NewReader(c.body))
	if err != nil {
		return answered{}, refused{"The URL is not valid."}
	}
	request.Header = header
	request.Header.Set("User-Agent", "Postrider-Automation/1")
	if c.key != "" {
		request.Header.Set("Idempotency-Key", c.key)
	}
	response, err := s.client.Do(ctx, request)
	var refusal *httpout.Refusal
	if errors.As(err, &refusal) {
		return answered{}, refused{refusal.Sentence}
	}
	if err != nil {
		return answered{}, unanswered{httpout.ReasonOf(err)}
	}
	return answered{response.Status, readAnswer(response, hide)}, nil
}

// hiddenSecret stands for a secret in what is kept of an answer.
const hiddenSecret = "[secret]"

// show puts the secret where its type says, and returns what an answer must not repeat.
func (c *Credential) show(secret string, header http.Header, values url.Values) []string {
	for name, value := range c.Settings.DefaultHeaders {
		if header.Get(name) == "" {
			header.Set(name, value)
		}
	}
	secrets := []string{secret}
	switch c.Type {
	case bearer:
		header.Set("Authorization", "Bearer "+secret)
	case basic:
		pair := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + secret))
		header.Set("Authorization", "Basic "+pair)
		secrets = append(secrets, pair)
	case headerType:
		header.Set(c.HeaderName, secret)
	case query:
		values.Set(c.HeaderName, secret)
	}
	return secrets
}

// readAnswer returns what is kept of an answer: its status and body, cut to size, without what must not be seen.
func readAnswer(response *httpout.Response, hide *strings.Replacer) map[string]any {
	output := map[string]any{"status_code": response.Status}
	var value any
	if raw := response.Body; len(raw) <= maxOutput && json.Valid(raw) && decodeExactly(raw, &value) == nil {
		output["body"] = withoutSecrets(value, hide)
		return output
	}
	body := hide.Replace(string(response.Body))
	cut := min(len(body), maxOutput)
	output["body"] = strings.ReplaceAll(strings.ToValidUTF8(body[:cut], "�"), "\x00", "")
	if cut < len(body) || response.Truncated {
		output["truncated"] = true
	}
	return output
}

// withoutSecrets cuts secrets out of JSON that has been read: as text it could spell them in many ways, a\/b for a/b among them.
func withoutSecrets(value any, hide *strings.Replacer) any {
	switch value := value.(type) {
	case string:
		return hide.Replace(value)
	case json.Number:
		if hide.Replace(value.String()) == hiddenSecret {
			return hiddenSecret
		}
	case []any:
		for i, child := range value {
			value[i] = withoutSecrets(child, hide)
		}
	case map[string]any:
		clean := make(map[string]any, len(value))
		for key, child := range value {
			name, _ := withoutSecrets(key, hide).(string)
			clean[name] = withoutSecrets(child, hide)
		}
		return clean
	}
	return value
}

package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	maxBranches = 10
	maxWeight   = 1000
	maxFields   = 50
	// minTimeout and maxTimeout bound how long an HTTP step waits for an answer.
	minTimeout = time.Second
	maxTimeout = 15 * time.Second
	maxRetry   = 5
	maxURL     = 2048
)

func (r *reader) durationBetween(path, text, example string, least, most time.Duration, bounds string) time.Duration {
	d, ok := ParseDuration(text)
	switch {
	case text == "":
		r.add(path, "A duration is required, such as %s.", example)
	case !ok:
		r.add(path, "Must be a number and a unit, such as %s.", example)
	case d < least || d > most:
		r.add(path, "%s", bounds)
	}
	return d
}

func (r *reader) readBranches(n *Node, at string, branches []Branch) {
	if len(branches) < 2 || len(branches) > maxBranches {
		r.add(at, "Must have 2 to %d branches.", maxBranches)
		return
	}
	seen := map[string]bool{}
	for i, b := range branches {
		if !CheckKey(b.Key) || seen[b.Key] {
			r.add(fmt.Sprintf("%s[%d].key", at, i), "Must be a key of its own.")
		}
		if seen[b.Key] = true; b.Weight < 1 || b.Weight > maxWeight {
			r.add(fmt.Sprintf("%s[%d].weight", at, i), "Must be between 1 and %d.", maxWeight)
		}
	}
	n.Config.Branches = branches
}

func (r *reader) readMail(n *Node, at string, raw json.RawMessage) {
	var w struct {
		Template *struct {
			ID        string         `json:"id"`
			Version   int64          `json:"version"`
			Variables map[string]any `json:"variables"`
		} `json:"template"`
		From    string          `json:"from"`
		ReplyTo json.RawMessage `json:"reply_to"`
		Subject string          `json:"subject"`
		HTML    string          `json:"html"`
		Text    string          `json:"text"`
		TopicID string          `json:"topic_id"`
	}
	if err := decode(raw, &w); err != nil {
		r.add(at, "Must be an object with a template, or a subject and html or text.")
		return
	}
	m := &Mail{From: w.From, Subject: w.Subject, HTML: w.HTML, Text: w.Text, TopicID: w.TopicID}
	n.Config.Mail = m
	switch {
	case w.Template != nil && w.Template.ID != "":
		m.Template, m.Version, m.Variables = w.Template.ID, w.Template.Version, w.Template.Variables
		r.mention(ATemplate, at+".template.id", m.Template, nil)
		r.note(n, at+".template.variables", anyMap(m.Variables))
		if m.HTML != "" || m.Text != "" {
			r.add(at+".template", "Give a template, or html and text, not both.")
		}
	case m.HTML == "" && m.Text == "":
		r.add(at+".template", "A template, or html or text, is required.")
	case m.Subject == "" || m.From == "":
		r.add(at, "A mail without a template needs a sender and a subject.")
	}
	if m.TopicID != "" {
		r.need(ATopic, at+".topic_id", m.TopicID)
	}
	if len(w.ReplyTo) > 0 && string(w.ReplyTo) != "null" {
		var one string
		if json.Unmarshal(w.ReplyTo, &one) == nil {
			m.ReplyTo = []string{one}
		} else if json.Unmarshal(w.ReplyTo, &m.ReplyTo) != nil {
			r.add(at+".reply_to", "Must be an address or a list of addresses.")
		}
	}
}

// ownHeaders are decided by us and by the connection. Those that carry secrets come from a credential alone: a definition can be read.
var ownHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Expect", "Idempotency-Key",
	"Proxy-Connection"}

var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"}

func (r *reader) readRequest(n *Node, at string, raw json.RawMessage) {
	var w struct {
		Method       string         `json:"method"`
		URL          string         `json:"url"`
		CredentialID string         `json:"credential_id"`
		Headers      map[string]any `json:"headers"`
		Query        map[string]any `json:"query"`
		Body         any            `json:"body"`
		TimeoutMS    *int           `json:"timeout_ms"`
		Retry        int            `json:"retry"`
	}
	if err := decode(raw, &w); err != nil {
		r.add(at, "Must be an object with method, url, headers and body.")
		return
	}
	q := &Request{Method: strings.ToUpper(w.Method), URL: w.URL, CredentialID: w.CredentialID, Headers: w.Headers, Query: w.Query, Body: w.Body,
		Retry: w.Retry}
	n.Config.Request = q
	if q.Method == "" {
		q.Method = http.MethodPost
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, q.Method) {
		r.add(at+".method", "Must be GET, POST, PUT, PATCH or DELETE.")
	}
	if q.URL == "" || len(q.URL) > maxURL {
		r.add(at+".url", "A URL of at most %d characters is required.", maxURL)
	}
	r.mention(AURL, at+".url", q.URL, nil)
	if w.TimeoutMS != nil {
		q.Timeout = time.Duration(*w.TimeoutMS) * time.Millisecond
		if q.Timeout < minTimeout || q.Timeout > maxTimeout {
			r.add(at+".timeout_ms", "Must be between 1000 and 15000.")
		}
	}
	if q.Retry < 0 || q.Retry > maxRetry {
		r.add(at+".retry", "Must be between 0 and %d.", maxRetry)
	}
	if q.CredentialID != "" {
		r.need(ACredential, at+".credential_id", q.CredentialID)
	}
	r.checkHeaders(at+".headers", q.Headers)
	r.note(n, at+".headers", anyMap(q.Headers))
	r.note(n, at+".query", anyMap(q.Query))
	r.note(n, at+".body", q.Body)
}

func (r *reader) checkHeaders(at string, headers map[string]any) {
	if len(headers) > maxFields {
		r.add(at, "At most %d headers are allowed.", maxFields)
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !headerForm(name) || slices.Contains(ownHeaders, canonical):
			r.add(at+"."+name, "This header cannot be set.")
		case slices.Contains(secretHeaders, canonical):
			r.add(at+"."+name, "Secrets do not belong into a definition. Use a credential.")
		}
	}
}

func headerForm(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

func (r *reader) readUpdate(n *Node, at string, raw json.RawMessage) {
	var w map[string]any
	if err := decode(raw, &w); err != nil {
		r.add(at, "Must be an object with first_name, last_name, unsubscribed or properties.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		switch name {
		case "first_name", "last_name", "unsubscribed":
			r.note(n, at+"."+name, w[name])
		case "properties":
			properties, ok := w[name].(map[string]any)
			if !ok || len(properties) > maxFields {
				r.add(at+".properties", "Must be an object with at most %d properties.", maxFields)
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				r.mention(AProperty, at+".properties."+key, key, nil)
				r.note(n, at+".properties."+key, properties[key])
			}
		}
	}
	n.Config.Values = w
	if len(w) == 0 {
		r.add(at, "Say what to change: first_name, last_name, unsubscribed or properties.")
	}
}

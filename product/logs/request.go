package logs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// maxUserAgent is how much of a User-Agent header is kept, in bytes.
const maxUserAgent = 512

// newRequest makes the entry of a request.
func (s *Service) newRequest(f api.Finished) Entry {
	at := f.At.Truncate(time.Microsecond)
	e := Entry{ID: s.newID(at), Workspace: f.Caller.Workspace, Kind: kindOfRequest(f), Level: levelOfStatus(f.Status), CreatedAt: at,
		Method: f.Method, Endpoint: cut(conceal(f.Path), maxEndpoint), Route: f.Route, ResponseStatus: f.Status, Took: f.Took,
		KeyID: f.Caller.KeyID, UserID: f.Caller.UserID}
	e.Message = fmt.Sprintf("%s %s %d", e.Method, e.Endpoint, e.ResponseStatus)
	e.Details = Details{UserAgent: cut(f.Caller.UserAgent, maxUserAgent), RequestID: f.Caller.RequestID}
	if f.Caller.IP.IsValid() {
		e.Details.IP = f.Caller.IP.String()
	}
	body, answer := read(f.Body, f.BodyBytes), read(f.Answer, len(f.Answer))
	e.Details.RequestBody, e.Details.ResponseBody, e.Details.Ignored = body.kept, answer.kept, unknownFields(f, body)
	e.about(f, answer)
	if f.Method != "GET" || f.Status >= 400 || e.Email != "" || strings.Contains(e.Endpoint, "@") {
		e.words = wordsOf(e) // what was only read is found by its place and time, unless it names somebody
	}
	if len(e.words) == maxWords { // who is not found in a body could not be erased from it
		e.Details.RequestBody = measured(f.BodyBytes)
		e.words = wordsOf(e)
	}
	return e
}

func kindOfRequest(f api.Finished) Kind {
	switch {
	case !f.Private:
		return Request
	case strings.HasPrefix(f.Route, "/auth/"):
		return Auth
	}
	return System
}

func levelOfStatus(status int) Level {
	switch {
	case status >= 500:
		return Error
	case status >= 400:
		return Warning
	}
	return Info
}

// unknownFields are those of a body that the route does not read, sorted: a typo in an optional field is among them.
func unknownFields(f api.Finished, body content) []string {
	known, ok := f.KnownFields()
	if !ok {
		return nil
	}
	var unknown []string
	for _, name := range body.names {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	return unknown[:min(len(unknown), maxIgnored)]
}

// maxIgnored is how many unknown fields are named.
const maxIgnored = 20

// about finds out which mail, domain or managed customer a request was about.
func (e *Entry) about(f api.Finished, answer content) {
	id := f.Values["id"]
	if id == "" && f.Method == "POST" && f.Status < 300 {
		id = answer.id
	}
	if !api.IsID(id) || f.Status == 404 {
		return
	}
	switch {
	case strings.HasPrefix(f.Route, "/emails/receiving"):
	case strings.HasPrefix(f.Route, "/emails"):
		e.Email = id
	case strings.HasPrefix(f.Route, "/domains"):
		e.Domain = id
	case strings.HasPrefix(f.Route, "/managed-tenants"):
		e.Tenant = id
	}
}

const (
	// maxEndpoint bounds the path that is kept; real ones are shorter.
	maxEndpoint = 500
	// maxWords bounds what an entry is found by: more than the addresses of a full batch of mail have.
	maxWords = 1000
)

// wordsOf is everything by which an entry can be found.
func wordsOf(e Entry) []string {
	texts := []string{e.Message, e.Details.RequestID, e.Email, e.Status}
	texts = append(texts, addressesIn(write(e.Details.Ignored))...)
	texts = append(texts, addressesIn(e.Details.RequestBody)...)
	texts = append(texts, addressesIn(e.Details.ResponseBody)...)
	return wordsIn(texts...)
}

func wordsIn(texts ...string) []string {
	words := db.Words(strings.Join(texts, " "))
	seen, kept := map[string]bool{}, words[:0]
	for _, word := range words {
		if !seen[word] && len(kept) < maxWords {
			seen[word] = true
			kept = append(kept, word)
		}
	}
	return kept
}

// cut keeps the beginning of a text, in bytes; what it cuts in the middle is left out.
func cut(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}

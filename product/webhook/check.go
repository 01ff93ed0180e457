package webhook

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/httpout"
)

// Limits of an endpoint's record.
const (
	maxEvents      = 100
	maxDescription = 200
	// maxFilters bounds what every event is compared with.
	maxFilters = 100
	maxHeaders = 10
	// maxHeaderValue is more than any token has, and together they stay below what servers take.
	maxHeaderValue = 1024
)

// hiddenValue stands for the value of a custom header, which is never shown; sent back, it means that the value stays.
const hiddenValue = "***"

// ownHeaders are set by us, or decided by the connection.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade",
	"Te", "Trailer", "Expect", "User-Agent", "Proxy-Authorization", "Proxy-Connection"}

// ownHeaderFamilies begin the names of headers that only we may set: a customer's value would look like our word.
var ownHeaderFamilies = []string{"Webhook-", "Svix-", "X-Service-"}

// checkURL looks at what can be seen without asking the network; the address behind a name is checked at every connection.
func (s *Service) checkURL(wrong *api.Fields, field, target string) {
	if target == "" {
		wrong.Add(field, "A URL is required.")
		return
	}
	err := httpout.CheckURL(target, s.config.Policy)
	parsed, unreadable := url.Parse(target)
	var refusal *httpout.Refusal
	switch {
	case errors.As(err, &refusal):
		wrong.Add(field, refusal.Sentence)
	case err == nil && unreadable == nil && httpout.LeadsTo(parsed, s.config.BaseURL):
		wrong.Add(field, "The URL is that of this service itself, which would make events of events.")
	}
}

// checkEvents returns the names without doubles. field is what the caller has given them in.
func (s *Service) checkEvents(wrong *api.Fields, field string, names []string) []string {
	if len(names) == 0 || len(names) > maxEvents {
		wrong.Add(field, fmt.Sprintf("Must have 1 to %d event names.", maxEvents))
		return nil
	}
	var once []string
	for i, name := range names {
		if !s.catalogue.knows(name) {
			wrong.Add(fmt.Sprintf("%s[%d]", field, i), fmt.Sprintf("%q is not an event. GET /webhook-events lists all of them; email.* and * are also taken.",
				shorten(name)))
		}
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

func shorten(text string) string {
	const most = 60
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// checkIDs returns the ids of a filter without doubles. Whether they exist is asked in the transaction.
func checkIDs(wrong *api.Fields, field string, ids []string) []string {
	if len(ids) > maxFilters {
		wrong.Add(field, fmt.Sprintf("Must have at most %d ids.", maxFilters))
		return nil
	}
	var once []string
	for i, id := range ids {
		if !api.IsID(id) {
			wrong.Add(fmt.Sprintf("%s[%d]", field, i), "Must be an id.")
		}
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once
}

// checkHeaders returns the headers under their canonical names. Hidden values are taken from before.
func checkHeaders(wrong *api.Fields, headers, before map[string]string) map[string]string {
	if len(headers) > maxHeaders {
		wrong.Add("custom_headers", fmt.Sprintf("Must have at most %d headers.", maxHeaders))
		return nil
	}
	checked := map[string]string{}
	for name, value := range headers {
		field := "custom_headers." + shorten(name)
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		old, known := before[canonical]
		hidden := value == hiddenValue
		if hidden && known {
			value = old
		}
		_, twice := checked[canonical]
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			wrong.Add(field, "Is not the name of a header.")
		case twice:
			wrong.Add("custom_headers."+canonical, "Is given twice, in capitals and in small letters.")
		case isOwnHeader(canonical):
			wrong.Add(field, "Is set by the service and cannot be chosen.")
		case hidden && !known:
			wrong.Add(field, "There is no value of this header yet that could stay; *** stands for one.")
		case len(value) > maxHeaderValue || !isPrintable(value):
			wrong.Add(field, fmt.Sprintf("The value must have at most %d printable ASCII characters.", maxHeaderValue))
		}
		checked[canonical] = value
	}
	return checked
}

func isOwnHeader(canonical string) bool {
	return slices.Contains(ownHeaders, canonical) ||
		slices.ContainsFunc(ownHeaderFamilies, func(family string) bool { return strings.HasPrefix(canonical, family) })
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// checkFilters refuses filters by what the workspace does not have: they would wait for ever.
func (s *Service) checkFilters(tx *db.Tx, e Endpoint) error {
	if len(e.Domains) > 0 {
		exist, err := s.parts.DomainsExist(tx, e.Workspace, e.Domains)
		if err != nil {
			return err
		}
		if !exist {
			return api.Invalid("domain_ids", "All of them must be domains of this workspace.")
		}
	}
	for i, id := range e.Tenants {
		external, err := s.parts.ExternalID(tx, e.Workspace, id)
		if err != nil {
			return err
		}
		if external == "" {
			return api.Invalid(fmt.Sprintf("managed_tenant_ids[%d]", i), "Must be a managed customer of this workspace.")
		}
	}
	return nil
}

// mayManage refuses a key that is restricted to domains and would learn of others.
func mayManage(caller api.Caller, e Endpoint) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	if len(e.Domains) == 0 || slices.ContainsFunc(e.Domains, func(id string) bool { return !caller.MayUseDomain(id) }) {
		return api.ErrDomainNotAllowed.Saying("This API key is restricted to domains; it can only manage webhooks whose domain_ids are among them.")
	}
	return nil
}

package logs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/product/plan"
)

const (
	// maxChoices bounds how many alternatives a filter may name.
	maxChoices = 100
	// maxDays is the longest time that can be asked for in days.
	maxDays = 365
)

// filter says which entries are meant.
type filter struct {
	Search string    `query:"search" doc:"Words of the entry: an address, a subject, a path, an id." example:"ann@example.net"`
	Status []string  `query:"status" doc:"2xx, 4xx, 5xx or a code for requests; a state such as delivered for mail and requests about it." example:"4xx"`
	Kind   []string  `query:"kind" doc:"api_request, smtp_submission, email, inbound, webhook, domain, auth, automation or system." example:"api_request"`
	Level  []string  `query:"level" doc:"info, warning or error." example:"warning"`
	Method []string  `query:"method" doc:"Methods of requests." example:"POST"`
	Key    []string  `query:"api_key_id" doc:"Ids of API keys."`
	Email  []string  `query:"email_id" doc:"Ids of emails."`
	Domain []string  `query:"domain_id" doc:"Ids of domains."`
	Tenant []string  `query:"managed_tenant_id" doc:"Ids of managed customers."`
	Since  time.Time `query:"since" doc:"At or after this time."`
	Until  time.Time `query:"until" doc:"Before this time."`
	Days   int       `query:"days" least:"1" doc:"The last days; instead of since." example:"7"`
}

var methodText = regexp.MustCompile(`^[A-Za-z]{1,40}$`)

// outcomes are the states of entries that are not about mail: the last words of the types of events, and what became of messages over
// SMTP and of posts to webhooks.
var outcomes = []string{"accepted", "added", "completed", "confirmed", "created", "deleted", "delivery_delayed", "disabled", "lifted", "paused", "received",
	"refused", "removed", "resumed", "retrying", "test", "throttled", "unsubscribed", "updated", "verified", "warned"}

func isStatus(text string) bool {
	_, _, coded := codesOf(text)
	return coded || slices.Contains(progress, text) || slices.Contains(outcomes, text)
}

// check refuses what makes no sense, and narrows the rest to what the plan keeps and, for a key that is restricted to domains, to what is
// theirs.
func (q *filter) check(caller api.Caller, now, oldest time.Time) error {
	var wrong api.Fields
	for _, f := range []struct {
		name   string
		values []string
		good   func(string) bool
		rule   string
	}{
		{"status", q.Status, isStatus, "Must be 2xx, 4xx, 5xx, a code such as 404, or a state such as delivered."},
		{"kind", q.Kind, func(s string) bool { return slices.Contains(kinds, Kind(s)) }, "Must be a kind of entry, such as api_request or email."},
		{"level", q.Level, func(s string) bool { return slices.Contains([]Level{Info, Warning, Error}, Level(s)) }, "Must be info, warning or error."},
		{"method", q.Method, methodText.MatchString, "Must be methods of requests."},
		{"api_key_id", q.Key, api.IsID, "Must be ids."}, {"email_id", q.Email, api.IsID, "Must be ids."},
		{"domain_id", q.Domain, api.IsID, "Must be ids."}, {"managed_tenant_id", q.Tenant, api.IsID, "Must be ids."},
	} {
		if len(f.values) > maxChoices || slices.ContainsFunc(f.values, func(s string) bool { return !f.good(s) }) {
			wrong.Add(f.name, f.rule)
		}
	}
	switch {
	case q.Days != 0 && !q.Since.IsZero():
		wrong.Add("days", "Ask for days or for since, not for both.")
	case q.Days < 0 || q.Days > maxDays:
		wrong.Add("days", fmt.Sprintf("Must be between 1 and %d.", maxDays))
	case q.Days > 0:
		q.Since = now.AddDate(0, 0, -q.Days)
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		wrong.Add("since", "Must be before until.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	for i, method := range q.Method {
		q.Method[i] = strings.ToUpper(method)
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return err
	}
	if q.Since.Before(oldest) {
		q.Since = oldest
	}
	return q.restrict(caller)
}

func (q *filter) restrict(caller api.Caller) error {
	if len(caller.DomainIDs) == 0 {
		return nil
	}
	if len(q.Domain) == 0 {
		q.Domain = caller.DomainIDs
	}
	if i := slices.IndexFunc(q.Domain, func(id string) bool { return !caller.MayUseDomain(id) }); i >= 0 {
		return api.DomainNotAllowed(q.Domain[i])
	}
	return nil
}

// onlyTrouble tells that what is asked for has not gone well.
func (q *filter) onlyTrouble() bool {
	urgent := func(level string) bool { return Level(level) != Info }
	refused := func(status string) bool {
		low, _, coded := codesOf(status)
		return coded && levelOfStatus(low) != Info
	}
	return every(q.Level, urgent) || every(q.Status, refused)
}

// onlyRare tells that what is asked for is not of the kinds that every mail makes entries of.
func (q *filter) onlyRare() bool {
	return every(q.Kind, func(kind string) bool {
		return !slices.Contains([]Kind{Request, Submission, Email, Webhook}, Kind(kind))
	})
}

// asksForRequests tells that entries may be found which tell of mail beside the entry that it has.
func (q *filter) asksForRequests() bool {
	return len(q.Kind) == 0 || slices.Contains(q.Kind, string(Request)) || slices.Contains(q.Kind, string(Submission))
}

func every(values []string, holds func(string) bool) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !holds(v) })
}

// codesOf returns the answers that a status means: a class such as 4xx, or one code.
func codesOf(status string) (low, high int, ok bool) {
	if len(status) != 3 {
		return 0, 0, false
	}
	if strings.HasSuffix(status, "xx") && status[0] >= '1' && status[0] <= '5' {
		low = int(status[0]-'0') * 100
		return low, low + 99, true
	}
	code, err := strconv.Atoi(status)
	return code, code, err == nil && code >= 100 && code < 600
}

func (s *Service) check(q *filter, caller api.Caller) error {
	now := s.world.Clock.Now()
	return q.check(caller, now, now.Add(-s.retention(plan.Name(caller.Plan))))
}

package logs

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// facts is what an event says that matters for the tape.
type facts struct {
	From     string   `json:"from"`
	To       []string `json:"to"`
	Subject  string   `json:"subject"`
	Status   string   `json:"status"`
	Previous string   `json:"previous_status"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	URL      string   `json:"url"`
}

// follow returns what adds to the tape what the events tell: mail has one entry, which shows how it stands; everything else has one
// each time.
func (s *Service) follow(events []event.Event) func(tx *db.Tx) error {
	var fresh []Entry
	mails := map[string]int{} // where in fresh
	var changes []change
	for _, e := range events {
		var f facts
		_ = json.Unmarshal(e.Data, &f) // what cannot be read is told by its type alone
		if kindOf(e.Type) != Email {
			fresh = append(fresh, s.newEntry(e, f))
			continue
		}
		if e.Type == "email.bounced" && f.Previous == "" {
			continue // its reader has it, whatever a server says
		}
		if f.Previous == "" && (e.Type == "email.queued" || e.Type == "email.scheduled") {
			mails[e.Subject] = len(fresh)
			fresh = append(fresh, s.newMail(e, f))
			continue
		}
		if i, ok := mails[e.Subject]; ok {
			fresh[i].become(f.Status)
			continue
		}
		changes = append(changes, change{mailKey{e.Workspace, e.Subject}, f.Status})
	}
	return func(tx *db.Tx) error {
		if err := insertEntries(tx, fresh); err != nil {
			return err
		}
		return applyChanges(tx, changes)
	}
}

// kindOf tells what an event is about.
func kindOf(kind string) Kind {
	switch area, _, _ := strings.Cut(kind, "."); {
	case kind == "email.received":
		return Inbound
	case area == "email":
		return Email
	case area == "domain":
		return Domain
	case area == "webhook":
		return Webhook
	case area == "automation" || area == "event":
		return Automation
	}
	return System
}

// alarming are events that somebody should look at.
var alarming = map[string]Level{"domain.failed": Warning, "webhook.disabled": Error, "managed_tenant.paused": Warning, "broadcast.failed": Error,
	"automation.run.failed": Error, "import.failed": Error, "suppression.added": Warning, "guardrail.warned": Warning, "guardrail.throttled": Warning,
	"guardrail.paused": Error}

func (s *Service) newEntry(e event.Event, f facts) Entry {
	entry := Entry{ID: s.newID(e.OccurredAt), Workspace: e.Workspace, Kind: kindOf(e.Type), Level: Info, CreatedAt: e.OccurredAt, Subject: e.Subject,
		Domain: e.Domain, Tenant: e.Tenant, Status: e.Type[strings.LastIndexByte(e.Type, '.')+1:]}
	if level, ok := alarming[e.Type]; ok {
		entry.Level = level
	}
	about := first(f.Name, f.Email, hostOf(f.URL), e.Recipient)
	if entry.Kind == Inbound {
		entry.Email, about = e.Subject, fmt.Sprintf("%s from %s", first(f.Subject, "(no subject)"), f.From)
	}
	entry.Message = cut(strings.TrimSpace(e.Type+" "+conceal(about)), maxMessage)
	entry.words = wordsIn(append([]string{entry.Message, e.Subject}, f.To...)...)
	return entry
}

// hostOf returns where a webhook is: its path may hold a secret.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

const (
	// maxMessage bounds the line that an entry shows, in bytes.
	maxMessage = 500
	// maxNamed is how many recipients a line names.
	maxNamed = 3
)

// newMail makes the entry of a mail, which has the id of the mail. Mail may have got its id long before it was there, as that of a
// broadcast which is spread over days: its entry has an id of its own, by which it stands where it belongs.
func (s *Service) newMail(e event.Event, f facts) Entry {
	entry := Entry{ID: ID(e.Subject), Workspace: e.Workspace, Kind: Email, CreatedAt: e.OccurredAt, Email: e.Subject, Subject: e.Subject,
		Domain: e.Domain, Tenant: e.Tenant, Status: f.Status, Recipients: len(f.To)}
	if e.Subject < lowestID(e.OccurredAt.Add(-slack)) {
		entry.ID = s.newID(e.OccurredAt)
	}
	entry.Level = levelOfState(f.Status)
	to := strings.Join(f.To[:min(len(f.To), maxNamed)], ", ")
	if len(f.To) > maxNamed {
		to += fmt.Sprintf(" and %d more", len(f.To)-maxNamed)
	}
	subject := conceal(f.Subject)
	entry.Message = cut(fmt.Sprintf("%s to %s", first(subject, "(no subject)"), to), maxMessage)
	entry.words = wordsIn(append([]string{e.Subject, subject, f.From}, f.To...)...)
	return entry
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func levelOfState(state string) Level {
	switch state {
	case "bounced", "complained", "failed", "suppressed":
		return Warning
	}
	return Info
}

// progress orders the states of several recipients: the entry of their mail shows the best that became of one.
var progress = []string{"scheduled", "queued", "sending", "accepted_by_remote_mx", "cancelled", "suppressed", "failed", "bounced", "sent", "delivered", "complained",
	"opened", "clicked"}

// become is told where a recipient of the mail stands, and tells whether that is news.
func (e *Entry) become(state string) bool {
	if state == "" || state == e.Status {
		return false
	}
	if e.Recipients > 1 && slices.Index(progress, state) < slices.Index(progress, e.Status) {
		return false
	}
	e.Status, e.Level = state, levelOfState(state)
	return true
}

// change is that a recipient of a mail stands elsewhere now.
type change struct {
	mail  mailKey
	state string
}

type mailKey struct {
	workspace space.ID
	id        string
}

// applyChanges brings entries of mail up to date. A mail whose entry has expired stays forgotten.
func applyChanges(tx *db.Tx, changes []change) error {
	byWorkspace := map[space.ID][]string{}
	for _, c := range changes {
		byWorkspace[c.mail.workspace] = append(byWorkspace[c.mail.workspace], c.mail.id)
	}
	known := map[string]Entry{}
	for _, ws := range slices.Sorted(maps.Keys(byWorkspace)) {
		found, err := selectStates(tx, ws, byWorkspace[ws])
		if err != nil {
			return err
		}
		maps.Copy(known, found)
	}
	changed := map[ID]Entry{}
	for _, c := range changes {
		if e, ok := known[c.mail.id]; ok && e.become(c.state) {
			known[c.mail.id], changed[e.ID] = e, e
		}
	}
	return updateStates(tx, changed)
}

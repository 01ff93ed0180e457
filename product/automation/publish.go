package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/automation/internal/flow"
	"postrider/product/domain"
	"postrider/product/template"
)

// publication is how a version comes to be.
type publication struct {
	note           string
	by             api.Caller
	rolledBackFrom int64
}

// publish makes a version of the draft, if it is sound. The automation is not written yet.
func (s *Service) publish(tx *db.Tx, a *Automation, p publication) error {
	graph, err := s.validate(tx, a.Workspace, a.Draft)
	if err != nil {
		return err
	}
	if len(p.by.DomainIDs) > 0 && graph.HearsMail() {
		return errHearsAll
	}
	if err := s.checkSenders(tx, p.by, graph.Mails()); err != nil {
		return err
	}
	a.Latest++
	a.Published, a.DraftChanged = a.Latest, false
	v := Version{ID: s.world.NewID(), Automation: a.ID, Number: a.Latest, Definition: a.Draft, Note: strings.TrimSpace(p.note), RolledBackFrom: p.rolledBackFrom,
		CreatedBy: author(p.by), CreatedAt: tx.Now()}
	return insertVersion(tx, a.Workspace, v)
}

// errHearsAll keeps what happens to the mail of other domains from a key: its runs would tell of it, and steps could pass it on.
var errHearsAll = api.ErrDomainNotAllowed.Saying("This API key is restricted to domains; it cannot publish an automation that hears of the mail of all.")

// validate reads a definition and checks everything that it mentions, each mistake at its place.
func (s *Service) validate(tx *db.Tx, ws space.ID, d flow.Definition) (*flow.Graph, error) {
	var wrong api.Fields
	graph, problems := flow.Read(d)
	if tellProblems(&wrong, problems); len(wrong) > 0 {
		return nil, wrong.Err()
	}
	known, err := s.parts.Audience.Names(tx, ws)
	if err != nil {
		return nil, err
	}
	for _, m := range graph.Mentions {
		if err := s.checkMention(tx, ws, &wrong, m, known.Has); err != nil {
			return nil, err
		}
	}
	for i, step := range d.Steps {
		switch node := graph.Step(step.Key); node.Type {
		case flow.SendEmail:
			checkTexts(&wrong, i, node.Config.Mail)
		case flow.HTTPRequest:
			if err := s.checkRequest(tx, ws, &wrong, i, node.Config.Request); err != nil {
				return nil, err
			}
		case flow.Trigger:
			if node.Config.EventName == flow.Schedule && node.Config.SegmentID == "" && (graph.NeedsContact || flow.AboutContact(node.Config.Rules)) {
				wrong.Add(stepPath(i)+".config.segment_id", "Some step is about a contact, so the schedule needs a segment: without one its runs have no contact and would never begin.")
			}
		case flow.WaitForEvent:
			if name := node.Config.EventName; strings.HasPrefix(name, flow.SystemPrefix) && (!slices.Contains(flow.SystemEvents, name) || slices.Contains(placeTriggers, name)) {
				wrong.Add(stepPath(i)+".config.event_name", "No run can wait for this event. Wait for one of your own, or for what happens to a contact or its mail, such as system:email.opened.")
			}
		}
	}
	return graph, wrong.Err()
}

// checkMention notes what is wrong with something that a step mentions. Its error means that nothing can be said.
func (s *Service) checkMention(tx *db.Tx, ws space.ID, wrong *api.Fields, m flow.Mention, has func(kind, name string) bool) error {
	switch m.Kind {
	case flow.AList, flow.ASegment, flow.ATopic, flow.AProperty:
		if !has(string(m.Kind), m.Name) {
			wrong.Add(m.Path, "There is no such "+string(m.Kind)+".")
		}
	case flow.SomeRules:
		err := s.parts.Audience.CheckRules(tx, ws, m.Path, m.Rules)
		return absorb(wrong, err)
	case flow.ATemplate:
		exists, err := s.templateExists(tx, ws, m.Name)
		if err == nil && !exists {
			wrong.Add(m.Path, "There is no published template with this id or alias.")
		}
		return err
	}
	return nil
}

func (s *Service) templateExists(tx *db.Tx, ws space.ID, name string) (bool, error) {
	t, err := s.parts.Templates.Get(tx, ws, name)
	if errors.Is(err, template.ErrNotFound) {
		return false, nil
	}
	return err == nil && t.Status == template.Published, err
}

// checkTexts notes a text of a mail that could never be rendered, or that must not be sent.
func checkTexts(wrong *api.Fields, index int, m *flow.Mail) {
	if problem := blocked.Text(m.Text); problem != "" {
		wrong.Add(stepPath(index)+".config.text", problem)
	}
	_, err := template.Compile(ownTexts(m))
	var public *api.Error
	if errors.As(err, &public) {
		wrong.Add(fmt.Sprintf("%s.config.%v", stepPath(index), public.Details["part"]), public.Summary())
	}
}

// checkSenders returns the error of a mail from a domain that the caller may not use: once published, nobody asks again.
func (s *Service) checkSenders(tx *db.Tx, caller api.Caller, mails []*flow.Mail) error {
	if len(caller.DomainIDs) == 0 || len(mails) == 0 {
		return nil
	}
	ids := make([]domain.ID, len(caller.DomainIDs))
	for i, id := range caller.DomainIDs {
		ids[i] = domain.ID(id)
	}
	domains, err := s.parts.Domains.Load(tx, ids)
	if err != nil {
		return err
	}
	allowed := map[string]bool{}
	for _, d := range domains {
		allowed[d.Name] = d.Workspace == caller.Workspace
	}
	for _, m := range mails {
		name, err := s.senderDomain(tx, caller.Workspace, m)
		if err != nil {
			return err
		}
		if !allowed[name] {
			return api.DomainNotAllowed(name)
		}
	}
	return nil
}

// senderDomain returns the domain that a mail is sent from; empty if neither the step nor its template names one, or the version of
// the template is missing.
func (s *Service) senderDomain(tx *db.Tx, ws space.ID, m *flow.Mail) (string, error) {
	sender := m.From
	if sender == "" {
		ready, err := s.parts.Templates.Load(tx, ws, m.Template, template.Select{Version: m.Version})
		if isAnswer(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		sender = ready.From()
	}
	from, err := address.Parse(sender)
	if err != nil {
		return "", nil
	}
	return from.Domain, nil
}

// checkRequest looks at where an HTTP step goes, and whether its credential may be shown there.
func (s *Service) checkRequest(tx *db.Tx, ws space.ID, wrong *api.Fields, index int, r *flow.Request) error {
	at := stepPath(index)
	var credential *Credential
	if r.CredentialID != "" {
		found, err := findCredential(tx, ws, r.CredentialID)
		if errors.Is(err, ErrCredentialNotFound) {
			wrong.Add(at+".config.credential_id", "There is no such credential.")
			return nil
		}
		if err != nil {
			return err
		}
		credential = &found
	}
	s.checkTarget(wrong, at+".config.url", fullURL(r.URL, credential), credential)
	return nil
}

// fullURL puts a path below the base of its credential.
func fullURL(target string, c *Credential) string {
	if c != nil && c.BaseURL != "" && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") {
		return strings.TrimSuffix(c.BaseURL, "/") + target
	}
	return target
}

// absorb takes the fields of a validation error over; another error is returned.
func absorb(wrong *api.Fields, err error) error {
	var public *api.Error
	if !errors.As(err, &public) || !errors.Is(err, api.ErrValidation) {
		return err
	}
	fields, _ := public.Details["fieldErrors"].(api.Fields)
	for field, messages := range fields {
		for _, message := range messages {
			wrong.Add(field, message)
		}
	}
	if len(fields) == 0 {
		return err
	}
	return nil
}

// publishDraft validates the draft and makes it the version that runs begin with.
func (s *Service) publishDraft(ctx context.Context, caller api.Caller, id, note string) (a Automation, err error) {
	var wrong api.Fields
	if api.CheckText(&wrong, "note", note, maxNote); len(wrong) > 0 {
		return a, wrong.Err()
	}
	return s.republish(ctx, caller, id, func(tx *db.Tx, a *Automation) error {
		return s.publish(tx, a, publication{note: note, by: caller})
	})
}

// rollback copies a version into a new published one. A draft that was not published stays.
func (s *Service) rollback(ctx context.Context, caller api.Caller, id string, number int64) (a Automation, err error) {
	return s.republish(ctx, caller, id, func(tx *db.Tx, a *Automation) error {
		v, err := findVersion(tx, a.ID, number)
		if err != nil {
			return err
		}
		draft, changed := a.Draft, a.DraftChanged
		a.Draft = v.Definition
		if err := s.publish(tx, a, publication{by: caller, rolledBackFrom: number}); err != nil {
			return err
		}
		if changed {
			a.Draft, a.DraftChanged = draft, true
		}
		return nil
	})
}

func (s *Service) republish(ctx context.Context, caller api.Caller, id string, publish func(*db.Tx, *Automation) error) (a Automation, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, err = lockAutomation(tx, caller.Workspace, id); err != nil {
			return err
		}
		if a.Status == Archived {
			return api.ErrInvalidState.With("current", a.Status).With("allowed", []Status{Enabled, Disabled})
		}
		if err := publish(tx, &a); err != nil {
			return err
		}
		return s.settle(tx, caller, &a, "", a.Status)
	})
	return a, err
}

// duplicate makes a disabled copy, with what is published as its draft, or the draft if nothing is.
func (s *Service) duplicate(ctx context.Context, caller api.Caller, id, name string) (copied Automation, err error) {
	var original Automation
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if original, err = findAutomation(tx, caller.Workspace, id); err != nil || original.Published == 0 {
			return err
		}
		v, err := findVersion(tx, original.ID, original.Published)
		if !original.DraftChanged {
			original.Draft = v.Definition
		}
		return err
	})
	if err != nil {
		return copied, err
	}
	if name == "" {
		name = original.Name
		if runes := []rune(name); len(runes) > maxName-7 {
			name = string(runes[:maxName-7])
		}
		name += " (copy)"
	}
	body := change{Name: api.Optional[string]{Value: name, Set: true}, Description: api.Optional[string]{Value: original.Description, Set: true},
		Steps:       api.Optional[[]flow.Step]{Value: original.Draft.Steps, Set: true},
		Connections: api.Optional[[]flow.Connection]{Value: original.Draft.Connections, Set: true},
		Metadata:    api.Optional[map[string]any]{Value: original.Metadata, Set: true}}
	return s.create(ctx, caller, body)
}

// usesOf returns everything that definitions mention by id or name, each once.
func usesOf(definitions ...flow.Definition) []string {
	var uses []string
	for _, d := range definitions {
		for _, step := range d.Steps {
			var config any
			if json.Unmarshal(step.Config, &config) == nil {
				uses = collectUses(uses, config)
			}
		}
	}
	slices.Sort(uses)
	return slices.Compact(uses)
}

// collectUses finds ids of things, and the properties that rules and variables name. A draft need not be sound, so it looks at
// the values as they are.
func collectUses(uses []string, value any) []string {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			text, isText := child.(string)
			property, found := "", false
			if isText && key == "field" {
				if property, found = strings.CutPrefix(text, "properties."); !found {
					property, found = strings.CutPrefix(text, "topics.")
				}
			}
			if isText && key == "var" {
				property, found = flow.PropertyOf(text)
			}
			if found {
				uses = append(uses, property)
			}
			if key == "properties" {
				if properties, ok := child.(map[string]any); ok {
					for name := range properties {
						uses = append(uses, name)
					}
				}
			}
			uses = collectUses(uses, child)
		}
	case []any:
		for _, child := range value {
			uses = collectUses(uses, child)
		}
	case string:
		if api.IsID(value) {
			uses = append(uses, value)
		}
	}
	return uses
}

func stepPath(index int) string { return fmt.Sprintf("steps[%d]", index) }

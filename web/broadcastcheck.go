package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
)

// rendered is a message as a recipient would read it.
type rendered struct {
	Subject string
	HTML    string
	Text    string
	Preview string   `json:"preview_text"`
	Missing []string `json:"missing_variables"`
}

// render makes the message of a broadcast for somebody.
func (v *visit) render(b broadcastRecord, values map[string]any) (r rendered, err error) {
	if b.TemplateID == "" {
		err = v.send(http.MethodPost, "/v1/templates/render", map[string]any{"subject": b.Subject, "html": b.HTML, "text": b.Text, "preview_text": b.Preview, "variables": values}, &r)
		return r, err
	}
	err = v.send(http.MethodPost, apiPath("templates", b.TemplateID, "preview"), map[string]any{"variables": values}, &r)
	if b.Subject != "" {
		r.Subject = b.Subject
	}
	return r, err
}

// valuesOf is what a message can say about a contact; the fallbacks of properties stand in for what is not known.
func (v *visit) valuesOf(c contactRecord, b broadcastRecord) (map[string]any, error) {
	known, err := v.everyProperty()
	if err != nil {
		return nil, err
	}
	values, properties, contact := map[string]any{}, map[string]any{}, map[string]any{"id": c.ID, "email": c.Email}
	for _, p := range known {
		var value any
		if json.Unmarshal(p.Fallback, &value) == nil && value != nil {
			properties[p.Key] = value
		}
	}
	for key, value := range c.Properties {
		if value != nil {
			properties[key] = value
		}
	}
	maps.Copy(values, properties)
	maps.Copy(contact, properties)
	contact["properties"] = properties
	for key, value := range b.Variables {
		values[key] = value
	}
	link := v.dashboard.config.BaseURL + "/"
	values["EMAIL"], values["UNSUBSCRIBE_URL"], values["RESEND_UNSUBSCRIBE_URL"], values["contact"] = c.Email, link, link, contact
	for name, value := range map[string]string{"first_name": c.FirstName, "last_name": c.LastName} {
		if value != "" {
			values[strings.ToUpper(name)], contact[name] = value, value
		}
	}
	return values, nil
}

// everyProperty is what is known of people, for those who may look at it.
func (v *visit) everyProperty() ([]propertyRecord, error) {
	if !v.can("audience:read") {
		return nil, nil
	}
	return every[propertyRecord](v, "/v1/contact-properties", nil, 0)
}

// sampleContact is one of those a broadcast is for: the one that was chosen, or the newest.
func (v *visit) sampleContact(b broadcastRecord, chosen string) (contactRecord, error) {
	all, err := v.sampleContacts(b)
	if err != nil || len(all) == 0 {
		return contactRecord{Email: v.session.User.Email, FirstName: v.session.User.Name}, err
	}
	if i := slices.IndexFunc(all, func(c contactRecord) bool { return c.ID == chosen }); i >= 0 {
		return all[i], nil
	}
	return all[0], nil
}

func (v *visit) sampleContacts(b broadcastRecord) ([]contactRecord, error) {
	var found listOf[contactRecord]
	if b.AudienceID == "" && b.SegmentID == "" {
		return nil, nil
	}
	query := add(url.Values{"limit": {"10"}, "status": {"subscribed"}}, map[string]string{"list_id": b.AudienceID, "segment_id": b.SegmentID, "topic_id": b.TopicID})
	err := v.get("/v1/audience/contacts", query, &found)
	if isRefused(err, "not_found", "validation_error") {
		return nil, nil // what was chosen is gone, which the checks say
	}
	return found.Data, err
}

// blocked tells whether something was found that has to be mended or done first.
func blocked(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.State == "bad" || f.State == "open" })
}

// checkBroadcast looks at a broadcast as a careful colleague would. What is bad stops it from being sent.
func (v *visit) checkBroadcast(b broadcastRecord, e *estimate) ([]finding, error) {
	sender, err := v.checkSender(b)
	if err != nil {
		return nil, err
	}
	found := []finding{v.checkAudience(e), sender}
	if strings.TrimSpace(b.Subject) == "" {
		found = append(found, undone("No subject", "Write one under What."))
	}
	if b.HTML+b.Text+b.TemplateID == "" {
		return append(found, undone("No message", "Write it, or choose a template.")), nil
	}
	if v.can("template:manage") {
		written, err := v.checkMessage(b)
		if err != nil {
			return nil, err
		}
		found = append(found, written...)
	}
	if b.ID == "" || !v.can("email:read") {
		return found, nil
	}
	tested, err := v.tested(b)
	if tested {
		return append(found, good("A test was sent", "Since the last change.")), err
	}
	return append(found, doubtful("No test sent since the last change", "Send one to yourself and look at it in your mail program.")), err
}

func (v *visit) checkAudience(e *estimate) finding {
	switch {
	case e == nil:
		return undone("Nobody chosen", "Choose a list or a segment.")
	case e.Eligible == 0:
		return bad("It would reach nobody", "Choose other people.")
	case e.Short != "":
		return bad("Too many people for the plan", e.Short).to(v.link("settings", "plan"), "Look at the plan")
	}
	return good("It reaches "+e.People, "")
}

func (v *visit) checkSender(b broadcastRecord) (finding, error) {
	if strings.TrimSpace(b.From) == "" {
		return undone("No sender", "Write an address at one of your domains."), nil
	}
	from, err := address.Parse(b.From)
	if err != nil {
		return bad("The sender is no address", "Write it as Name <news@example.com>."), nil
	}
	if !v.can("domain:read") {
		return good("Sender", "That "+from.Domain+" is verified is checked when you send."), nil
	}
	d, err := v.domainCalled(from.Domain)
	if err != nil {
		return finding{}, err
	}
	if !d.Verified {
		return bad(from.Domain+" is not verified", "Mail from it would be refused.").to(v.link("domains"), "Verify it"), nil
	}
	return good("Domain verified", from.Domain), nil
}

var linkForm = regexp.MustCompile(`(?i)<a\b[^>]*\bhref\s*=\s*["']([^"']*)["']`)

// checkMessage looks at what is written: whether it can be made for everybody, and what it leads to.
func (v *visit) checkMessage(b broadcastRecord) ([]finding, error) {
	values, err := v.valuesOf(contactRecord{Email: "nobody@example.com"}, b)
	if err != nil {
		return nil, err
	}
	r, err := v.render(b, values)
	if p, ok := err.(*problem); ok && p.Status != http.StatusTooManyRequests {
		said := p.Message
		for _, field := range p.Others() {
			said += " " + field
		}
		return []finding{bad("The message cannot be made", said)}, nil
	}
	if err != nil {
		return nil, nil // asked too often; the next look says more
	}
	var found []finding
	if b.HTML+b.Text != "" && !strings.Contains(b.HTML+b.Text, "UNSUBSCRIBE_URL") {
		found = append(found, good("Unsubscribe link", "The message has none, so one is added below it."))
	} else {
		found = append(found, good("Unsubscribe link", ""))
	}
	if b.HTML != "" && b.Text == "" {
		found = append(found, good("Text part", "It is made from the HTML."))
	} else if r.Text != "" {
		found = append(found, good("Text part", ""))
	}
	missing, err := v.checkMissing(slices.DeleteFunc(r.Missing, func(name string) bool { return name == "contact" }))
	if err != nil {
		return nil, err
	}
	return append(append(found, missing...), checkLinks(r.HTML, v.plural)...), nil
}

// checkMissing tells what is not known of everybody from what is known of nobody, which lets the whole broadcast fail.
func (v *visit) checkMissing(names []string) (found []finding, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	properties, err := v.everyProperty()
	var some, none []string
	for _, name := range names {
		if !v.can("audience:read") || name == "FIRST_NAME" || name == "LAST_NAME" || strings.HasPrefix(name, "contact.") ||
			slices.ContainsFunc(properties, func(p propertyRecord) bool { return p.Key == name }) {
			some = append(some, name)
		} else {
			none = append(none, name)
		}
	}
	if len(none) > 0 {
		found = append(found, bad("Nobody has a value for "+strings.Join(none, ", "),
			"No property is called that, so the mail could be made for nobody. People's names are FIRST_NAME and LAST_NAME, as in {{{FIRST_NAME|there}}}."))
	}
	if len(some) > 0 {
		found = append(found, doubtful("Without a fallback: "+strings.Join(some, ", "),
			"People of whom that is not known do not get the mail. Name a fallback, as in {{{"+some[0]+"|there}}}."))
	}
	return found, err
}

// checkLinks looks for links that lead nowhere. Whether a page answers is not tried: it may count as a visit.
func checkLinks(html string, plural func(int64, string, string) string) []finding {
	var links, broken []string
	for _, found := range linkForm.FindAllStringSubmatch(html, -1) {
		links = append(links, found[1])
		to, err := url.Parse(strings.TrimSpace(found[1]))
		if err != nil || to.Scheme == "" || (to.Scheme == "http" || to.Scheme == "https") && to.Host == "" || to.Scheme == "javascript" {
			broken = append(broken, found[1])
		}
	}
	switch {
	case len(broken) > 0:
		return []finding{doubtful(plural(int64(len(broken)), "link leads nowhere", "links lead nowhere"), "In a mail, a link needs a full address. The first is “"+visible(broken[0])+"”.")}
	case len(links) > 0:
		return []finding{good(plural(int64(len(links)), "link", "links")+" with full addresses", "")}
	}
	return nil
}

// tested tells whether a test went out since the last change. The API keeps no note of it, so the emails are asked.
func (v *visit) tested(b broadcastRecord) (bool, error) {
	from, err := address.Parse(b.From)
	if err != nil {
		return false, nil
	}
	var found struct {
		Data []struct{ Source, Subject string }
	}
	err = v.get("/v1/emails", url.Values{"limit": {"50"}, "since": {b.UpdatedAt.UTC().Format(time.RFC3339Nano)}, "from": {from.Key()}}, &found)
	return slices.ContainsFunc(found.Data, func(e struct{ Source, Subject string }) bool {
		return e.Source == "test" && strings.HasPrefix(e.Subject, "[Test] ")
	}), err
}

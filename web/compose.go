package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// composePage writes a broadcast: to whom, what and when, in any order. It is saved as a draft until somebody sends it.
type composePage struct {
	shell
	Broadcast               broadcastRecord
	Lists, Segments, Topics []choice
	Templates               []choice
	ReplyTo, Throttle       string
	Variables, Tags         string
	Opens, Clicks, Days     []choice
	WindowZone              string
	// Labelled and Paced tell that something is said about tags, values and counting, or about how fast and at which hours.
	Labelled, Paced bool
	// Own tells that the words are written here and not in a template; Later that it waits for a time.
	Own, Later bool
	When       string
	Zones      []string
	Estimate   *estimate
	Checks     []finding
	TestTo     string
	Saved      moment
	Trail      []trailStep
	Action     string
	Problem    *problem
	// Unsaved tells that the page shows what was refused, and not what is stored.
	Unsaved bool
}

// trailStep is a part of the work on a broadcast. The parts can be done in any order.
type trailStep struct {
	Label, Href string
	Done        bool
}

func showNewBroadcast(v *visit) error {
	b := broadcastRecord{AudienceID: v.query("list_id"), SegmentID: v.query("segment_id"), TemplateID: v.query("template_id")}
	senders, err := v.knownSenders()
	if err != nil {
		return err
	}
	if len(senders) > 0 {
		b.From = "news@" + senders[0]
	}
	return v.compose(http.StatusOK, b, nil)
}

// knownSenders are the domains that mail may come from, as far as the person may see them.
func (v *visit) knownSenders() ([]string, error) {
	if !v.can("domain:read") {
		return nil, nil
	}
	return v.senders()
}

func showEditBroadcast(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	if !v.can("email:send") {
		http.Redirect(v.w, v.r, v.link("broadcasts", b.ID, "message"), http.StatusSeeOther)
		return nil
	}
	if !b.open() {
		http.Redirect(v.w, v.r, v.link("broadcasts", b.ID), http.StatusSeeOther)
		return nil
	}
	return v.compose(http.StatusOK, b, nil)
}

// compose draws the form for a broadcast, saved or not.
func (v *visit) compose(status int, b broadcastRecord, wrong *problem) error {
	p := composePage{Broadcast: b, ReplyTo: strings.Join(b.ReplyTo, ", "), Own: b.TemplateID == "" && v.value("content") != "template", Later: b.ScheduledAt != nil, TestTo: orElse(v.value("to"), v.session.User.Email), Action: v.r.URL.Path, Problem: wrong}
	if p.shell = v.broadcastShell("New broadcast"); b.ID != "" {
		p.shell, p.Saved, p.Action = v.broadcastShell(b.title()), v.ago(b.UpdatedAt), v.link("broadcasts", b.ID, "edit")
	}
	p.Unsaved = wrong != nil && p.Action == v.r.URL.Path
	p.shell = p.with("redraw.js", "unsaved.js")
	v.addOptions(&p)
	if b.ScheduledAt != nil {
		p.When, p.Zones = b.ScheduledAt.In(v.zone()).Format(momentLayout), v.inZones(*b.ScheduledAt)
	} else if wrong.Field("scheduled_at") != "" {
		p.When, p.Later = v.value("scheduled_at"), true
	}
	current := map[string]string{"list_id": b.AudienceID, "segment_id": b.SegmentID, "topic_id": b.TopicID}
	var err error
	if p.Lists, p.Segments, p.Topics, err = v.audienceChoices("No list", "No segment", "No topic", func(name string) string { return current[name] }); err != nil {
		return err
	}
	if p.Templates, err = v.templateChoices("Choose a template", b.TemplateID); err != nil {
		return err
	}
	if p.Estimate, err = v.estimate(b); err != nil {
		return err
	}
	if p.Checks, err = v.checkBroadcast(b, p.Estimate); err != nil {
		return err
	}
	p.Trail = []trailStep{{"Who", "#h-who", p.Estimate != nil && p.Estimate.Eligible > 0}, {"What", "#h-what", b.From != "" && b.Subject != "" && b.HTML+b.Text+b.TemplateID != ""},
		{"When", "#h-when", true}, {"Review", "#f-review", false}}
	return v.showStatus(status, "broadcasts/edit", p)
}

// addOptions fills in what few broadcasts need.
func (v *visit) addOptions(p *composePage) {
	b := p.Broadcast
	if b.Throttle != nil {
		p.Throttle = strconv.FormatInt(*b.Throttle, 10)
	}
	if v.form.Has("html") && b.TemplateID != "" {
		p.Broadcast.HTML, p.Broadcast.Text = newlines(v.value("html")), newlines(v.value("text")) // who goes back to their own words finds them
	}
	if v.form.Has("throttle_per_hour") {
		p.Throttle = v.value("throttle_per_hour") // which may be no number
	}
	p.Tags, p.Variables, p.Days, p.WindowZone = tagLines(b.Tags), b.Variables.text(), b.Window.dayChoices(), v.zone().String()
	if v.form.Has("variables") {
		p.Variables = newlines(v.value("variables")) // which may be no JSON yet
	}
	if b.Window != nil {
		p.WindowZone = b.Window.Timezone
	} else {
		p.Broadcast.Window = &windowRecord{}
	}
	p.Opens, p.Clicks = trackingChoices(trackingWord(b.Tracking.Opens)), trackingChoices(trackingWord(b.Tracking.Clicks))
	p.Labelled = p.Tags+p.Variables != "" || b.Tracking.said() || p.Problem.Field("variables")+p.Problem.Field("tags")+p.Problem.Field("tracking") != ""
	p.Paced = p.Throttle != "" || b.Window != nil || p.Problem.Field("throttle_per_hour")+p.Problem.Field("sending_window") != ""
}

// posted is the broadcast as the form has it.
func (v *visit) posted(id string) broadcastRecord {
	b := broadcastRecord{ID: id, Name: v.value("name"), AudienceID: v.value("list_id"), SegmentID: v.value("segment_id"), TopicID: v.value("topic_id"), From: v.value("from"),
		ReplyTo: addresses(v.value("reply_to")), Subject: v.value("subject"), Preview: v.value("preview_text"), UpdatedAt: v.now}
	if chosen := v.value("template_id"); v.value("content") == "template" && chosen != "" {
		b.TemplateID = chosen
	} else {
		lines := strings.NewReplacer("\r\n", "\n") // what browsers make of line ends in forms
		b.HTML, b.Text = lines.Replace(v.value("html")), lines.Replace(v.value("text"))
	}
	if at, err := time.ParseInLocation(momentLayout, v.value("scheduled_at"), v.zone()); err == nil && v.value("when") == "later" {
		b.ScheduledAt = &at
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(v.value("throttle_per_hour")), 10, 64); err == nil {
		b.Throttle = &n
	}
	b.Tags, b.Tracking, b.Window = tagsIn(newlines(v.value("tags"))), v.postedTracking(), v.postedWindow()
	b.Variables, _ = objectIn(v.value("variables"), "variables")
	return b
}

// body is the broadcast as the API takes it: null empties a field, and an empty text would leave it as it was.
func (v *visit) body(b broadcastRecord) map[string]any {
	if strings.TrimSpace(b.Name+b.Subject) == "" {
		b.Name = "Untitled"
	}
	body := map[string]any{"reply_to": append([]string{}, b.ReplyTo...), "throttle_per_hour": b.Throttle, "scheduled_at": nil, "tags": b.Tags, "tracking": b.Tracking, "sending_window": b.Window,
		"variables": b.Variables}
	for name, text := range map[string]string{"name": b.Name, "audience_id": b.AudienceID, "segment_id": b.SegmentID, "topic_id": b.TopicID, "from": b.From, "subject": b.Subject,
		"preview_text": b.Preview, "html": b.HTML, "text": b.Text, "template_id": b.TemplateID} {
		body[name] = orNull(text)
	}
	if v.value("when") == "later" {
		body["scheduled_at"] = orNull(v.instant(v.value("scheduled_at")))
	}
	return body
}

func saveBroadcast(v *visit) error {
	id := v.path("id")
	b := v.posted(id)
	if v.value("do") != "" {
		return v.compose(http.StatusOK, b, nil)
	}
	if v.value("when") == "later" && strings.TrimSpace(v.value("scheduled_at")) == "" {
		return v.compose(http.StatusBadRequest, b, &problem{Message: "Say when.", Fields: map[string]string{"scheduled_at": "Choose a day and a time, or send it now."}})
	}
	if _, wrong := objectIn(v.value("variables"), "variables"); wrong != nil {
		return v.compose(wrong.Status, b, wrong)
	}
	if v.value("content") == "template" && b.TemplateID == "" && b.HTML+b.Text != "" { // saving it so would throw away what was written by hand
		return v.compose(http.StatusBadRequest, b, &problem{Message: "Choose a template, or write the message here.",
			Fields: map[string]string{"template_id": "Choose one."}})
	}
	if pace := strings.TrimSpace(v.value("throttle_per_hour")); pace != "" && b.Throttle == nil { // without it, everything would go out at once
		return v.compose(http.StatusBadRequest, b, &problem{Message: "How fast it goes could not be read.",
			Fields: map[string]string{"throttle_per_hour": "Must be a whole number."}})
	}
	made, err := v.keepBroadcast(b)
	if refused := refusal(err); refused != nil {
		return v.compose(refused.Status, b, refused)
	}
	if err != nil {
		return err
	}
	switch v.value("then") {
	case "review":
		return v.redirect(v.link("broadcasts", made, "review"), "")
	case "check":
		return v.redirect(v.link("emails", "check")+"?"+url.Values{"broadcast": {made}}.Encode(), "Saved. Nothing is sent yet.")
	}
	return v.redirect(v.link("broadcasts", made, "edit"), "Saved. Nothing is sent yet.")
}

// keepBroadcast saves what was written. What is there already is left alone: a test that was sent of it is still good.
func (v *visit) keepBroadcast(b broadcastRecord) (id string, err error) {
	var made struct{ ID string }
	if b.ID == "" {
		err = v.send(http.MethodPost, "/v1/broadcasts", v.body(b), &made)
		return made.ID, err
	}
	before, err := v.readBroadcast(b.ID)
	if err != nil || slices.Equal(before.said(), b.said()) {
		return b.ID, err
	}
	return b.ID, v.send(http.MethodPatch, apiPath("broadcasts", b.ID), v.body(b), nil)
}

// said is all that a person says about a broadcast.
func (b broadcastRecord) said() []string {
	when, pace := "", ""
	if b.ScheduledAt != nil {
		when = b.ScheduledAt.UTC().Format(momentLayout)
	}
	if b.Throttle != nil {
		pace = strconv.FormatInt(*b.Throttle, 10)
	}
	all := []string{b.Name, b.AudienceID, b.SegmentID, b.TopicID, b.From, b.Subject, b.Preview, b.HTML, b.Text, b.TemplateID, when, pace, strings.Join(b.ReplyTo, ","),
		tagLines(b.Tags), b.Variables.text(), trackingWord(b.Tracking.Opens), trackingWord(b.Tracking.Clicks), b.Window.words()}
	for i, text := range all {
		all[i] = strings.TrimSpace(text)
	}
	return all
}

package broadcast

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/audience"
	"postrider/product/email"
	"postrider/product/template"
)

// Limits of a broadcast.
const (
	maxName     = 120
	maxSubject  = 998
	maxPreview  = 500
	maxReplyTo  = 10
	maxHTML     = 2 << 20
	maxThrottle = 10_000_000
	// maxBody fits html and text, escaped.
	maxBody = 8 << 20
)

// text is an optional field: absent and "" leave it as it is, null empties it. Some SDKs always send "".
type text = api.Optional[*string]

func apply(field text, before string) string {
	switch {
	case !field.Set || field.Value != nil && *field.Value == "":
		return before
	case field.Value == nil:
		return ""
	}
	return *field.Value
}

// Body is a broadcast as it is asked for, and what is to be different in one.
type Body struct {
	Name        text                          `json:"name" doc:"What people call it; the subject if absent." example:"November news"`
	AudienceID  text                          `json:"audience_id" doc:"The list it is for, or a segment." example:"0193a1f5-0000-7000-8000-000000000311"`
	SegmentID   text                          `json:"segment_id" doc:"The segment it is for; with audience_id those who are in both."`
	TopicID     text                          `json:"topic_id" doc:"What it is about. Who opted out of it is left out."`
	From        text                          `json:"from" doc:"Sender, at a verified domain." example:"Acme <news@acme.test>"`
	ReplyTo     api.Optional[api.Strings]     `json:"reply_to" example:"[\"support@acme.test\"]"`
	ReplyCamel  api.Optional[api.Strings]     `json:"replyTo"`
	Subject     text                          `json:"subject" example:"November"`
	PreviewText text                          `json:"preview_text" doc:"What mail programs show beside the subject." example:"What is new"`
	HTML        text                          `json:"html" doc:"May have variables. A link to unsubscribe is added if it has none." example:"<p>Hi {{{FIRST_NAME|there}}}</p>"`
	Text        text                          `json:"text" doc:"Made from html if absent." example:"Hi {{{FIRST_NAME|there}}}"`
	TemplateID  text                          `json:"template_id" doc:"Id or alias of a template instead of html and text."`
	Variables   api.Optional[template.Values] `json:"variables" doc:"Values that are the same for all."`
	Tags        api.Optional[[]email.Tag]     `json:"tags"`
	Tracking    api.Optional[*trackingBody]   `json:"tracking" doc:"As the domain says if absent."`
	Throttle    api.Optional[*int64]          `json:"throttle_per_hour" doc:"How many mails an hour, spread evenly; null for no limit." example:"1000"`
	Window      api.Optional[*Window]         `json:"sending_window" doc:"Hours and days in which mail may go out; null for always."`
	ScheduledAt text                          `json:"scheduled_at" doc:"RFC 3339, or like 'in 10 minutes'; at most 30 days ahead."`
}

type trackingBody struct {
	Opens  *bool `json:"opens" example:"true"`
	Clicks *bool `json:"clicks" example:"true"`
}

// apply returns the broadcast as the request wants it, and notes what is wrong with it.
func (r Body) apply(wrong *api.Fields, b Broadcast, now time.Time) Broadcast {
	b.Name, b.Subject = strings.TrimSpace(apply(r.Name, b.Name)), strings.TrimSpace(apply(r.Subject, b.Subject))
	b.From, b.PreviewText = strings.TrimSpace(apply(r.From, b.From)), strings.TrimSpace(apply(r.PreviewText, b.PreviewText))
	b.HTML, b.Text, b.Template = apply(r.HTML, b.HTML), apply(r.Text, b.Text), strings.TrimSpace(apply(r.TemplateID, b.Template))
	b.Target = audience.Target{List: apply(r.AudienceID, b.Target.List), Segment: apply(r.SegmentID, b.Target.Segment), Topic: apply(r.TopicID, b.Target.Topic)}
	b.ReplyTo = r.ReplyCamel.Or(r.ReplyTo.Or(b.ReplyTo))
	b.Variables = r.Variables.Or(b.Variables)
	if r.Tags.Set {
		b.Tags = email.CheckTags(wrong, r.Tags.Value)
	}
	if r.Tracking.Set {
		b.TrackOpens, b.TrackClicks = nil, nil
		if r.Tracking.Value != nil {
			b.TrackOpens, b.TrackClicks = r.Tracking.Value.Opens, r.Tracking.Value.Clicks
		}
	}
	if r.Throttle.Set {
		if b.Throttle = 0; r.Throttle.Value != nil {
			b.Throttle = *r.Throttle.Value
			if b.Throttle < 1 || b.Throttle > maxThrottle {
				wrong.Add("throttle_per_hour", fmt.Sprintf("Must be between 1 and %d.", maxThrottle))
			}
		}
	}
	if r.Window.Set {
		if b.Window = (Window{}); r.Window.Value != nil {
			b.Window = r.Window.Value.filled()
			b.Window.check(wrong)
		}
	}
	if at := apply(r.ScheduledAt, ""); at != "" {
		b.ScheduledAt = email.CheckSchedule(wrong, at, now)
	} else if r.withoutTime() {
		b.ScheduledAt = time.Time{}
	}
	if b.Name == "" {
		b.Name = string([]rune(b.Subject)[:min(len([]rune(b.Subject)), maxName)])
	}
	b.check(wrong)
	return b
}

// withoutTime tells whether the request takes the time of a broadcast away.
func (r Body) withoutTime() bool { return r.ScheduledAt.Set && r.ScheduledAt.Value == nil }

func (b Broadcast) check(wrong *api.Fields) {
	api.CheckLine(wrong, "name", b.Name, maxName)
	api.CheckLine(wrong, "subject", b.Subject, maxSubject)
	api.CheckLine(wrong, "preview_text", b.PreviewText, maxPreview)
	if b.From != "" {
		checkAddress(wrong, "from", b.From)
	}
	if len(b.ReplyTo) > maxReplyTo {
		wrong.Add("reply_to", fmt.Sprintf("At most %d addresses are allowed.", maxReplyTo))
	}
	for i, text := range b.ReplyTo[:min(len(b.ReplyTo), maxReplyTo)] {
		checkAddress(wrong, fmt.Sprintf("reply_to[%d]", i), text)
	}
	for field, text := range map[string]string{"html": b.HTML, "text": b.Text} {
		if len(text) > maxHTML || strings.ContainsRune(text, 0) {
			wrong.Add(field, "Must have at most 2 MB and no NUL characters.")
		}
	}
	if problem := blocked.Text(b.Text); problem != "" {
		wrong.Add("text", problem)
	}
	if b.Template != "" && (b.HTML != "" || b.Text != "") {
		wrong.Add("template_id", "Give a template, or html and text, not both.")
	}
}

func checkAddress(wrong *api.Fields, field, text string) {
	if _, err := address.Parse(text); err != nil {
		wrong.Add(field, fmt.Sprintf("Not an email address: %s.", err))
	}
}

// resolve looks up what a broadcast names: a list that is a segment, and the id behind an alias of a template. What is not there is
// the fault of a field.
func (s *Service) resolve(tx *db.Tx, b *Broadcast) error {
	if b.Target.List != "" && b.Target.Segment == "" {
		segment, err := s.parts.Audience.IsSegment(tx, b.Workspace, b.Target.List)
		if err != nil {
			return err
		}
		if segment {
			b.Target.List, b.Target.Segment = "", b.Target.List
		}
	}
	var wrong api.Fields
	for _, named := range []struct {
		field  string
		target audience.Target
	}{{"audience_id", audience.Target{List: b.Target.List}}, {"segment_id", audience.Target{Segment: b.Target.Segment}}, {"topic_id", audience.Target{Topic: b.Target.Topic}}} {
		if err := s.parts.Audience.CheckTarget(tx, b.Workspace, named.target); isMissing(err) {
			wrong.Add(named.field, "There is none with this id.")
		} else if err != nil {
			return err
		}
	}
	if b.Template != "" {
		t, err := s.parts.Templates.Get(tx, b.Workspace, b.Template)
		if isMissing(err) {
			wrong.Add("template_id", "There is no such template.")
		} else if err != nil {
			return err
		} else {
			b.Template = string(t.ID)
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if b.Template != "" {
		return nil // it was read when it was published
	}
	_, err := s.newPress(tx, *b)
	return err
}

// complete notes what a broadcast lacks to be sent.
func (b Broadcast) complete() error {
	var wrong api.Fields
	for _, f := range []struct{ field, value, message string }{
		{"from", b.From, "A sender is required."}, {"subject", b.Subject, "A subject is required."},
		{"html", b.HTML + b.Text + b.Template, "Either html, text or a template is required."},
		{"audience_id", b.Target.List + b.Target.Segment, "A list or a segment is required."}} {
		if f.value == "" {
			wrong.Add(f.field, f.message)
		}
	}
	return wrong.Err()
}

// copied returns a draft that says the same.
func (b Broadcast) copied() Broadcast {
	return Broadcast{Workspace: b.Workspace, Status: Draft, Name: b.Name, Target: b.Target, From: b.From, ReplyTo: slices.Clone(b.ReplyTo), Subject: b.Subject,
		PreviewText: b.PreviewText, HTML: b.HTML, Text: b.Text, Template: b.Template, Variables: b.Variables, Tags: slices.Clone(b.Tags),
		TrackOpens: b.TrackOpens, TrackClicks: b.TrackClicks, Throttle: b.Throttle, Window: b.Window}
}

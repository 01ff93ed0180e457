package main

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

type noArgs struct{}

type idArgs struct {
	ID string `json:"id" jsonschema:"its id"`
}

type addressArgs struct {
	Email string `json:"email" jsonschema:"an email address"`
}

type sendArgs struct {
	From           string         `json:"from" jsonschema:"sender, plain or as Name <address>, at a verified domain"`
	To             []string       `json:"to" jsonschema:"recipients"`
	Cc             []string       `json:"cc,omitempty"`
	Bcc            []string       `json:"bcc,omitempty"`
	ReplyTo        []string       `json:"reply_to,omitempty"`
	Subject        string         `json:"subject,omitempty" jsonschema:"needed unless a template has one"`
	Text           string         `json:"text,omitempty" jsonschema:"plain text; one of text, html and template_id is needed"`
	HTML           string         `json:"html,omitempty"`
	TemplateID     string         `json:"template_id,omitempty" jsonschema:"id or alias of a template instead of text and html"`
	Variables      map[string]any `json:"variables,omitempty" jsonschema:"values for the template"`
	ScheduledAt    string         `json:"scheduled_at,omitempty" jsonschema:"RFC 3339, or like 'in 10 minutes'"`
	IdempotencyKey string         `json:"idempotency_key,omitempty" jsonschema:"8 to 128 characters; the same key sends once"`
}

type pageArgs struct {
	Search string `json:"search,omitempty" jsonschema:"words to look for"`
	Limit  int    `json:"limit,omitempty" jsonschema:"rows of a page; 50 if absent"`
	Offset int    `json:"offset,omitempty" jsonschema:"rows to skip"`
}

type emailListArgs struct {
	Search string `json:"search,omitempty" jsonschema:"words in the subject, addresses or id"`
	Status string `json:"status,omitempty" jsonschema:"such as delivered, bounced, scheduled"`
	To     string `json:"to,omitempty" jsonschema:"part of a recipient's address"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most 200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

type rescheduleArgs struct {
	ID          string `json:"id" jsonschema:"id of the email"`
	ScheduledAt string `json:"scheduled_at" jsonschema:"RFC 3339, or like 'in 10 minutes'"`
}

type spamArgs struct {
	From    string `json:"from"`
	Subject string `json:"subject"`
	Text    string `json:"text,omitempty"`
	HTML    string `json:"html,omitempty"`
}

type replyArgs struct {
	ID   string `json:"id" jsonschema:"id of the received message"`
	Text string `json:"text,omitempty"`
	HTML string `json:"html,omitempty"`
}

type domainArgs struct {
	Name string `json:"name" jsonschema:"such as mail.example.com"`
}

type templateArgs struct {
	Name    string `json:"name"`
	Alias   string `json:"alias,omitempty" jsonschema:"a short name to send by"`
	Subject string `json:"subject,omitempty"`
	HTML    string `json:"html" jsonschema:"with places like {{name}}"`
	Text    string `json:"text,omitempty"`
}

type templateChangeArgs struct {
	ID      string `json:"id" jsonschema:"id or alias of the template"`
	Subject string `json:"subject,omitempty"`
	HTML    string `json:"html,omitempty"`
	Text    string `json:"text,omitempty"`
}

type previewArgs struct {
	ID        string         `json:"id" jsonschema:"id or alias of the template"`
	Variables map[string]any `json:"variables,omitempty"`
}

type contactArgs struct {
	Email        string         `json:"email"`
	FirstName    string         `json:"first_name,omitempty"`
	LastName     string         `json:"last_name,omitempty"`
	Unsubscribed bool           `json:"unsubscribed,omitempty"`
	Properties   map[string]any `json:"properties,omitempty"`
}

type periodArgs struct {
	Days     int    `json:"days,omitempty" jsonschema:"so many days back from now; 30 if absent"`
	DomainID string `json:"domain_id,omitempty" jsonschema:"only mail of this domain"`
	Tag      string `json:"tag,omitempty" jsonschema:"only mail with this tag, as name:value"`
}

type logArgs struct {
	Search  string `json:"search,omitempty" jsonschema:"words to look for"`
	Kind    string `json:"kind,omitempty" jsonschema:"only entries of this kind"`
	Level   string `json:"level,omitempty" jsonschema:"only entries of this level"`
	EmailID string `json:"email_id,omitempty" jsonschema:"only what is about this email"`
	Limit   int    `json:"limit,omitempty" jsonschema:"rows of a page; 50 if absent"`
	Offset  int    `json:"offset,omitempty" jsonschema:"rows to skip"`
}

type webhookArgs struct {
	URL    string   `json:"url" jsonschema:"where events are posted to"`
	Events []string `json:"events" jsonschema:"such as email.delivered or email.*; list_webhook_events names them"`
}

// queryOf turns the fields of arguments that were given into a query, by their JSON names.
func queryOf(arguments any) url.Values {
	values, v := url.Values{}, reflect.ValueOf(arguments)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch field := v.Field(i); {
		case field.IsZero():
		case field.Kind() == reflect.String:
			values.Set(name, field.String())
		case field.CanInt():
			values.Set(name, strconv.FormatInt(field.Int(), 10))
		}
	}
	return values
}

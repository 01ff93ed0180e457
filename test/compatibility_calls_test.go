package test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"postrider/client"
)

// nobodysID is an id that stands for nothing.
const nobodysID = "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"

// arguments returns what a method is called with, or nil if it is not known.
func (p *preparer) arguments(method string) []any {
	service, verb, _ := strings.Cut(method, ".")
	for _, known := range []map[string]func() []any{p.mailCalls(), p.peopleCalls(), p.campaignCalls(), p.machineCalls()} {
		if prepare, ok := known[method]; ok {
			return prepare()
		}
	}
	if verb == "List" && service != "" {
		return []any{}
	}
	return nil
}

// argumentsV2 are those of the SDK in which a contact was always one of an audience.
func (p *preparer) argumentsV2(method string) []any {
	audience := func() string { return p.segment() }
	switch method {
	case "Contacts.Create":
		return []any{fields{"AudienceId": audience(), "Email": p.address()}}
	case "Contacts.List":
		return []any{audience()}
	case "Contacts.Get", "Contacts.Remove":
		a := audience()
		return []any{a, p.contactOf(a)}
	case "Contacts.Update":
		a := audience()
		return []any{fields{"AudienceId": a, "Id": p.contactOf(a), "FirstName": "Ann"}}
	case "Broadcasts.Create":
		return []any{fields{"AudienceId": audience(), "From": "hello@acme.test", "Subject": "News", "Text": "News"}}
	case "Broadcasts.Update":
		return []any{fields{"BroadcastId": p.broadcast(), "Subject": "Newer"}}
	}
	return p.arguments(method)
}

func (p *preparer) mailCalls() map[string]func() []any {
	return map[string]func() []any{
		"Emails.Send":                      func() []any { return []any{p.email()} },
		"Emails.Get":                       func() []any { return []any{p.later()} },
		"Emails.Cancel":                    func() []any { return []any{p.later()} },
		"Emails.Update":                    func() []any { return []any{fields{"Id": p.later(), "ScheduledAt": "in 2 hours"}} },
		"Emails.ListAttachments":           func() []any { return []any{p.filed()[0]} },
		"Emails.GetAttachment":             func() []any { return p.filed() },
		"Emails.Receiving.List":            func() []any { p.received(); return []any{} },
		"Emails.Receiving.Get":             func() []any { return []any{p.received()[0]} },
		"Emails.Receiving.ListAttachments": func() []any { return []any{p.received()[0]} },
		"Emails.Receiving.GetAttachment":   func() []any { return p.received() },
		"Batch.Send":                       func() []any { return []any{[]fields{p.email(), p.email()}} },
		"Domains.Create":                   func() []any { return []any{fields{"Name": p.next("domain") + ".test"}} },
		"Domains.Get":                      func() []any { return []any{p.domain()} },
		"Domains.Verify":                   func() []any { return []any{p.domain()} },
		"Domains.Remove":                   func() []any { return []any{p.domain()} },
		"Domains.Update":                   func() []any { return []any{p.domain(), fields{"OpenTracking": true}} },
		"DomainClaims.Create":              func() []any { return []any{fields{"Name": "claim.test"}} },
		"DomainClaims.Get":                 func() []any { return []any{p.domain()} },
		"DomainClaims.Verify":              func() []any { return []any{p.domain()} },
		"Suppressions.Add":                 func() []any { return []any{fields{"Email": p.address()}} },
		"Suppressions.Get":                 func() []any { return []any{p.suppression()} },
		"Suppressions.Remove":              func() []any { return []any{p.suppression()} },
		"Suppressions.Batch.Add":           func() []any { return []any{fields{"Emails": []string{p.address()}}} },
		"Suppressions.Batch.Remove":        func() []any { return []any{fields{"Emails": []string{p.suppression()}}} },
	}
}

func (p *preparer) peopleCalls() map[string]func() []any {
	calls := map[string]func() []any{
		"Contacts.Create":        func() []any { return []any{fields{"Email": p.address()}} },
		"Contacts.Get":           func() []any { return []any{fields{"Id": p.contact()}} },
		"Contacts.Remove":        func() []any { return []any{fields{"Id": p.contact()}} },
		"Contacts.Update":        func() []any { return []any{fields{"Id": p.contact(), "FirstName": "Ann"}} },
		"Contacts.Topics.List":   func() []any { return []any{p.contact()} },
		"Contacts.Segments.List": func() []any { return []any{fields{"ContactId": p.contact()}} },
		"Contacts.Segments.Add": func() []any {
			return []any{fields{"ContactId": p.contact(), "SegmentId": p.segment()}}
		},
		"Contacts.Segments.Remove": func() []any {
			segment := p.segment()
			return []any{fields{"ContactId": p.contactOf(segment), "SegmentId": segment}}
		},
		"Contacts.Topics.Update": func() []any {
			return []any{fields{"Id": p.contact(), "Topics": []map[string]string{{"id": p.topic(), "subscription": "opt_out"}}}}
		},
		"Contacts.Imports.Create": func() []any { return []any{fields{"File": []byte("email\n" + p.address() + "\n")}} },
		"Contacts.Imports.Get": func() []any {
			answer, err := p.c.Contacts.CreateImport(p.t.Context(), client.AudienceImportBody{Contacts: []any{map[string]string{"email": p.address()}}})
			return []any{id(p, answer, err)}
		},
		"Topics.Create": func() []any { return []any{fields{"Name": p.next("Topic"), "DefaultSubscription": "opt_in"}} },
		"Topics.Get":    func() []any { return []any{p.topic()} },
		"Topics.Remove": func() []any { return []any{p.topic()} },
		"Topics.Update": func() []any { return []any{p.topic(), fields{"Name": p.next("Topic")}} },
	}
	for _, name := range []string{"Segments", "Audiences"} {
		calls[name+".Create"] = func() []any { return []any{fields{"Name": p.next("Segment")}} }
		calls[name+".Get"] = func() []any { return []any{p.segment()} }
		calls[name+".Remove"] = calls[name+".Get"]
	}
	for _, name := range []string{"ContactProperties", "Contacts.Properties"} {
		calls[name+".Create"] = func() []any {
			return []any{fields{"Key": p.next("property"), "Type": "string", "FallbackValue": "x"}}
		}
		calls[name+".Get"] = func() []any { return []any{p.property()} }
		calls[name+".Remove"] = calls[name+".Get"]
		calls[name+".Update"] = func() []any { return []any{fields{"Id": p.property(), "FallbackValue": "y"}} }
		calls[name+".List"] = func() []any { return []any{} }
	}
	calls["Contacts.Imports.List"] = func() []any { return []any{} }
	return calls
}

func (p *preparer) campaignCalls() map[string]func() []any {
	return map[string]func() []any{
		"Broadcasts.Create": func() []any {
			return []any{fields{"SegmentId": p.segment(), "From": "hello@acme.test", "Subject": "News", "Text": "News"}}
		},
		"Broadcasts.Get":      func() []any { return []any{p.broadcast()} },
		"Broadcasts.Remove":   func() []any { return []any{p.broadcast()} },
		"Broadcasts.Send":     func() []any { return []any{fields{"BroadcastId": p.broadcast(), "ScheduledAt": "in 1 hour"}} },
		"Broadcasts.Update":   func() []any { return []any{fields{"BroadcastId": p.broadcast(), "Subject": "Newer"}} },
		"Templates.Create":    func() []any { return []any{fields{"Name": p.next("Template"), "Html": "<p>Hi</p>"}} },
		"Templates.Get":       func() []any { return []any{p.template()} },
		"Templates.Remove":    func() []any { return []any{p.template()} },
		"Templates.Publish":   func() []any { return []any{p.template()} },
		"Templates.Duplicate": func() []any { return []any{p.template()} },
		"Templates.Update": func() []any {
			return []any{p.template(), fields{"Name": p.next("Template"), "Html": "<p>New</p>"}}
		},
		"Automations.Create":   func() []any { return []any{p.steps(p.next("started"))} },
		"Automations.Get":      func() []any { return []any{p.automation()} },
		"Automations.Remove":   func() []any { return []any{p.automation()} },
		"Automations.Stop":     func() []any { return []any{p.automation()} },
		"Automations.ListRuns": func() []any { return []any{p.automation()} },
		"Automations.Update":   func() []any { return []any{p.automation(), fields{"Name": "Changed"}} },
		"Automations.GetRun":   func() []any { return p.run() },
		"Events.Create": func() []any {
			return []any{fields{"Name": p.next("event"), "Schema": map[string]string{"plan": "string"}}}
		},
		"Events.Get":    func() []any { return []any{p.event()} },
		"Events.Remove": func() []any { return []any{p.event()} },
		"Events.Update": func() []any { return []any{p.event(), fields{"Schema": map[string]string{"seats": "number"}}} },
		"Events.Send":   func() []any { return []any{fields{"Event": "user.created", "Email": p.address()}} },
	}
}

func (p *preparer) machineCalls() map[string]func() []any {
	return map[string]func() []any{
		"Webhooks.Create": func() []any {
			return []any{fields{"Endpoint": "https://hooks.example.com/go", "Events": []string{"email.bounced"}}}
		},
		"Webhooks.Get":       func() []any { return []any{p.webhook().ID} },
		"Webhooks.Remove":    func() []any { return []any{p.webhook().ID} },
		"Webhooks.Update":    func() []any { return []any{p.webhook().ID, fields{"Events": []string{"email.sent"}}} },
		"Webhooks.Verify":    func() []any { return []any{signedBy(p.webhook().Secret)} },
		"Logs.Get":           func() []any { return []any{p.log()} },
		"ApiKeys.Create":     func() []any { return []any{fields{"Name": "x"}} },
		"ApiKeys.Remove":     func() []any { return []any{nobodysID} },
		"OAuthGrants.Revoke": func() []any { return []any{nobodysID} },
	}
}

// signedBy is an event as the server would sign it.
func signedBy(secret string) fields {
	const payload = `{"type":"email.sent"}`
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")) // a wrong one fails to verify
	at := fmt.Sprint(time.Now().Unix())
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("msg_1." + at + "." + payload))
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return fields{"Payload": payload, "WebhookSecret": secret, "Headers": map[string]string{"Id": "msg_1", "Timestamp": at, "Signature": signature}}
}

// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// services are the groups of methods.
type services struct {
	// Emails: Send emails, alone or many at once, and see what became of each; read what was received.
	Emails *Emails
	// Domains: The domains mail is sent from and received at, with the DNS records they need.
	Domains *Domains
	// Templates: Messages with places for values, in versions.
	Templates *Templates
	// Broadcasts: One message to many contacts.
	Broadcasts *Broadcasts
	// Contacts: The people who are mailed.
	Contacts *Contacts
	// ContactProperties: What is known of a contact besides the name and the address.
	ContactProperties *ContactProperties
	// Segments: Contacts that a rule finds, or that were put together by hand.
	Segments *Segments
	// Topics: What people can hear of, or not.
	Topics *Topics
	// Audiences: Lists that people join; the older name of audience lists.
	Audiences *Audiences
	// Audience: Contacts, lists, topics, segments and imports in one place, and the links by which people confirm.
	Audience *Audience
	// Automations: Messages that follow from events, step by step.
	Automations *Automations
	// AutomationCredentials: Secrets that steps of automations use when they call other services.
	AutomationCredentials *AutomationCredentials
	// Events: Events that start automations, and those that were sent.
	Events *Events
	// Suppressions: Addresses that get no mail, and why.
	Suppressions *Suppressions
	// Unsubscribe: What is behind the unsubscribe link of a message.
	Unsubscribe *Unsubscribe
	// Webhooks: Where events are posted to.
	Webhooks *Webhooks
	// WebhookDeliveries: What was posted to webhooks, and how they answered.
	WebhookDeliveries *WebhookDeliveries
	// WebhookEvents: What a webhook can hear of.
	WebhookEvents *WebhookEvents
	// Stats: Counts and rates, in totals and over time.
	Stats *Stats
	// Logs: What happened, entry by entry.
	Logs *Logs
	// ManagedTenants: The organisations behind a workspace that is a platform.
	ManagedTenants *ManagedTenants
	// APIKeys: Keys that programs use, and what each may do.
	APIKeys *APIKeys
	// Limits: What the plan allows, and what of it is used.
	Limits *Limits
	// SendingNodes: The machines that deliver mail.
	SendingNodes *SendingNodes
	// Links: What is behind a tracked link of a message.
	Links *Links
	// Images: The image that tells that a message was opened.
	Images *Images
	// Openapi: This document.
	Openapi *Openapi
}

func (s *services) connect(c *Client) {
	s.Emails = &Emails{c}
	s.Domains = &Domains{c}
	s.Templates = &Templates{c}
	s.Broadcasts = &Broadcasts{c}
	s.Contacts = &Contacts{c}
	s.ContactProperties = &ContactProperties{c}
	s.Segments = &Segments{c}
	s.Topics = &Topics{c}
	s.Audiences = &Audiences{c}
	s.Audience = &Audience{c}
	s.Automations = &Automations{c}
	s.AutomationCredentials = &AutomationCredentials{c}
	s.Events = &Events{c}
	s.Suppressions = &Suppressions{c}
	s.Unsubscribe = &Unsubscribe{c}
	s.Webhooks = &Webhooks{c}
	s.WebhookDeliveries = &WebhookDeliveries{c}
	s.WebhookEvents = &WebhookEvents{c}
	s.Stats = &Stats{c}
	s.Logs = &Logs{c}
	s.ManagedTenants = &ManagedTenants{c}
	s.APIKeys = &APIKeys{c}
	s.Limits = &Limits{c}
	s.SendingNodes = &SendingNodes{c}
	s.Links = &Links{c}
	s.Images = &Images{c}
	s.Openapi = &Openapi{c}
}

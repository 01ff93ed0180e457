package app

import "postrider/platform/api"

// Info describes the public API.
var Info = api.Info{
	Title:       "Postrider",
	Version:     "1",
	Description: "Email for applications: send, receive, and know what became of it. Every path is relative to the host; keys are sent as bearer tokens.",
	License:     "Apache License 2.0",
	LicenseID:   "Apache-2.0",
	Contact:     "The operator of this installation",
	Tags: []api.Tag{
		{Name: "emails", Description: "Send emails, alone or many at once, and see what became of each; read what was received."},
		{Name: "domains", Description: "The domains mail is sent from and received at, with the DNS records they need."},
		{Name: "templates", Description: "Messages with places for values, in versions."},
		{Name: "broadcasts", Description: "One message to many contacts."},
		{Name: "contacts", Description: "The people who are mailed."},
		{Name: "contact-properties", Description: "What is known of a contact besides the name and the address."},
		{Name: "segments", Description: "Contacts that a rule finds, or that were put together by hand."},
		{Name: "topics", Description: "What people can hear of, or not."},
		{Name: "audiences", Description: "Lists that people join; the older name of audience lists."},
		{Name: "audience", Description: "Contacts, lists, topics, segments and imports in one place, and the links by which people confirm."},
		{Name: "automations", Description: "Messages that follow from events, step by step."},
		{Name: "automation-credentials", Description: "Secrets that steps of automations use when they call other services."},
		{Name: "events", Description: "Events that start automations, and those that were sent."},
		{Name: "suppressions", Description: "Addresses that get no mail, and why."},
		{Name: "unsubscribe", Description: "What is behind the unsubscribe link of a message."},
		{Name: "webhooks", Description: "Where events are posted to."},
		{Name: "webhook-deliveries", Description: "What was posted to webhooks, and how they answered."},
		{Name: "webhook-events", Description: "What a webhook can hear of."},
		{Name: "stats", Description: "Counts and rates, in totals and over time."},
		{Name: "logs", Description: "What happened, entry by entry."},
		{Name: "managed-tenants", Description: "The organisations behind a workspace that is a platform."},
		{Name: "api-keys", Description: "Keys that programs use, and what each may do."},
		{Name: "limits", Description: "What the plan allows, and what of it is used."},
		{Name: "sending-nodes", Description: "The machines that deliver mail."},
		{Name: "links", Description: "What is behind a tracked link of a message."},
		{Name: "images", Description: "The image that tells that a message was opened."},
		{Name: "openapi", Description: "This document."},
	},
}

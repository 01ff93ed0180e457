package main

func byID(in idArgs) request        { return request{path: []string{in.ID}} }
func nothing(noArgs) request        { return request{} }
func page(in pageArgs) request      { return request{query: queryOf(in)} }
func period(in periodArgs) request  { return request{query: queryOf(in)} }
func person(in addressArgs) request { return request{path: []string{in.Email}} }

func mailTools() []tool {
	return []tool{
		offer("send_email", "POST /emails", "Send an email from a verified domain. Returns the id to ask for its status by.",
			func(in sendArgs) request { return request{body: in} }),
		offer("get_email", "GET /emails/{id}", "Get an email with its status, its recipients and the timeline of what became of it.", byID),
		offer("list_emails", "GET /emails", "List emails, newest first, filtered by words, status or recipient.",
			func(in emailListArgs) request { return request{query: queryOf(in)} }),
		offer("list_attempts", "GET /emails/{id}/attempts", "List the delivery attempts of an email with the answers of the recipients' servers.", byID),
		offer("reschedule_email", "PATCH /emails/{id}", "Move a scheduled email to another time.",
			func(in rescheduleArgs) request {
				return request{path: []string{in.ID}, body: map[string]string{"scheduled_at": in.ScheduledAt}}
			}),
		offer("cancel_email", "POST /emails/{id}/cancel", "Cancel a scheduled email. It will not be sent.", byID),
		offer("check_spam", "POST /emails/spam-check", "Find out how much a draft looks like spam and what to change. Nothing is sent.",
			func(in spamArgs) request { return request{body: in} }),
		offer("list_received", "GET /emails/receiving", "List received messages, newest first.", page),
		offer("get_received", "GET /emails/receiving/{id}", "Get a received message with its header, its body and what was checked about its sender.", byID),
		offer("reply_to_received", "POST /emails/receiving/{id}/reply", "Answer a received message, in its thread.",
			func(in replyArgs) request {
				return request{path: []string{in.ID}, body: map[string]string{"text": in.Text, "html": in.HTML}}
			}),
	}
}

func domainTools() []tool {
	return []tool{
		offer("list_domains", "GET /domains", "List sending domains and whether they are verified.", page),
		offer("get_domain", "GET /domains/{id}", "Get a sending domain with the DNS records it needs and what was found.", byID),
		offer("add_domain", "POST /domains", "Register a sending domain. Returns the DNS records to publish before it can be verified.",
			func(in domainArgs) request { return request{body: in} }),
		offer("verify_domain", "POST /domains/{id}/verify", "Look at the DNS records of a domain again.", byID),
	}
}

func templateTools() []tool {
	return []tool{
		offer("list_templates", "GET /templates", "List templates, newest first.", page),
		offer("get_template", "GET /templates/{id}", "Get a template, by its id or alias, with the source of its active version.", byID),
		offer("create_template", "POST /templates", "Create a template. Its first version is active at once.",
			func(in templateArgs) request { return request{body: in} }),
		offer("update_template", "PATCH /templates/{id}", "Change a template. A change of its source is the next version, and active at once.",
			func(in templateChangeArgs) request {
				change := map[string]string{}
				for name, value := range map[string]string{"subject": in.Subject, "html": in.HTML, "text": in.Text} {
					if value != "" {
						change[name] = value
					}
				}
				return request{path: []string{in.ID}, body: change}
			}),
		offer("preview_template", "POST /templates/{id}/preview", "Render a template with values, to look at it. Nothing is sent.",
			func(in previewArgs) request {
				return request{path: []string{in.ID}, body: map[string]any{"variables": in.Variables}}
			}),
	}
}

func audienceTools() []tool {
	return []tool{
		offer("list_contacts", "GET /contacts", "List contacts, newest first.", page),
		offer("get_contact", "GET /contacts/{id}", "Get a contact by its address.", person),
		offer("save_contact", "POST /contacts", "Add a contact, or change the one that is there. Never brings back somebody who left.",
			func(in contactArgs) request { return request{body: in} }),
		offer("delete_contact", "DELETE /contacts/{id}", "Delete a contact by its address. What the suppression list says of it stays.", person),
		offer("list_segments", "GET /segments", "List segments of contacts.", page),
		offer("list_topics", "GET /topics", "List topics that contacts can hear of or not.", page),
		offer("list_suppressions", "GET /suppressions", "List the addresses that get no mail, and why.", page),
		offer("get_suppression", "GET /suppressions/{email}", "Tell whether and why an address gets no mail.", person),
		offer("suppress_address", "POST /suppressions", "Stop all mail to an address.",
			func(in addressArgs) request { return request{body: in} }),
		offer("unsuppress_address", "DELETE /suppressions/{email}", "Take an address off the suppression list, so that it gets mail again.", person),
		offer("list_broadcasts", "GET /broadcasts", "List broadcasts, newest first.", page),
		offer("get_broadcast_stats", "GET /broadcasts/{id}/stats", "Tell what became of a broadcast.", byID),
	}
}

func insightTools() []tool {
	return []tool{
		offer("get_overview", "GET /stats/overview", "Tell what became of mail in the last days, in totals and rates, beside the time before.", period),
		offer("get_daily_stats", "GET /stats/daily", "Tell what happened day by day.", period),
		offer("get_deliverability", "GET /stats/deliverability", "Grade how well mail arrives, and tell what to do about it.", period),
		offer("list_logs", "GET /logs", "List what happened, newest first, by words, kind, level or email.",
			func(in logArgs) request { return request{query: queryOf(in)} }),
		offer("get_log", "GET /logs/{id}", "Get an entry with everything that happened to what it is about.", byID),
		offer("get_limits", "GET /limits", "Tell the limits of the plan and how much of them is used.", nothing),
	}
}

func webhookTools() []tool {
	return []tool{
		offer("list_webhooks", "GET /webhooks", "List webhooks: where events are posted to.", nothing),
		offer("list_webhook_events", "GET /webhook-events", "List the events that can be subscribed to.", nothing),
		offer("create_webhook", "POST /webhooks", "Register a webhook. Its secret is shown only now.",
			func(in webhookArgs) request { return request{body: in} }),
		offer("delete_webhook", "DELETE /webhooks/{id}", "Delete a webhook. What waits for it is cancelled.", byID),
		offer("test_webhook", "POST /webhooks/{id}/test", "Post a signed test event to a webhook; list_webhook_deliveries tells how it answered.", byID),
		offer("list_webhook_deliveries", "GET /webhooks/{id}/deliveries", "List what was posted to a webhook, newest first, and how it answered.", byID),
	}
}

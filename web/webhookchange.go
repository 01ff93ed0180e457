package web

import (
	"net/http"
	"strconv"
)

// webhookSecretPage shows the secret of a webhook, once.
type webhookSecretPage struct {
	shell
	Webhook webhookRecord
	Heading string
	Secret  secretText
	Env     secretText
}

func (v *visit) showWebhookSecret(w webhookRecord, heading string) error {
	return v.show("webhooks/created", webhookSecretPage{v.shell(visible(w.URL), "webhooks").under(crumb{"Webhooks", v.link("webhooks")}).with("build.css"), w, heading,
		secretText{"the secret", w.Secret}, secretText{"the line for .env", "POSTRIDER_WEBHOOK_SECRET=" + w.Secret}})
}

// webhookChanged goes on after a change, or shows the page again with why it was refused.
func (v *visit) webhookChanged(err error, form, notice string) error {
	if refused := refusal(err); refused != nil {
		return v.showWebhook(refused, form, nil)
	}
	if err != nil {
		return err
	}
	to := v.link("webhooks", v.path("id"))
	if form != "" {
		to += "?tab=" + form
	}
	return v.redirect(to, notice)
}

func saveWebhook(v *visit) error {
	asked := v.postedWebhook()
	err := v.send(http.MethodPatch, apiPath("webhooks", v.path("id")), asked.body(), nil)
	if refused := refusal(err); refused != nil {
		return v.showWebhook(refused, "settings", &asked)
	}
	return v.webhookChanged(err, "settings", "Saved. It holds for everything that happens from now on.")
}

func switchWebhook(v *visit) error {
	status, notice := "disabled", "Disabled. What was waiting for it is cancelled."
	if v.value("status") == "enabled" {
		status, notice = "enabled", "Enabled. It is told of everything that happens from now on."
	}
	return v.webhookChanged(v.send(http.MethodPatch, apiPath("webhooks", v.path("id")), map[string]string{"status": status}, nil), "", notice)
}

func deleteWebhook(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("webhooks", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("webhooks"), "Deleted. What was waiting for it is cancelled.")
}

// trial is the event to test with; none means the one that is made for tests.
func (v *visit) trial() map[string]string {
	if event := v.value("event"); event != "" {
		return map[string]string{"event": event}
	}
	return map[string]string{}
}

func testWebhook(v *visit) error {
	var d deliveryRecord
	if err := v.send(http.MethodPost, apiPath("webhooks", v.path("id"), "test"), v.trial(), &d); err != nil {
		return v.webhookChanged(err, "", "")
	}
	return v.redirect(v.link("webhooks", "deliveries", d.ID), "Queued. It takes the way of a real event, retries included.")
}

func testWebhookLive(v *visit) error {
	var d deliveryRecord
	if err := v.send(http.MethodPost, apiPath("webhooks", v.path("id"), "test", "live"), v.trial(), &d); err != nil {
		return v.webhookChanged(err, "", "")
	}
	notice := "Sent. Your server took it."
	if d.Status != "delivered" {
		notice = "Sent. Your server did not take it; what it said is below."
	}
	return v.redirect(v.link("webhooks", "deliveries", d.ID), notice)
}

func rotateWebhookSecret(v *visit) error {
	seconds, err := strconv.ParseInt(v.value("overlap"), 10, 64)
	if err != nil {
		seconds = 0
	}
	var w webhookRecord
	err = v.send(http.MethodPost, apiPath("webhooks", v.path("id"), "rotate-secret"), map[string]any{"overlap_sec": seconds, "force": v.checked("force")}, &w)
	if err != nil {
		return v.webhookChanged(err, "secret", "")
	}
	return v.showWebhookSecret(w, "The new secret")
}

func revokeWebhookSecret(v *visit) error {
	err := v.send(http.MethodPost, apiPath("webhooks", v.path("id"), "revoke-previous-secret"), nil, nil)
	return v.webhookChanged(err, "secret", "The previous secret signs no more.")
}

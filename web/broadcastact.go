package web

import (
	"fmt"
	"net/http"
	"strings"
)

// act asks the API for something about a broadcast and goes back to it.
func (v *visit) act(what, done string) error {
	id := v.path("id")
	if err := v.send(http.MethodPost, apiPath("broadcasts", id, what), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("broadcasts", id), done)
}

func pauseBroadcast(v *visit) error {
	return v.act("pause", "Paused. What was handed over before still goes out.")
}

func resumeBroadcast(v *visit) error { return v.act("resume", "It goes on.") }

func cancelBroadcast(v *visit) error {
	return v.act("cancel", "Cancelled. What went out before stays out.")
}

func retryBroadcast(v *visit) error {
	return v.act("retry", "It is sent again to those whose mail failed, and to nobody else.")
}

// askToCancel says what cancelling means while mail is going out.
func askToCancel(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	here := v.link("broadcasts", b.ID)
	says := []string{"Nobody is written to before you send it again.", "It cannot be made a draft again, but it can be duplicated."}
	if b.Status == "sending" {
		says = []string{v.plural(b.Stats.Recipients-b.Stats.Queued, "person has their mail, or is about to.", "people have their mail, or are about to.") +
			" That cannot be taken back.",
			"Everybody else is not written to.", "It cannot go on later. To hold it for a while, pause it instead."}
	}
	return v.show("audience/remove", removePage{shell: v.broadcastShell("Cancel", crumb{b.title(), here}), Heading: "Cancel " + b.title(), Button: "Cancel the rest", Says: says, Action: v.r.URL.Path, Back: here})
}

func removeBroadcast(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	here := v.link("broadcasts", b.ID)
	return v.removing(removePage{shell: v.broadcastShell("Delete broadcast", crumb{b.title(), here}), Heading: "Delete " + b.title(), Button: "Delete broadcast",
		Says: []string{"What you wrote is deleted, and so are its numbers if a part of it was sent.", "Mail that went out stays in Emails."}, Back: here},
		apiPath("broadcasts", b.ID), v.link("broadcasts"), "Broadcast deleted.")
}

func duplicateBroadcast(v *visit) error {
	var made struct{ ID string }
	if err := v.send(http.MethodPost, apiPath("broadcasts", v.path("id"), "duplicate"), nil, &made); err != nil {
		return err
	}
	return v.redirect(v.link("broadcasts", made.ID, "edit"), "This is a copy. Change what you like; nothing is sent yet.")
}

// testBroadcast sends what is saved to a few people who want to look at it.
func testBroadcast(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	to := addresses(v.value("to"))
	sample, err := v.sampleContact(b, "")
	if err != nil {
		return err
	}
	values, err := v.valuesOf(sample, b)
	if err != nil {
		return err
	}
	body := map[string]any{"to": to, "from": b.From, "subject": b.Subject, "variables": values}
	path := "/v1/templates/test-send"
	if b.TemplateID != "" {
		path = apiPath("templates", b.TemplateID, "test-send")
	} else {
		body["html"], body["text"] = b.HTML, b.Text
	}
	step := "edit"
	if v.value("back") == "review" {
		step = "review"
	}
	err = v.send(http.MethodPost, path, body, nil)
	if wrong := refusal(err); wrong != nil && b.open() {
		if step == "review" {
			return v.review(wrong.Status, wrong)
		}
		return v.compose(wrong.Status, b, wrong)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("broadcasts", b.ID, step), fmt.Sprintf("Test sent to %s.", strings.Join(to, ", ")))
}

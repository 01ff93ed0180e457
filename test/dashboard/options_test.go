package dashboard

import (
	"testing"
)

func TestEmailIsSentFromATemplateWithValuesTagsAndCopies(t *testing.T) {
	t.Parallel()
	o := begin(t)
	made := o.call("POST", "/templates", map[string]any{"name": "Receipt", "subject": "Receipt {{NUMBER}}", "html": "<p>Number {{NUMBER}}</p>"})["id"].(string)
	o.call("POST", "/templates/"+made+"/publish", map[string]any{})
	o.open("/emails/new?template_id=" + made)
	o.Fill("from", "hello@acme.test")
	o.Fill("to", "ada@example.net")
	o.Set("variables", "no json")
	o.Press("Send email")
	o.See("Must be an object in JSON")
	o.look("email-new-template", "/emails/new?template_id="+made)
	o.open("/emails/new?template_id=" + made)
	o.Fill("from", "hello@acme.test")
	o.Fill("to", "ada@example.net")
	o.Set("variables", `{"NUMBER": 12345678901234567890}`)
	o.Set("cc", "grace@example.net")
	o.Set("reply_to", "support@acme.test")
	o.Set("tags", "campaign = autumn\n\nkind=receipt")
	o.Set("track_opens", "off")
	o.Press("Send email")
	o.See("Accepted. What happens to it appears below.")
	o.See("Receipt 12345678901234567890")
	o.See("campaign = autumn")
	o.See("grace@example.net")
}

func TestBroadcastKeepsWhatIsSaidAboutHoursTagsAndTracking(t *testing.T) {
	t.Parallel()
	o := begin(t)
	list := o.people()
	o.open("/broadcasts/new?list_id=" + list)
	o.Fill("subject", "Autumn")
	o.Set("html", "<p>Use {{{COUPON}}}.</p>")
	o.Set("variables", `{"COUPON": "AUTUMN"}`)
	o.Set("tags", "campaign = autumn")
	o.Set("track_clicks", "on")
	o.Set("window_start", "09:00")
	o.Set("window_timezone", "Europe/Rome")
	o.Eval(`document.querySelector("[name=window_days][value='1']").click()`)
	o.Press("Save draft")
	o.See("Must be an hour and a minute like 18:00.")
	o.Set("window_end", "18:00")
	o.Press("Save draft")
	o.See("Saved. Nothing is sent yet.")
	for name, want := range map[string]string{"variables": "{\n  \"COUPON\": \"AUTUMN\"\n}", "tags": "campaign = autumn", "track_clicks": "on", "track_opens": "", "window_start": "09:00", "window_end": "18:00", "window_timezone": "Europe/Rome"} {
		if got := o.Eval(`document.querySelector("[name=` + name + `]").value`); got != want {
			t.Errorf("%s came back as %q, want %q", name, got, want)
		}
	}
	draft := o.Eval("location.pathname")[len(o.path("")):]
	o.look("broadcast-options", draft)
	o.open(draft)
	o.Press("Review and send")
	o.See("09:00 to 18:00, Europe/Rome, Mon")
	o.See("Counts clicks")
	o.See("campaign = autumn")
	o.open(draft)
	o.Set("window_start", "")
	o.Set("window_end", "")
	o.Eval(`document.querySelector("[name=window_days][value='1']").click()`)
	o.Set("variables", "")
	o.Set("tags", "")
	o.Set("track_clicks", "")
	o.Set("html", "<p>Hi</p>")
	o.Press("Save draft")
	o.Wait(`document.querySelector("[name=tags]")?.value === "" && document.querySelector("[name=window_start]").value === "" && document.querySelector(".notice")`)
}

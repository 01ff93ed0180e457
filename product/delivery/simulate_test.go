package delivery_test

import (
	"testing"

	"postrider/app/apptest"
)

func TestSimulatedRecipientsPlayTheirParts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for part, want := range map[string]string{"delivered": "delivered", "bounced": "bounced", "blocked": "bounced", "deferred": "sending", "complained": "complained",
			"suppressed": "suppressed", "opened": "opened", "clicked": "clicked"} {
			id := in.Send(part + "+" + part + "@simulator.mail.postrider.test")
			in.Deliver()
			if got := in.Email(id).Text("status"); got != want {
				t.Errorf("%s: %s", part, got)
			}
		}
		record := in.Email(in.Send("clicked@simulator.mail.postrider.test"))
		in.Deliver()
		record = in.Email(record.Text("id"))
		if r := recipient(record, 0); r["opens"] != 1.0 || r["clicks"] != 1.0 || record.Text("status") != "clicked" {
			t.Errorf("one who follows a link has opened the mail: %s %v", record.Text("status"), r)
		}
		if list := in.Call("GET", "/suppressions", nil); list.Body["data"] != nil && len(list.Body["data"].([]any)) != 0 {
			t.Errorf("a simulation fills the suppression list: %s", list.Raw)
		}
	})
}

package delivery_test

import (
	"testing"

	"postrider/app/apptest"
	"postrider/product/delivery"
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

func TestSimulatedRecipientsPlayOnWhenTheNodeStops(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		n := newNode(t, in)
		id := in.Send("complained@simulator.mail.postrider.test")
		for n.Numbers().Attempts[delivery.AttemptKind{Outcome: "delivered", ISP: "other"}] == 0 && n.step() { // the next step would record it
		}
		if status := in.Email(id).Text("status"); status != "sending" {
			t.Fatalf("before the node stops it is %s; attempts %v", status, n.Numbers().Attempts)
		}
		if err := n.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status := in.Email(id).Text("status"); status != "complained" {
			t.Errorf("after the node has stopped it is %s", status)
		}
	})
}

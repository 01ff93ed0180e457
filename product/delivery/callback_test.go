package delivery_test

import (
	"sync/atomic"
	"testing"

	"postrider/app/apptest"
)

// A broadcast is cancelled while a server has been told the recipient of one of its mails, and waits for the message.
func TestAMessageThatIsCalledBackDuringTheConversationDoesNotEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		list := in.Must(201, "POST", "/audience/lists", map[string]any{"name": "All"}).Text("id")
		in.Must(201, "POST", "/contacts", map[string]any{"email": "ann@peer.test", "list_ids": []string{list}})
		id := in.Must(202, "POST", "/broadcasts", map[string]any{"audience_id": list, "from": "news@acme.test", "subject": "x", "text": "x", "send": true}).Text("id")
		var taken, cancelled atomic.Int64
		address := startRefusing(t, func() { cancelled.Store(int64(in.Call("POST", "/broadcasts/"+id+"/cancel", nil).Status)) }, &taken)
		in.Finish(in.App.Broadcasts.Step)
		mails, _ := in.Must(200, "GET", "/emails?broadcast_id="+id, nil).Body["data"].([]any)
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		mail, _ := mails[0].(map[string]any)
		n := newReserve(t, in, address, peerAddr)

		n.run(func() bool { return in.Email(mail["id"].(string)).Text("status") == "cancelled" })
		if taken.Load() != 0 || cancelled.Load() != 200 {
			t.Errorf("the server has %d messages, the cancel was answered with %d", taken.Load(), cancelled.Load())
		}
		made := attempts(in, mail["id"].(string))
		if len(made) != 1 {
			t.Fatalf("%d attempts are told of: %v", len(made), made)
		}
		for _, ofTheFirst := range []string{"smtp_code", "enhanced_code", "classification", "next_attempt_at"} {
			if made[0][ofTheFirst] != nil {
				t.Errorf("%s is that of the server that was tried before: %v", ofTheFirst, made[0])
			}
		}
	})
}

package delivery_test

import (
	"context"
	"sync/atomic"
	"testing"

	"postrider/app/apptest"
	"postrider/mail/smtp"
	"postrider/product/delivery"
	"postrider/world"
)

// A broadcast is cancelled while a server has been told the recipient of one of its mails, and waits for the message.
func TestAMessageThatIsCalledBackDuringTheConversationDoesNotEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		list := in.Must(201, "POST", "/audience/lists", map[string]any{"name": "All"}).Text("id")
		in.Must(201, "POST", "/contacts", map[string]any{"email": "ann@peer.test", "list_ids": []string{list}})
		id := in.Must(202, "POST", "/broadcasts", map[string]any{"audience_id": list, "from": "news@acme.test", "subject": "x", "text": "x", "send": true}).Text("id")
		var taken, cancelled atomic.Int64
		address := startServer(t, smtp.Config{Hostname: "mx.peer.test", Clock: world.SystemClock{},
			Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
				return &slumber{taken: &taken, sleep: func() { cancelled.Store(int64(in.Call("POST", "/broadcasts/"+id+"/cancel", nil).Status)) }}, nil
			}})
		in.Finish(in.App.Broadcasts.Step)
		mails, _ := in.Must(200, "GET", "/emails?broadcast_id="+id, nil).Body["data"].([]any)
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		mail, _ := mails[0].(map[string]any)
		p := &peering{roads: newRoads(in.App.World)}
		p.at.Store(&address)
		n := newNodeIn(t, in, p, p.roads, func(c *delivery.Config) { c.Inline = false })

		n.run(func() bool { return in.Email(mail["id"].(string)).Text("status") == "cancelled" })
		if taken.Load() != 0 || cancelled.Load() != 200 {
			t.Errorf("the server has %d messages, the cancel was answered with %d", taken.Load(), cancelled.Load())
		}
		attempts, _ := in.Must(200, "GET", "/emails/"+mail["id"].(string)+"/attempts", nil).Body["data"].([]any)
		if len(attempts) != 1 {
			t.Errorf("%d attempts are told of: %v", len(attempts), attempts)
		}
	})
}

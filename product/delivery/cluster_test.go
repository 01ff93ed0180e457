package delivery_test

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/delivery"
)

// Several nodes share the queue of one database; each message must be taken by one of them.
func TestNodesShareTheQueueWithoutSharingMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		const emails, nodes = 60, 4
		for n := range emails {
			in.Send(fmt.Sprintf("user%d@d%d.test", n, n%7), fmt.Sprintf("other%d@d%d.test", n, n%5))
		}
		_, port, err := net.SplitHostPort(in.Sandbox.SMTPAddr())
		if err != nil {
			t.Fatal(err)
		}
		smtpPort, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for node := range nodes {
			all.Go(func() {
				service := delivery.New(in.App.World, in.App.DB, in.App.Emails, in.App.Domains, in.App.Relays, in.Keys, delivery.Config{Node: fmt.Sprint("node", node),
					Hello: "mx.test", Port: smtpPort, AllowPrivate: true, Inline: true, MaxInFlight: 5})
				for {
					busy, err := service.Step(t.Context())
					if err != nil {
						t.Error(err)
					}
					next, waits, err := service.Next(t.Context())
					if err != nil {
						t.Error(err)
					}
					if wait := next.Sub(in.Clock.Now()); !busy && (!waits || wait > time.Second) {
						return
					} else if !busy {
						in.Clock.Advance(max(wait, time.Millisecond))
					}
				}
			})
		}
		all.Wait()
		in.Deliver()
		copies := map[string]int{}
		for _, m := range in.Mailbox("") {
			copies[m.Envelope.To[0]]++
		}
		if len(copies) != 2*emails {
			t.Fatalf("%d of %d recipients have mail", len(copies), 2*emails)
		}
		for to, n := range copies {
			if n != 1 {
				t.Errorf("%s has %d copies", to, n)
			}
		}
	})
}

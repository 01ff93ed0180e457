package shape_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

func TestPathsAreExplainedInWords(t *testing.T) {
	t.Parallel()
	inParis := time.FixedZone("Paris", 3600)
	for _, test := range []struct {
		name string
		path shape.Path
		do   func(*bench)
		want string
	}{
		{"sending", example, func(b *bench) { b.addMany(30, example, "ann", shape.Transactional); b.all() }, "mx.example.net: 2 of 2 connections, 28 waiting"},
		{"idle", shape.Path{Source: "192.0.2.1", Site: "google"}, func(b *bench) {
			b.add(shape.Path{Source: "192.0.2.1", Site: "google"}, "ann", shape.Transactional)
			b.went(b.one())
		}, "Google from 192.0.2.1: 1 of 2 connections, no mail"},
		{"a rule", google, func(b *bench) { b.add(google, "ann", shape.Transactional); b.refused(b.one(), tooFast) },
			"Google: 0 of 1 connection, backing off until 14:05 because 421-4.7.28"},
		{"in the reader's zone", google, func(b *bench) {
			b.add(google, "ann", shape.Transactional)
			b.refused(b.one(), tooFast)
			b.now = b.now.In(inParis)
		}, "Google: 0 of 1 connection, backing off until 15:05 because 421-4.7.28"},
		{"a circuit", example, func(b *bench) {
			for range 3 {
				b.add(example, "ann", shape.Transactional)
				b.failed(b.one(), shape.NotConnected)
			}
		}, "mx.example.net: 0 of 1 connection, left alone until 14:05 after 3 failed connections in a row: no server could be reached"},
		{"its end", example, func(b *bench) {
			for range 3 {
				b.add(example, "ann", shape.Transactional)
				b.failed(b.one(), shape.NotConnected)
			}
			b.move(5 * time.Minute)
		}, "mx.example.net: 0 of 1 connection, trying with one connection whether it can be reached again"},
		{"an operator", google, func(b *bench) { b.Suspend(b.now, google, "", "maintenance of the line", noon.Add(48*time.Hour)) },
			"Google: 0 of 2 connections, stopped by an operator until 2026-11-17 14:00 because maintenance of the line"},
		{"a tenant", google, func(b *bench) { b.Suspend(b.now, google, "acme", "", noon.Add(time.Hour)) },
			"Google: 0 of 2 connections, no mail; tenant acme is held until 15:00"},
		{"slow", example, func(b *bench) {
			for range 3 {
				b.add(example, "ann", shape.Transactional)
				b.refused(b.one(), said(451, "4.3.2", "Server busy"))
			}
		}, "mx.example.net: 1 of 1 connection, slowed to a message every 60 seconds and 1 connection until 15:30 because 451-4.3.2"},
		{"a block list", example, func(b *bench) {
			b.add(example, "ann", shape.Transactional)
			b.refused(b.one(), said(550, "5.7.1", "client host [192.0.2.1] listed in zen.spamhaus.org"))
		}, "mx.example.net: 1 of 2 connections, this source is not used here until 18:00 because 550-5.7.1"},
		{"limits", google, func(b *bench) {
			b.Adjust(b.now, google, shape.Limits{Connections: 3}, "warming up", noon.Add(time.Hour))
		},
			"Google: 0 of 3 connections, with limits of an operator until 15:00 because warming up"},
	} {
		b := newBench(t, shape.Config{})
		test.do(b)
		if got := b.state(test.path).Sentence; got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

func TestOperatorsSuspendResumeAndAdjust(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	if b.Suspend(b.now, google, "", "", b.now) == nil || b.Adjust(b.now, google, shape.Limits{}, "", b.now.Add(1)) == nil ||
		b.Adjust(b.now, google, shape.Limits{Connections: -1}, "", b.now.Add(1)) == nil || b.Adjust(b.now, google, shape.Limits{Connections: 1}, "", b.now) == nil {
		t.Fatal("nonsense is accepted")
	}
	b.addMany(100, google, "ann", shape.Transactional)
	if err := b.Adjust(b.now, google, shape.Limits{Connections: 4, MessagesPerConnection: 2}, "", b.now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	busy := b.all()
	if len(busy) != 4 {
		t.Fatalf("%d connections", len(busy))
	}
	if err := b.Suspend(b.now, google, "", "", b.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Returned()); n != 96 {
		t.Fatalf("%d returned", n)
	}
	for _, w := range busy {
		b.refused(w, tooFast)
	}
	if !b.Resume(b.now, google, "") || b.Resume(b.now, google, "") {
		t.Fatal("there was something to resume, once")
	}
	b.add(google, "ann", shape.Transactional)
	b.went(b.one())
	if !b.Readjust(b.now, google) || b.Readjust(b.now, google) {
		t.Fatal("there were limits to take back, once")
	}
	for range 5 {
		b.add(example, "ann", shape.Transactional)
		if all := b.all(); len(all) == 1 {
			b.failed(all[0], shape.NotConnected)
		}
		if _, ok := b.Usable(b.now, example, ""); !ok {
			break
		}
	}
	if !b.Resume(b.now, example, "") {
		t.Fatal("an open circuit is something to resume")
	}
	b.add(example, "ann", shape.Transactional)
	if w := b.one(); w.Probe {
		t.Errorf("%+v", w)
	}
}

func TestDrainGivesEverythingBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for i := range 50 {
		b.addMany(3, shape.Path{Site: shape.Site(fmt.Sprint("mx", i, ".test"))}, "ann", shape.Broadcast)
	}
	out := len(b.all())
	back := b.Drain(b.now)
	if len(back)+out != 150 || b.Waiting() != 0 || back[0].Back.Reason != shape.Stopping {
		t.Errorf("%d out, %d back, %d left", out, len(back), b.Waiting())
	}
	b.none("nothing is left")
	if err := b.Audit(); err != nil {
		t.Error(err)
	}
}

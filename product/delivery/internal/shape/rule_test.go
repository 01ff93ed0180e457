package shape_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"postrider/mail/report"
	"postrider/product/delivery/internal/shape"
)

func TestWhatProvidersSayIsHeeded(t *testing.T) {
	t.Parallel()
	yahoo, comcast, listed := shape.Path{Site: "yahoo"}, shape.Path{Site: "comcast"}, said(550, "5.7.1", "Service unavailable, client host [192.0.2.1] blocked using zen.spamhaus.org")
	for _, test := range []struct {
		name  string
		path  shape.Path
		reply shape.Reply
		times int
		kind  shape.Kind
		held  time.Duration
	}{
		{"Google's rate", google, tooFast, 1, shape.Suspended, 5 * time.Minute},
		{"the sandbox's Google", shape.Path{Site: "google-sandbox"}, tooFast, 1, shape.Suspended, 5 * time.Minute},
		{"the sandbox's Yahoo", shape.Path{Site: "yahoo-sandbox"}, said(421, "4.7.0", "[TSS04] Messages from 127.0.0.1 temporarily deferred due to unexpected volume or user complaints"), 1, shape.Suspended, 2 * time.Hour},
		{"Yahoo's TS04", yahoo, said(421, "4.7.0", "[TS04] Messages from 192.0.2.1 temporarily deferred"), 1, shape.Suspended, 2 * time.Hour},
		{"Comcast's connection rate", comcast, said(421, "", "Reverse throttle RL000001"), 1, shape.Slowed, 2 * time.Hour},
		{"the same from Google means nothing", google, said(450, "", "RL000001"), 1, "", 0},
		{"a block list, anywhere", example, listed, 1, shape.Quarantined, 4 * time.Hour},
		{"a block list for a while", example, said(421, "4.7.1", "Client host [192.0.2.1] blocked using zen.spamhaus.org"), 1, shape.Quarantined, 15 * time.Minute},
		{"one that says for how long", example, said(421, "4.7.1", "Your IP is temporarily blocked, try again in 5 minutes"), 1, shape.Quarantined, 5 * time.Minute},
		{"a server that is busy once", example, said(451, "4.3.2", "Server busy"), 1, "", 0},
		{"a server that is busy again and again", example, said(451, "4.3.2", "Server busy"), 3, shape.Slowed, 90 * time.Minute},
		{"the sandbox's Outlook", shape.Path{Site: "outlook-sandbox"}, said(421, "4.7.500", "Server busy. Please try again later from [127.0.0.1]. (S77719)"), 3, shape.Slowed, 90 * time.Minute},
		{"too many connections", example, said(421, "4.7.0", "Too many concurrent connections"), 1, shape.Suspended, time.Minute},
		{"with a longer hint", example, said(421, "4.7.0", "Too many connections, try again in 4 minutes"), 1, shape.Suspended, 4 * time.Minute},
		{"an unknown mailbox", example, said(550, "5.1.1", "no such user: spamhaus"), 3, "", 0},
		{"our own words", google, shape.Reply{Speaker: shape.Ourselves, Code: 421, Enhanced: "4.7.28", Text: tooFast.Text, Class: tooFast.Class, Category: tooFast.Category}, 3, "", 0},
	} {
		b := newBench(t, shape.Config{})
		for range test.times {
			b.add(test.path, "ann", shape.Transactional)
			b.refused(b.one(), test.reply)
			b.move(time.Second)
		}
		var holds []shape.Hold
		for _, h := range b.Snapshot(b.now).Holds {
			if h.Kind != shape.Resting {
				holds = append(holds, h)
			}
		}
		switch {
		case test.kind == "" && len(holds) != 0:
			t.Errorf("%s: %+v", test.name, holds)
		case test.kind != "" && (len(holds) != 1 || holds[0].Kind != test.kind || holds[0].Until.Sub(holds[0].From) != test.held || holds[0].Path != test.path):
			t.Errorf("%s: %+v", test.name, holds)
		}
	}
}

func TestOnlyAReplyThatNamesTheAddressAsBlockedKeepsASourceFromASite(t *testing.T) {
	t.Parallel()
	const source, tenant, nobody = "source", "tenant", "nobody"
	for text, want := range map[string]string{
		"554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.1":                       source,
		"554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using bl.spamcop.net; Blocked - see https://www.spamcop.net/bl.shtml?192.0.2.1":            source,
		"554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using Barracuda Reputation; http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1": source,
		"553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html":    source,
		"553 5.7.1 [BL21] Connections not accepted from IP addresses on Spamhaus PBL":                                                                              source,
		"554 mx.example.test: your IP is on our blacklist": source,
		"550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).":                                             source,
		"550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).":                                             source,
		"550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/":                                                                                  source,
		"550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal from this list please forward this message to delist@messaging.microsoft.com":                                                                 source,
		"550 5.7.28 [192.0.2.1] Our system has detected an unusual rate of unsolicited mail originating from your IP address. To protect our users from spam, mail sent from your IP address has been blocked.":                source,
		"550 5.7.1 [192.0.2.1 19] Our system has detected that this message is likely suspicious due to the very low reputation of the sending IP address. To best protect our users from spam, the message has been blocked.": source,
		"553 5.3.0 flpd DNSBL:RBL 521< 192.0.2.1 >_is_blocked. For assistance forward this error to abuse_rbl@abuse-att.net":                                                                                                   source,
		"554 resimta-po-11v 192.0.2.1 Comcast block for spam. Please see http://postmaster.comcast.net/smtp-error-codes.php#BL000000":                                                                                          source,
		"421 4.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org":                                                                                                                                source,

		"550 5.7.1 [192.0.2.1 19] Our system has detected that this message is likely suspicious due to the very low reputation of the sending domain. To best protect our users from spam, the message has been blocked.":           tenant,
		"421 4.7.0 [192.0.2.1 15] Our system has detected that this message is suspicious due to the very low reputation of the sending domain. To best protect our users from spam, the message has been temporarily rate limited.": tenant,
		"550 5.7.28 Our system has detected an unusual rate of unsolicited mail originating from your SPF domain [acme.test]. To protect our users from spam, mail sent from your domain has been blocked.":                          tenant,
		"554 5.7.1 Service unavailable; Sender address [hello@acme.test] blocked using dbl.spamhaus.org; https://www.spamhaus.org/query/domain/acme.test":                                                                            tenant,
		"550 5.7.1 Message rejected as spam: a link to it is listed in SURBL, see http://www.surbl.org/":                                                                                                                             tenant,

		"550 5.7.1 [192.0.2.1 12] Our system has detected that this message is likely unsolicited mail. To reduce the amount of spam sent to Gmail, this message has been blocked.": nobody,
		"554 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137":                                                              nobody,
		"554 5.7.1 The message was blocked by the content filter as spam":                                                                                                           nobody,
		"550 High probability of spam": nobody,
		"550 5.7.1 <\"client host blocked using\"@example.test>: message refused as spam": nobody,
		"550 5.7.1 <ip-blacklist@example.test>: message refused as spam":                  nobody,
	} {
		b := newBench(t, shape.Config{})
		code, rest, _ := strings.Cut(text, " ")
		number, err := strconv.Atoi(code)
		if err != nil {
			t.Fatal(err)
		}
		reply := said(number, report.ParseEnhanced(rest), rest)
		b.addMany(3, example, "ann", shape.Transactional)
		for w, ok := b.Next(b.now); ok; w, ok = b.Next(b.now) {
			b.refused(w, reply)
		}
		got := nobody
		for _, h := range b.Snapshot(b.now).Holds {
			switch {
			case h.Kind == shape.Resting:
			case h.Kind == shape.Quarantined && h.Tenant == "":
				got = source
			case h.Kind == shape.Suspended && h.Tenant == "ann":
				got = tenant
			default:
				t.Errorf("%s: %+v", text, h)
			}
		}
		if got != want || shape.Shipped().Provider(example.Site).BlocksSource(reply) != (want == source) {
			t.Errorf("%s\n\tis held against the %s, want the %s", text, got, want)
		}
	}
}

func TestASuspendedPathReturnsItsMailAndGoesOnInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.addMany(100, google, "ann", shape.Transactional)
	b.addMany(5, example, "ann", shape.Transactional)
	for _, w := range b.all() {
		if w.Path == google {
			b.refused(w, tooFast)
		} else {
			b.went(w)
		}
	}
	returned := b.Returned()
	if len(returned) != 98 {
		t.Fatalf("%d returned", len(returned))
	}
	if back := returned[0].Back; back.Reason != shape.Reason(shape.Suspended) || back.At != noon.Add(5*time.Minute) || back.Cause.String() != "421-4.7.28" {
		t.Fatalf("%+v", back)
	}
	if _, ok := b.Add(b.now, google, returned[0].Item); ok {
		t.Fatal("a suspended path takes mail")
	}
	if len(b.sendOut()) != 4 {
		t.Fatal("other paths go on")
	}
	b.now = noon.Add(5 * time.Minute)
	if _, ok := b.Add(b.now, google, returned[0].Item); !ok || len(b.all()) != 1 {
		t.Fatal("it does not go on after five minutes")
	}
}

func TestAShorterSuspensionDoesNotEndALongerOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	yahoo := shape.Path{Site: "yahoo"}
	b.addMany(30, yahoo, "ann", shape.Transactional)
	busy := b.all()
	b.refused(busy[0], said(421, "4.7.0", "[TS04] deferred"))
	b.refused(busy[1], said(421, "4.7.0", "Too many connections"))
	if until := b.state(yahoo).Until; until != noon.Add(2*time.Hour) {
		t.Errorf("until %v", until)
	}
}

func TestMailWaitsInMemoryForAPathThatIsSuspendedBriefly(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	if err := b.Suspend(b.now, example, "", "", b.now.Add(20*time.Second)); err != nil {
		t.Fatal(err)
	}
	b.add(example, "ann", shape.Transactional)
	b.none("it is suspended")
	if wake := b.NextWake(b.now); wake != noon.Add(20*time.Second) || len(b.Returned()) != 0 {
		t.Fatalf("it goes on at %v", wake)
	}
	b.move(20 * time.Second)
	b.one()
}

func TestASlowedPathSendsAMessageAMinute(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for range 3 {
		b.add(example, "ann", shape.Transactional)
		b.refused(b.one(), said(451, "4.3.2", "Server busy"))
	}
	var sent []time.Time
	for b.now.Before(noon.Add(10 * time.Minute)) {
		b.next++
		b.Add(b.now, example, shape.Item{Recipient: "x", Email: "x", Tenant: "ann"})
		if b.Waiting() > 1 {
			t.Fatalf("%d wait for a path that sends one in a minute", b.Waiting())
		}
		for _, w := range b.all() {
			sent = append(sent, b.now)
			b.went(w)
		}
		b.move(time.Second)
	}
	if len(sent) < 9 || len(sent) > 11 {
		t.Errorf("%d in ten minutes", len(sent))
	}
	b.now = noon.Add(91 * time.Minute)
	b.addMany(3, example, "ann", shape.Transactional)
	if b.sendOut(); b.now.After(noon.Add(92 * time.Minute)) {
		t.Error("it is still slow")
	}
}

func TestATenantIsStoppedOnAPathAndNowhereElse(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	comcast := shape.Path{Site: "comcast"}
	b.addMany(10, comcast, "ann", shape.Broadcast)
	b.addMany(10, comcast, "bob", shape.Broadcast)
	w := b.all()[0]
	b.refused(w, said(421, "4.1.0", "RL000010 too much from this sender"))
	for _, r := range b.Returned() {
		if r.Item.Tenant != w.Items[0].Tenant {
			t.Fatalf("%+v returned", r)
		}
	}
	other := map[string]string{"ann": "bob", "bob": "ann"}[w.Items[0].Tenant]
	_, stopped := b.Usable(b.now, comcast, w.Items[0].Tenant)
	_, free := b.Usable(b.now, comcast, other)
	_, elsewhere := b.Usable(b.now, example, w.Items[0].Tenant)
	if stopped || !free || !elsewhere {
		t.Errorf("on the path %v, the other tenant %v, elsewhere %v", stopped, free, elsewhere)
	}
}

func TestAThresholdCountsOnlyWithinItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	for range 6 {
		b.add(example, "ann", shape.Transactional)
		b.refused(b.one(), said(451, "4.3.2", "Server busy"))
		b.move(6 * time.Minute)
		b.none("nothing to send")
	}
	if snap := b.Snapshot(b.now); len(snap.Holds) != 0 {
		t.Errorf("%+v", snap.Holds)
	}
}

func TestAnEndlessReplyIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, shape.Config{})
	b.add(google, "ann", shape.Transactional)
	b.refused(b.one(), said(421, "4.7.28", strings.Repeat("é", 100_000)))
	if holds := b.Snapshot(b.now).Holds; len(holds) != 1 || len(holds[0].Cause.Text) > 200 {
		t.Errorf("%d", len(holds))
	}
}

func TestAFewBadMomentsAmongMuchMailSlowNothing(t *testing.T) {
	t.Parallel()
	for taken, want := range map[int]int{0: 1, 5: 1, 40: 0} { // between one bad moment and the next
		b := newBench(t, shape.Config{})
		for range 4 {
			b.add(example, "ann", shape.Transactional)
			b.refused(b.one(), said(451, "4.3.2", "Server busy"))
			if len(b.Snapshot(b.now).Holds) > 0 {
				break
			}
			for range taken {
				b.move(50 * time.Millisecond)
				b.add(example, "ann", shape.Transactional)
				b.went(b.one())
			}
			b.move(time.Second)
		}
		if got := len(b.Snapshot(b.now).Holds); got != want {
			t.Errorf("with %d messages taken between: %d holds, want %d", taken, got, want)
		}
	}
}

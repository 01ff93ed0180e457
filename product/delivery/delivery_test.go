package delivery_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/product/apikey"
	"postrider/product/delivery"
	"postrider/world"
)

// story returns the types of the timeline of an email, in order.
func story(record apptest.Answer) string {
	var types []string
	entries, _ := record.Body["timeline"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		kind, _ := entry["type"].(string)
		types = append(types, strings.TrimPrefix(kind, "email."))
	}
	return strings.Join(types, " ")
}

func recipient(record apptest.Answer, n int) map[string]any {
	list, _ := record.Body["recipients"].([]any)
	r, _ := list[n].(map[string]any)
	return r
}

func TestMailArrivesSignedAndItsStoryIsTold(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		in.Deliver()

		received := in.Mailbox("ann@example.net")
		if len(received) != 1 {
			t.Fatalf("%d messages arrived", len(received))
		}
		for _, check := range []string{"spf", "dkim", "dmarc"} {
			if received[0].Authentication[check] != "pass" {
				t.Errorf("%s = %s", check, received[0].Authentication[check])
			}
		}
		if !received[0].TLS || !strings.HasSuffix(received[0].Envelope.From, "@bounce.acme.test") {
			t.Errorf("envelope from %s, tls %v", received[0].Envelope.From, received[0].TLS)
		}
		record := in.Email(id)
		if got := story(record); got != "queued sending accepted sent delivered" || record.Text("status") != "delivered" {
			t.Errorf("%s: %s", record.Text("status"), got)
		}
	})
}

func TestRefusalsEndAsTheirClassDemands(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for to, want := range map[string]struct{ status, class, category string }{
		"bounce@example.net": {"bounced", "hard", "no_mailbox"},
		"block@example.net":  {"bounced", "block", "reputation"},
		"ann@nomx.test":      {"bounced", "hard", "bad_address"},
	} {
		id := in.Send(to)
		in.Deliver()
		record := in.Email(id)
		r := recipient(record, 0)
		bounce, _ := r["bounce"].(map[string]any)
		if record.Text("status") != want.status || bounce["class"] != want.class || bounce["category"] != want.category {
			t.Errorf("%s: %s %v, want %+v", to, record.Text("status"), bounce, want)
		}
		if got := story(record); got != "queued sending bounced" {
			t.Errorf("%s: %s", to, got)
		}
	}
}

func TestDeferredMailIsTriedAgainAndArrives(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("defer@example.net")
		in.Deliver()
		record := in.Email(id)
		if record.Text("status") != "sending" || record.Text("last_event") != "delivery_delayed" || record.Text("next_attempt_at") == "" {
			t.Fatalf("after the first attempt: %s", record.Raw)
		}
		in.Deliver()
		if got := recipient(in.Email(id), 0)["attempts"]; got != 1.0 {
			t.Fatalf("%v attempts before the second was due", got)
		}
		in.Clock.Advance(2 * time.Minute)
		in.Deliver()
		record = in.Email(id)
		if got := story(record); got != "queued sending delivery_delayed sending accepted sent delivered" {
			t.Fatalf("%s: %s", record.Text("status"), got)
		}
	})
}

func TestMailboxThatIsFullIsBelievedThreeTimes(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("full@example.net")
	for range 2 {
		in.Deliver()
		if outcome, _ := lastAttempt(t, in, id); in.Email(id).Text("status") != "sending" || outcome != "deferred" {
			t.Fatalf("status %s after a refusal that may pass: %s", in.Email(id).Text("status"), outcome)
		}
		in.Clock.Advance(10 * time.Minute)
	}
	in.Deliver()
	record := in.Email(id)
	bounce, _ := recipient(record, 0)["bounce"].(map[string]any)
	if record.Text("status") != "bounced" || bounce["class"] != "soft" {
		t.Fatalf("%s %v", record.Text("status"), bounce)
	}
}

func TestDomainThatDoesNotExistIsGivenAnHour(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@nxdomain.test")
		in.Deliver()
		record := in.Email(id)
		first, _ := attempts(in, id)[0]["classification"].(map[string]any)
		if record.Text("status") != "sending" || recipient(record, 0)["last_enhanced_code"] != "4.1.2" || first["class"] != "soft" || first["category"] != "no_domain" || first["suppress"] != false {
			t.Fatalf("after the first look: %s %v", record.Raw, first)
		}
		told := string(in.Call(http.MethodGet, "/emails/"+id+"/events", nil).Raw)
		if !strings.Contains(told, `"smtp_code":null,"enhanced_code":"4.1.2","class":"soft","category":"no_domain"`) {
			t.Errorf("the delay is told as %s", told)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@nxdomain.test", nil); entry.Status != http.StatusNotFound {
			t.Errorf("suppressed after the first look: %s", entry.Raw)
		}
		for range 8 {
			in.Clock.Advance(20 * time.Minute)
			in.Deliver()
		}
		record = in.Email(id)
		bounce, _ := recipient(record, 0)["bounce"].(map[string]any)
		code, there := bounce["smtp_code"]
		if record.Text("status") != "bounced" || bounce["category"] != "no_domain" || bounce["class"] != "hard" || bounce["enhanced_code"] != "5.1.2" || code != nil || !there {
			t.Fatalf("%s %v", record.Text("status"), bounce)
		}
		if entry := in.Call(http.MethodGet, "/suppressions/ann@nxdomain.test", nil); entry.Text("reason") != "bounce" || !strings.Contains(string(entry.Raw), `"smtp_code":null`) {
			t.Errorf("%s", entry.Raw)
		}
	})
}

// moody is a network whose name servers change what they say of moody.test.
type moody struct {
	*roads
	says error
}

func (m *moody) MX(context.Context, string) ([]world.MX, world.Answer, error) {
	return nil, world.Answer{}, m.says
}

func TestADomainThatWasThereBetweenIsGivenAnotherHour(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	m := &moody{roads: newRoads(in.App.World)}
	n := newNodeIn(t, in, m, m.roads)
	id := in.Send("ann@moody.test")
	for _, m.says = range []error{world.ErrNoName, world.ErrUnanswered, world.ErrNoName} {
		n.deliver()
		if status := in.Email(id).Text("status"); status != "sending" {
			t.Fatalf("%s after %v", status, said(in, id))
		}
		in.Clock.Advance(2 * time.Hour)
	}
	n.deliver()
	if status := in.Email(id).Text("status"); status != "bounced" {
		t.Errorf("%s after %v", status, said(in, id))
	}
}

func TestAnEmailTellsTheNodeThatTriedItLast(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		if before := in.Email(id); before.Body["sending_node_id"] != nil {
			t.Errorf("before: %s", before.Raw)
		}
		in.Deliver()
		list := in.Call(http.MethodGet, "/emails", nil)
		if record := in.Email(id); record.Text("sending_node_id") != apptest.NodeID || record.Text("provider") != "direct" || strings.Count(string(list.Raw), apptest.NodeID) != 1 {
			t.Errorf("%s\n%s", record.Raw, list.Raw)
		}
	})
}

func TestSilentNameServersAndBusyServersAreWaitedForUntilTheMailIsTooOld(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	ids := []string{in.Send("ann@servfail.test"), in.Send("busy@example.net"), in.Send("drop@example.net")}
	for range 40 {
		in.Deliver()
		in.Clock.Advance(2 * time.Hour)
	}
	in.Deliver()
	for _, id := range ids {
		record := in.Email(id)
		if record.Text("status") != "failed" || record.Text("failure", "reason") != "delivery_expired" {
			t.Errorf("%v: %s %s", record.Body["to"], record.Text("status"), record.Text("failure", "reason"))
		}
		attempts, _ := recipient(record, 0)["attempts"].(float64)
		if attempts < 10 || attempts > 40 {
			t.Errorf("%v: %v attempts in three days", record.Body["to"], attempts)
		}
		told := strings.Count(story(record), "delivery_delayed")
		if told != 4 {
			t.Errorf("%v: told of the delay %d times, want at once, after 1 h, 4 h and 24 h", record.Body["to"], told)
		}
	}
}

func TestRecipientsOfOneEmailHaveTheirOwnFates(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := in.Call(http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": []string{"ann@example.net", "bounce@example.net"},
			"cc": "defer@example.org", "bcc": "secret@example.com", "subject": "Hello", "html": "<p>Hello</p>"})
		id := answer.Text("id")
		in.Deliver()
		if status := in.Email(id).Text("status"); status != "accepted_by_remote_mx" {
			t.Fatalf("status %s while one still waits", status)
		}
		in.Clock.Advance(2 * time.Minute)
		in.Deliver()
		record := in.Email(id)
		if record.Text("status") != "delivered" || strings.Count(story(record), "sent") != 1 {
			t.Fatalf("%s: %s", record.Text("status"), story(record))
		}
		for n, want := range []string{"delivered", "bounced", "delivered", "delivered"} {
			if got := recipient(record, n)["status"]; got != want {
				t.Errorf("recipient %d is %v, want %s", n, got, want)
			}
		}
		for _, to := range []string{"ann@example.net", "defer@example.org", "secret@example.com"} {
			for _, m := range in.Mailbox(to) {
				if strings.Contains(m.Raw, "secret@") || strings.Contains(strings.ToLower(m.Raw), "\nbcc:") || len(m.Envelope.To) != 1 {
					t.Errorf("the copy of %s gives the hidden recipient away", to)
				}
			}
		}
	})
}

func TestEveryAttemptIsRecordedWithItsFacts(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("defer@example.net")
	in.Deliver()
	in.Clock.Advance(2 * time.Minute)
	in.Deliver()
	page := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil)
	list, _ := page.Body["data"].([]any)
	if len(list) != 2 {
		t.Fatalf("%d attempts recorded", len(list))
	}
	deferred, _ := list[0].(map[string]any)
	accepted, _ := list[1].(map[string]any)
	if deferred["outcome"] != "deferred" || deferred["smtp_code"] != 451.0 || deferred["stage"] != "rcpt_to" || deferred["next_attempt_at"] == nil {
		t.Errorf("first attempt: %v", deferred)
	}
	if accepted["outcome"] != "accepted" || accepted["stage"] != "end_of_data" || accepted["mx_host"] != "mx.example.net" || accepted["attempt_number"] != 2.0 {
		t.Errorf("second attempt: %v", accepted)
	}
	tls, _ := accepted["tls"].(map[string]any)
	if tls["used"] != true || tls["version"] != "TLS1.3" || tls["policy"] != "opportunistic" {
		t.Errorf("tls: %v", tls)
	}
}

func TestServersInOurOwnNetworkAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite", func(s *app.Settings) { s.Delivery.AllowPrivate = false })
	id := in.Send("ann@example.net") // the sandbox gives every server a loopback address
	in.Deliver()
	record := in.Email(id)
	if record.Text("status") != "bounced" || !strings.Contains(record.Text("failure", "message"), "private address") || len(in.Mailbox("ann@example.net")) != 0 {
		t.Fatalf("%s: %s", record.Text("status"), record.Text("failure", "message"))
	}
}

// mixed is a network in which the server of mixed.test has an address in ours besides one on the internet.
type mixed struct{ *roads }

var publicAddr = netip.MustParseAddr("9.9.9.9")

func (m mixed) MX(context.Context, string) ([]world.MX, world.Answer, error) {
	return []world.MX{{Host: "mx.mixed.test", Preference: 10}}, world.Answer{}, nil
}

func (m mixed) IP(context.Context, string) ([]netip.Addr, world.Answer, error) {
	return []netip.Addr{liveAddr, publicAddr}, world.Answer{}, nil
}

func TestAnAddressInOurOwnNetworkIsNotReachedBesideAnother(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	m := mixed{newRoads(in.App.World)}
	m.down[publicAddr] = true
	n := newNodeIn(t, in, m, m.roads, func(c *delivery.Config) { c.AllowPrivate = false })
	id := in.Send("ann@mixed.test")
	n.deliver()
	if m.dialled(liveAddr) != 0 || m.dialled(publicAddr) == 0 || in.Email(id).Text("status") != "sending" {
		t.Errorf("our own address was called %d times, the other %d times, the mail is %s", m.dialled(liveAddr), m.dialled(publicAddr), in.Email(id).Text("status"))
	}
}

// hydra is a network in which a server has ever more addresses.
type hydra struct{ mixed }

func (h hydra) IP(context.Context, string) ([]netip.Addr, world.Answer, error) {
	var all []netip.Addr
	for n := range byte(40) {
		all = append(all, netip.AddrFrom4([4]byte{127, 0, 9, n}))
		h.down[all[n]] = true
	}
	return all, world.Answer{}, nil
}

func TestAnAttemptKnocksAtAFewDoorsOnly(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	h := hydra{mixed{newRoads(in.App.World)}}
	n := newNodeIn(t, in, h, h.roads)
	id := in.Send("ann@hydra.test")
	n.deliver()
	if len(h.dials) != 5 || len(attempts(in, id)) != 1 {
		t.Errorf("%d doors in %d attempts", len(h.dials), len(attempts(in, id)))
	}
}

func TestReturnPathsAreSignedAndDifferent(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Send("ann@example.net", "bob@example.net")
	in.Deliver()
	from := map[string]bool{}
	for _, to := range []string{"ann@example.net", "bob@example.net"} {
		for _, m := range in.Mailbox(to) {
			from[m.Envelope.From] = true
		}
	}
	if len(from) != 2 {
		t.Fatalf("return paths: %v", from)
	}
	for path := range from {
		local, _, _ := strings.Cut(path, "@")
		forged := local[:len(local)-2] + map[bool]string{true: "aa", false: "bb"}[!strings.HasSuffix(local, "aa")]
		if _, ours := in.App.Delivery.ReturnedTo(local); !ours {
			t.Errorf("%s is not known", local)
		}
		if _, ours := in.App.Delivery.ReturnedTo(forged); ours {
			t.Errorf("%s is taken for ours", forged)
		}
	}
}

func TestBrokenEncryptionIsDoneWithoutUnlessTheDomainForbids(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	registered := in.Call(http.MethodPost, "/domains", map[string]any{"domain": "strict.test", "tls": "enforced"})
	if err := in.Sandbox.Publish(t.Context(), "strict.test"); err != nil {
		t.Fatal(err)
	}
	in.Call(http.MethodPost, "/domains/"+registered.Text("id")+"/verify", nil)
	send := func(from, to string, headers map[string]string) string {
		return in.Call(http.MethodPost, "/emails", map[string]any{"from": from, "to": to, "subject": "Hello", "text": "Hello", "headers": headers}).Text("id")
	}
	lenient := send("hello@acme.test", "tls@lenient.test", nil)
	strict := send("hello@strict.test", "tls@strict-recipient.test", map[string]string{"TLS-Required": "No"})
	in.Deliver() // the sandbox breaks the handshake from the second connection on
	in.Clock.Advance(2 * time.Minute)
	in.Deliver()

	received := in.Mailbox("tls@lenient.test")
	if in.Email(lenient).Text("status") != "delivered" || len(received) != 1 || received[0].TLS {
		t.Errorf("lenient: %s, %d received", in.Email(lenient).Text("status"), len(received))
	}
	attempts, _ := in.Call(http.MethodGet, "/emails/"+strict+"/attempts", nil).Body["data"].([]any)
	last, _ := attempts[len(attempts)-1].(map[string]any)
	if in.Email(strict).Text("status") != "sending" || last["outcome"] != "tls_failed" || len(in.Mailbox("tls@strict-recipient.test")) != 0 {
		t.Errorf("strict: %s, last attempt %v", in.Email(strict).Text("status"), last)
	}
}

func TestMailOfALostWorkerIsSentAgainAndTheLostAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		lost := delivery.New(in.App.World, in.App.DB, in.App.Emails, in.App.Domains, in.App.Relays, nil, delivery.Config{Node: "lost", Inline: true})
		func() {
			defer func() { _ = recover() }() // it has no keys: it claims in one step and dies in the next, after it has begun
			_, _ = lost.Step(t.Context())
			_, _ = lost.Step(t.Context())
		}()
		in.Deliver()
		if status := in.Email(id).Text("status"); status != "sending" {
			t.Fatalf("status %s while another node holds it", status)
		}
		outliveLeases(t, in)
		in.Deliver()
		record := in.Email(id)
		attempts, _ := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil).Body["data"].([]any)
		first, _ := attempts[0].(map[string]any)
		if record.Text("status") != "delivered" || len(attempts) != 2 || first["outcome"] != "connection_failed" || first["ambiguous"] != true {
			t.Fatalf("%s after %v", record.Text("status"), attempts)
		}
	})
}

// outliveLeases lets the installation's node renew its leases for so long that those of others run out.
func outliveLeases(t *testing.T, in *apptest.Installation) {
	t.Helper()
	for range 8 {
		if _, err := in.App.Delivery.RenewLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.Clock.Advance(10 * time.Second)
	}
}

func TestWhatANodeHoldsStaysItsOwnForAsLongAsItSaysSo(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		outliveLeases(t, in)
		id := in.Send("ann@example.net")
		other := newNode(t, in)
		other.step() // it has claimed it, and begun nothing
		for range 12 {
			in.Clock.Advance(10 * time.Second)
			for _, renew := range []func(context.Context) (bool, error){in.App.Delivery.RenewLeases, other.RenewLeases} { // the other one last
				if _, err := renew(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			in.Deliver()
			if status := in.Email(id).Text("status"); status != "queued" {
				t.Fatalf("%s after another node looked", status)
			}
		}
		other.deliver()
		if received := in.Mailbox("ann@example.net"); len(received) != 1 || in.Email(id).Text("status") != "delivered" {
			t.Fatalf("%d copies, %s", len(received), in.Email(id).Text("status"))
		}
	})
}

func TestLeasesOfOthersAreNotTakenForAbandonedAfterTheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		outliveLeases(t, in)
		id := in.Send("ann@example.net")
		other := newNode(t, in)
		for range 2 {
			other.step() // it has sent, and not yet written down
		}
		in.Clock.Advance(time.Hour) // nobody could renew
		if _, err := in.App.Delivery.RenewLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.Deliver()
		if _, err := other.RenewLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.deliver()
		if received := in.Mailbox("ann@example.net"); len(received) != 1 || in.Email(id).Text("status") != "delivered" {
			t.Fatalf("%d copies, %s", len(received), in.Email(id).Text("status"))
		}
	})
}

func TestMailOfAWorkerLostBeforeItBeganCostsNoAttempt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		lost := delivery.New(in.App.World, in.App.DB, in.App.Emails, in.App.Domains, in.App.Relays, in.Keys, delivery.Config{Node: "lost", Inline: true})
		if _, err := lost.Step(t.Context()); err != nil { // it only claims
			t.Fatal(err)
		}
		in.Deliver()
		if status := in.Email(id).Text("status"); status != "queued" {
			t.Fatalf("status %s while another node holds it", status)
		}
		outliveLeases(t, in)
		in.Deliver()
		if attempts := recipient(in.Email(id), 0)["attempts"]; in.Email(id).Text("status") != "delivered" || attempts != 1.0 {
			t.Fatalf("%s after %v attempts", in.Email(id).Text("status"), attempts)
		}
		if _, err := lost.Step(t.Context()); err != nil { // it comes back and must notice that its lease is gone
			t.Fatal(err)
		}
		if _, err := lost.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if received := in.Mailbox("ann@example.net"); len(received) != 1 {
			t.Fatalf("%d copies", len(received))
		}
	})
}

func TestANodeThatWasTakenForDeadBeginsNothingThatAnotherHas(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		late := newNode(t, in)
		late.step() // it has claimed it, and begun nothing
		outliveLeases(t, in)
		if _, err := in.App.Delivery.Step(t.Context()); err != nil { // another has claimed it
			t.Fatal(err)
		}
		late.deliver()
		if status := in.Email(id).Text("status"); status != "queued" {
			t.Fatalf("%s by a node that has lost its lease", status)
		}
		in.Deliver()
		if received := in.Mailbox("ann@example.net"); len(received) != 1 || len(attempts(in, id)) != 1 {
			t.Errorf("%d copies after %v", len(received), attempts(in, id))
		}
	})
}

func TestANodeThatWasStartedTwiceSendsOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		forgotten := newNode(t, in)
		forgotten.step() // it has claimed it, for half a minute, and begun nothing
		again := newNode(t, in)
		again.step() // it has taken its own leases back, and claimed it too
		forgotten.deliver()
		if status := in.Email(id).Text("status"); status != "queued" {
			t.Fatalf("%s by a process whose lease was taken back", status)
		}
		again.deliver()
		if received := in.Mailbox("ann@example.net"); len(received) != 1 || len(attempts(in, id)) != 1 {
			t.Errorf("%d copies after %v", len(received), attempts(in, id))
		}
	})
}

func TestWhatANodeThatWasTakenForDeadHasHeardIsNotToldTwice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("busy@example.net")
		late := newNode(t, in)
		late.step()
		late.step() // it was deferred, and that is not yet written down
		outliveLeases(t, in)
		in.Deliver()
		before := in.Email(id).Text("next_attempt_at")
		late.deliver()
		made := attempts(in, id)
		if len(made) != 2 || made[0]["ambiguous"] != true || in.Email(id).Text("next_attempt_at") != before {
			t.Errorf("next at %s, was %s, after %v", in.Email(id).Text("next_attempt_at"), before, made)
		}
	})
}

func TestAbandonedMailIsFreedThoughTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	outliveLeases(t, in)
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		in.Clock.Advance(jump)
		if _, err := in.App.Delivery.RenewLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	id := in.Send("ann@example.net")
	newNode(t, in).step() // it claims, and vanishes
	outliveLeases(t, in)
	in.Deliver()
	if status := in.Email(id).Text("status"); status != "delivered" {
		t.Errorf("%s after its node has vanished", status)
	}
}

func TestANodeThatIsStartedAgainGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		newNode(t, in).step() // it claims, and is killed
		newNode(t, in).deliver()
		if status := in.Email(id).Text("status"); status != "delivered" {
			t.Errorf("%s after the node of the same name was started", status)
		}
	})
}

func TestMailOfATestKeyNeverLeaves(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "test", Preset: "full_access", Mode: apikey.Test})
		if err != nil {
			t.Fatal(err)
		}
		for to, want := range map[string]string{"ann@example.net": "delivered", "bounced+7@example.net": "bounced", "blocked@example.net": "bounced", "deferred@example.net": "sending"} {
			id := in.CallAs(key, http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": to, "subject": "Hello", "text": "Hello"}, nil).Text("id")
			in.Deliver()
			if got := in.Email(id).Text("status"); got != want {
				t.Errorf("%s is %s, want %s", to, got, want)
			}
		}
		if received := in.Mailbox("example.net"); len(received) != 0 {
			t.Fatalf("%d messages left the machine", len(received))
		}
	})
}

func TestTheSimulatorIsForLiveKeysToo(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("bounced@simulator.mail.postrider.test")
	in.Deliver()
	if got := in.Email(id).Text("status"); got != "bounced" {
		t.Fatalf("status %s", got)
	}
}

func TestTheMessageCanBeReadAsItIsSent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		answer := in.Call(http.MethodGet, "/emails/"+id+"/raw", nil)
		recorder := httptest.NewRecorder()
		in.App.Emails.ServeFile(recorder, httptest.NewRequest(http.MethodGet, strings.TrimPrefix(answer.Text("download_url"), "https://postrider.test"), nil))
		raw := recorder.Body.String()
		if recorder.Code != http.StatusOK || !strings.HasPrefix(raw, "DKIM-Signature:") || !strings.HasSuffix(raw, "Hello there\r\n") {
			t.Fatalf("%d %.200s", recorder.Code, raw)
		}
		in.Deliver()
		_, sent, _ := strings.Cut(in.Mailbox("ann@example.net")[0].Raw, "\r\nDate:")
		if _, shown, _ := strings.Cut(raw, "\r\nDate:"); shown != sent {
			t.Errorf("shown:\n%s\nsent:\n%s", shown, sent)
		}
	})
}

func TestAScheduledMessageIsDatedWhenItIsSent(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	due := in.Clock.Now().Add(50 * time.Hour).UTC().Truncate(time.Second)
	in.Must(202, http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Hi", "text": "Hi", "scheduled_at": due})
	in.Clock.Advance(50 * time.Hour)
	in.Deliver()
	received := in.Mailbox("ann@example.net")
	if len(received) != 1 || !strings.Contains(received[0].Raw, "\r\nDate: "+due.Format("Mon, 02 Jan 2006")) {
		t.Errorf("due at %s: %v", due, received)
	}
}

func TestALargeMessageThatWasLookedAtLeavesItsRoomToOthers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	sent := in.Call(http.MethodPost, "/emails", map[string]any{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Large", "text": strings.Repeat("All of it. ", 40_000)})
	answer := in.Call(http.MethodGet, "/emails/"+sent.Text("id")+"/raw", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	if in.App.Delivery.Crowded() {
		t.Error("mail would wait for a message that nobody has any more")
	}
}

func TestARefusalByTheSecondServerLeavesNoNextAttempt(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	n := newNode(t, in)
	id := in.Send("bounce@two.test") // whose first server cannot be reached
	n.deliver()
	record, made := in.Email(id), attempts(in, id)
	recipient, _ := record.Body["recipients"].([]any)[0].(map[string]any)
	if record.Text("status") != "bounced" || len(made) != 1 || made[0]["next_attempt_at"] != nil || recipient["next_attempt_at"] != nil {
		t.Errorf("%v\n%s", made, record.Raw)
	}
}

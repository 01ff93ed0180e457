package world_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"postrider/world"
)

// lookups asks for each kind of record and returns only the error.
var lookups = map[string]func(world.Resolver, context.Context, string) error{
	"MX": func(r world.Resolver, ctx context.Context, name string) error {
		_, _, err := r.MX(ctx, name)
		return err
	},
	"TXT": func(r world.Resolver, ctx context.Context, name string) error {
		_, _, err := r.TXT(ctx, name)
		return err
	},
	"IP": func(r world.Resolver, ctx context.Context, name string) error {
		_, _, err := r.IP(ctx, name)
		return err
	},
	"CNAME": func(r world.Resolver, ctx context.Context, name string) error {
		_, _, err := r.CNAME(ctx, name)
		return err
	},
}

func rcode(code int) mood {
	return func(_ string, reply *dns.Msg) { reply.Rcode, reply.Answer = code, nil }
}

func TestMissingNameMissingDataAndNoAnswerAreToldApart(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, "present.test. 60 IN HINFO cpu os")
	s.set("servfail.test.", rcode(dns.RcodeServerFailure))
	s.set("refused.test.", rcode(dns.RcodeRefused))
	s.set("notimp.test.", rcode(dns.RcodeNotImplemented))
	r := world.NewResolver([]string{s.address})
	for name, want := range map[string]error{
		"missing.test":  world.ErrNoName,
		"present.test":  world.ErrNoData,
		"servfail.test": world.ErrUnanswered,
		"refused.test":  world.ErrUnanswered,
		"notimp.test":   world.ErrUnanswered,
	} {
		for kind, lookup := range lookups {
			if err := lookup(r, t.Context(), name); !errors.Is(err, want) {
				t.Errorf("%s of %s: err = %v, want %v", kind, name, err, want)
			}
		}
	}
}

func TestANameThatCannotExistIsMissingWithoutAQuestion(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	r := world.NewResolver([]string{s.address})
	for _, name := range []string{strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 130) + "test", "a..test", ".test"} {
		for kind, lookup := range lookups {
			if err := lookup(r, t.Context(), name); !errors.Is(err, world.ErrNoName) {
				t.Errorf("%s of %.20s: err = %v, want ErrNoName", kind, name, err)
			}
		}
	}
	if n := len(s.questions("udp")) + len(s.questions("tcp")); n != 0 {
		t.Errorf("%d questions asked", n)
	}
}

func TestRecordsAreReadInLowerCaseWithoutTheFinalDot(t *testing.T) {
	t.Parallel()
	s := newNameServer(t,
		"mail.test. 60 IN MX 20 Backup.Mail.test.",
		"mail.test. 60 IN MX 10 mx.mail.test.",
		"nomail.test. 60 IN MX 0 .",
		"alias.test. 60 IN CNAME Target.Test.",
		"1.2.0.192.in-addr.arpa. 60 IN PTR host.mail.test.",
		"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 60 IN PTR six.mail.test.")
	r := world.NewResolver([]string{s.address})

	mx, answer, err := r.MX(t.Context(), "Mail.TEST")
	wantMX := []world.MX{{Host: "backup.mail.test", Preference: 20}, {Host: "mx.mail.test", Preference: 10}}
	if err != nil || !reflect.DeepEqual(mx, wantMX) || answer.Canonical != "mail.test" {
		t.Errorf("MX %v, %+v, %v", mx, answer, err)
	}
	null, _, err := r.MX(t.Context(), "nomail.test")
	if err != nil || !reflect.DeepEqual(null, []world.MX{{Host: "."}}) {
		t.Errorf("null MX %v, %v", null, err)
	}
	target, _, err := r.CNAME(t.Context(), "alias.test")
	if err != nil || target != "target.test" {
		t.Errorf("CNAME %q, %v", target, err)
	}
	for addr, want := range map[string]string{"192.0.2.1": "host.mail.test", "2001:db8::1": "six.mail.test"} {
		names, _, err := r.PTR(t.Context(), netip.MustParseAddr(addr))
		if err != nil || !reflect.DeepEqual(names, []string{want}) {
			t.Errorf("PTR of %s: %v, %v", addr, names, err)
		}
	}
}

func TestAddressesOfBothKindsAreFound(t *testing.T) {
	t.Parallel()
	s := newNameServer(t,
		"both.test. 60 IN AAAA 2001:db8::1",
		"both.test. 60 IN A 192.0.2.1",
		"four.test. 60 IN A 192.0.2.4",
		"six.test. 60 IN AAAA 2001:db8::6",
		"halfdead.test. 60 IN A 192.0.2.5")
	s.set("halfdead.test.", func(_ string, reply *dns.Msg) {
		if reply.Question[0].Qtype == dns.TypeAAAA {
			reply.Rcode = dns.RcodeServerFailure
		}
	})
	s.set("dead.test.", func(_ string, reply *dns.Msg) {
		reply.Rcode = dns.RcodeSuccess // no data of the one kind
		if reply.Question[0].Qtype == dns.TypeAAAA {
			reply.Rcode = dns.RcodeServerFailure
		}
	})
	r := world.NewResolver([]string{s.address})
	for name, want := range map[string]string{
		"both.test":     "[192.0.2.1 2001:db8::1] false <nil>",
		"four.test":     "[192.0.2.4] false <nil>",
		"six.test":      "[2001:db8::6] false <nil>",
		"halfdead.test": "[192.0.2.5] true <nil>",
		"dead.test":     "[] false " + world.ErrUnanswered.Error(), // it may have an address that nobody told us
	} {
		addrs, answer, err := r.IP(t.Context(), name)
		if got := fmt.Sprint(addrs, " ", answer.Partial, " ", err); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAnAliasIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	s := newNameServer(t,
		"www.test. 60 IN CNAME Edge.test.",
		"edge.test. 60 IN CNAME host.test.",
		"host.test. 60 IN A 192.0.2.1",
		"host.test. 60 IN TXT text",
		"nowhere.test. 60 IN CNAME missing.test.",
		"nodata.test. 60 IN CNAME empty.test.",
		"empty.test. 60 IN HINFO cpu os")
	r := world.NewResolver([]string{s.address})

	addrs, answer, err := r.IP(t.Context(), "www.test")
	if err != nil || fmt.Sprint(addrs) != "[192.0.2.1]" || answer.Canonical != "host.test" {
		t.Errorf("IP %v, %+v, %v", addrs, answer, err)
	}
	texts, answer, err := r.TXT(t.Context(), "WWW.test")
	if err != nil || fmt.Sprint(texts) != "[text]" || answer.Canonical != "host.test" {
		t.Errorf("TXT %v, %+v, %v", texts, answer, err)
	}
	target, _, err := r.CNAME(t.Context(), "www.test")
	if err != nil || target != "edge.test" {
		t.Errorf("the alias itself: %q, %v", target, err)
	}
	if _, _, err := r.IP(t.Context(), "nowhere.test"); !errors.Is(err, world.ErrNoName) {
		t.Errorf("alias to a missing name: %v", err)
	}
	if _, _, err := r.IP(t.Context(), "nodata.test"); !errors.Is(err, world.ErrNoData) {
		t.Errorf("alias to a name without data: %v", err)
	}
}

func TestALoopOfAliasesIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newNameServer(t,
		"self.test. 60 IN CNAME self.test.",
		"a.test. 60 IN CNAME b.test.",
		"b.test. 60 IN CNAME a.test.")
	r := world.NewResolver([]string{s.address})
	for _, name := range []string{"self.test", "a.test"} {
		if _, _, err := r.IP(t.Context(), name); !errors.Is(err, world.ErrUnanswered) {
			t.Errorf("%s: err = %v, want ErrUnanswered", name, err)
		}
	}
}

func TestRecordsOfOtherNamesInAnAnswerAreIgnored(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, "victim.test. 60 IN TXT right")
	s.set("victim.test.", func(_ string, reply *dns.Msg) {
		smuggled, _ := dns.NewRR("other.test. 60 IN TXT smuggled")
		reply.Answer = append(reply.Answer, smuggled)
	})

	texts, _, err := world.NewResolver([]string{s.address}).TXT(t.Context(), "victim.test")

	if err != nil || fmt.Sprint(texts) != "[right]" {
		t.Fatalf("TXT %v, %v", texts, err)
	}
}

func TestAnAnswerToAnotherQuestionIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, "a.test. 60 IN TXT text")
	s.set("a.test.", func(_ string, reply *dns.Msg) {
		reply.Question[0].Name = "b.test."
		reply.Rcode, reply.Answer = dns.RcodeNameError, nil
	})

	_, _, err := world.NewResolver([]string{s.address}).TXT(t.Context(), "a.test")

	if !errors.Is(err, world.ErrUnanswered) {
		t.Fatalf("err = %v, want ErrUnanswered", err)
	}
}

func TestATruncatedAnswerIsFetchedOverTCP(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	var zone []string
	for i := range 20 {
		zone = append(zone, fmt.Sprintf("big.test. 60 IN TXT \"%d-%s\"", i, long))
	}
	s := newNameServer(t, zone...)
	s.set("big.test.", func(network string, reply *dns.Msg) {
		if network == "udp" {
			reply.Truncated, reply.Answer = true, reply.Answer[:2]
		}
	})

	texts, _, err := world.NewResolver([]string{s.address}).TXT(t.Context(), "big.test")

	if err != nil || len(texts) != 20 {
		t.Fatalf("%d records, %v", len(texts), err)
	}
	if u, c := len(s.questions("udp")), len(s.questions("tcp")); u != 1 || c != 1 {
		t.Fatalf("%d questions over UDP, %d over TCP", u, c)
	}
}

func TestAnAnswerThatIsTruncatedEvenOverTCPIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, `big.test. 60 IN TXT "one"`)
	s.set("big.test.", func(_ string, reply *dns.Msg) { reply.Truncated = true })
	r := world.NewResolver([]string{s.address})
	for kind, lookup := range lookups {
		if err := lookup(r, t.Context(), "big.test"); !errors.Is(err, world.ErrUnanswered) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestTextIsJoinedAndUnescaped(t *testing.T) {
	t.Parallel()
	s := newNameServer(t)
	for name, strs := range map[string][]string{
		"split.test.":  {"v=DKIM1; p=abc", "def", "", " ghi"},
		"quote.test.":  {`say \"hi\"`},
		"slash.test.":  {`back\\slash`, `\\`, `065`},
		"bytes.test.":  {"\\195\\188\\000\\255"},
		"number.test.": {`\0491`},
		"empty.test.":  {""},
	} {
		s.addText(name, strs)
	}
	r := world.NewResolver([]string{s.address})
	for name, want := range map[string]string{
		"split.test":  "v=DKIM1; p=abcdef ghi",
		"quote.test":  `say "hi"`,
		"slash.test":  `back\slash\065`,
		"bytes.test":  "ü\x00\xff",
		"number.test": "11",
		"empty.test":  "",
	} {
		texts, _, err := r.TXT(t.Context(), name)
		if err != nil || len(texts) != 1 || texts[0] != want {
			t.Errorf("%s: %q, %v; want %q", name, texts, err, want)
		}
	}
}

func TestAServerThatFailsIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	broken, healthy := newNameServer(t), newNameServer(t, "a.test. 60 IN TXT text")
	broken.set("a.test.", rcode(dns.RcodeServerFailure))

	texts, _, err := world.NewResolver([]string{broken.address, healthy.address}).TXT(t.Context(), "a.test")

	if err != nil || fmt.Sprint(texts) != "[text]" {
		t.Fatalf("TXT %v, %v", texts, err)
	}
}

func TestTheWordOfTheFirstServerThatAnswersHolds(t *testing.T) {
	t.Parallel()
	first, second := newNameServer(t), newNameServer(t, "a.test. 60 IN TXT text")

	_, _, err := world.NewResolver([]string{first.address, second.address}).TXT(t.Context(), "a.test")

	if !errors.Is(err, world.ErrNoName) || len(second.questions("udp")) != 0 {
		t.Fatalf("err = %v, second server asked %d times", err, len(second.questions("udp")))
	}
}

func TestAnAnswerIsAuthenticOnlyIfTheServerVouches(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, "plain.test. 60 IN A 192.0.2.1", "signed.test. 60 IN A 192.0.2.1", "half.test. 60 IN A 192.0.2.1", "half.test. 60 IN AAAA 2001:db8::1")
	vouch := func(_ string, reply *dns.Msg) { reply.AuthenticatedData = true }
	s.set("signed.test.", vouch)
	s.set("half.test.", func(_ string, reply *dns.Msg) { reply.AuthenticatedData = reply.Question[0].Qtype == dns.TypeA })
	s.set("missing.test.", vouch)
	r := world.NewResolver([]string{s.address})
	for name, want := range map[string]bool{"plain.test": false, "signed.test": true, "half.test": false, "missing.test": true} {
		if _, answer, _ := r.IP(t.Context(), name); answer.Authentic != want {
			t.Errorf("%s: authentic %v, want %v", name, answer.Authentic, want)
		}
	}
	for _, question := range s.questions("udp") {
		if !question.AuthenticatedData || !question.RecursionDesired {
			t.Errorf("asked without AD or RD: %v", question.MsgHdr)
		}
	}
}

func TestNobodyToAskIsNoAnswer(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s := newNameServer(t, "a.test. 60 IN TXT text")
	for name, ask := range map[string]func() error{
		"no servers": func() error { _, _, err := world.NewResolver(nil).TXT(t.Context(), "a.test"); return err },
		"cancelled":  func() error { _, _, err := world.NewResolver([]string{s.address}).TXT(cancelled, "a.test"); return err },
	} {
		if err := ask(); !errors.Is(err, world.ErrUnanswered) {
			t.Errorf("%s: err = %v, want ErrUnanswered", name, err)
		}
	}
}

func TestTheSystemHasAtLeastOneServer(t *testing.T) {
	t.Parallel()
	if servers := world.SystemServers(); len(servers) == 0 {
		t.Fatal("no servers")
	}
}

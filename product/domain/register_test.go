package domain_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/dkim"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestNewDomainComesWithTheRecordsToPublish(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := register(in, in.Key, fields{"domain": "mail.shop.test", "region": "us-east-1"}) // as a program for Resend says
		if answer.Status != http.StatusCreated {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		for name, want := range map[string]any{
			"object": "domain", "domain": "mail.shop.test", "name": "mail.shop.test", "verified": false, "status": "not_started", "region": "default",
			"managed_tenant_id": nil, "open_tracking": false, "click_tracking": false, "tracking_subdomain": "track", "custom_return_path": "bounce",
			"tls": "opportunistic", "dkim_key_bits": 2048.0, "provider": "inherit", "last_checked_at": nil, "verified_at": nil, "receiving_requested": false,
			"createdAt": answer.Body["created_at"], "dnsProvider": nil,
		} {
			if got, ok := answer.Body[name]; !ok || got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
		if sending := answer.Text("capabilities", "sending"); sending != "enabled" || answer.Text("capabilities", "receiving") != "disabled" {
			t.Errorf("capabilities: %v", answer.Body["capabilities"])
		}
		selector := answer.Text("dkim_selector")
		if !regexp.MustCompile(`^s[a-z2-7]{8}$`).MatchString(selector) {
			t.Errorf("selector %q", selector)
		}
		var got []string
		small := ""
		list, _ := answer.Body["records"].([]any)
		for _, item := range list {
			r, _ := item.(map[string]any)
			value, _, _ := strings.Cut(fmt.Sprint(r["value"]), "p=MII")
			if strings.Contains(value, "k=ed25519") {
				small = strings.TrimSuffix(fmt.Sprint(r["name"]), "._domainkey.mail.shop.test")
				value, _, _ = strings.Cut(value, "p=")
			}
			got = append(got, fmt.Sprint(r["record"], "|", r["type"], "|", r["name"], "|", r["host"], "|", value, "|", r["priority"], "|", r["required"], "|", r["status"]))
		}
		want := []string{
			"SPF|TXT|mail.shop.test|mail|v=spf1 include:spf.mail.postrider.test ~all|<nil>|true|not_started",
			"DKIM|TXT|" + selector + "._domainkey.mail.shop.test|" + selector + "._domainkey.mail|v=DKIM1; k=rsa; |<nil>|true|not_started",
			"DKIM|TXT|" + small + "._domainkey.mail.shop.test|" + small + "._domainkey.mail|v=DKIM1; k=ed25519; |<nil>|false|not_started",
			"DMARC|TXT|_dmarc.mail.shop.test|_dmarc.mail|v=DMARC1; p=none; rua=mailto:dmarc@mail.postrider.test|<nil>|false|not_started",
			"Return-Path|CNAME|bounce.mail.shop.test|bounce.mail|bounces.mail.postrider.test|<nil>|false|not_started",
			"Tracking|CNAME|track.mail.shop.test|track.mail|track.mail.postrider.test|<nil>|false|not_started",
			"Receiving|MX|mail.shop.test|mail|mx1.mail.postrider.test|10|false|not_started",
			"Receiving|MX|mail.shop.test|mail|mx2.mail.postrider.test|20|false|not_started",
		}
		if !slices.Equal(got, want) {
			t.Errorf("records:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := told(t, in, in.Workspace, answer.Text("id")); !slices.Equal(got, []string{"domain.created"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestHostIsRelativeToTheZone(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	answer := in.Call(http.MethodGet, "/domains/"+in.DomainID, nil)
	if got := recordOf(answer, "spf")["host"]; got != "@" {
		t.Errorf("host of the zone itself: %v", got)
	}
	if got := recordOf(answer, "dmarc")["host"]; got != "_dmarc" {
		t.Errorf("host below the zone: %v", got)
	}
}

func TestWishesForADomainAreKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		node := addNode(t, in, "eu")
		answer := register(in, in.Key, fields{"name": "wishes.test", "custom_return_path": "rp", "tracking_subdomain": "links", "dkim_selector": "mine-1",
			"open_tracking": true, "click_tracking": true, "tls": "enforced", "dmarc_policy": "reject", "region": "eu",
			"sending_node_id": node, "capabilities": fields{"sending": "disabled", "receiving": "enabled"}})
		record := in.Call(http.MethodGet, "/domains/"+answer.Text("id"), nil)
		for name, want := range map[string]any{"domain": "wishes.test", "custom_return_path": "rp", "tracking_subdomain": "links", "dkim_selector": "mine-1",
			"open_tracking": true, "click_tracking": true, "tls": "enforced", "region": "eu", "sending_node_id": node,
			"receiving_requested": true} {
			if record.Body[name] != want {
				t.Errorf("%s = %v, want %v", name, record.Body[name], want)
			}
		}
		if sending := record.Text("capabilities", "sending"); sending != "disabled" {
			t.Errorf("sending is %s", sending)
		}
		for purpose, want := range map[string]string{"dkim": "mine-1._domainkey.wishes.test", "return_path": "rp.wishes.test", "tracking": "links.wishes.test"} {
			if got := recordOf(record, purpose)["name"]; got != want {
				t.Errorf("%s at %v, want %s", purpose, got, want)
			}
		}
		if got := fmt.Sprint(recordOf(record, "dmarc")["value"]); !strings.HasPrefix(got, "v=DMARC1; p=reject;") {
			t.Errorf("policy %s", got)
		}
	})
}

func TestADomainOfACustomerHasAWayToo(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		customer := in.Call(http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
		node := addNode(t, in, "eu")
		for field, value := range map[string]string{"region": "mars", "sending_node_id": in.DomainID} {
			answer := in.Call(http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test", field: value})
			if problem(answer, field) == "" {
				t.Errorf("%s: %d %s", field, answer.Status, answer.Raw)
			}
		}
		answer := in.Call(http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test", "region": "eu", "sending_node_id": node})
		if answer.Text("region") != "eu" || answer.Text("sending_node_id") != node {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
	})
}

func TestNamesAreStoredInOneSpelling(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for given, want := range map[string]string{"Shop.TEST": "shop.test", "dot.test.": "dot.test", "bücher.test": "xn--bcher-kva.test", "a.co.uk": "a.co.uk"} {
		if answer := register(in, in.Key, fields{"domain": given}); answer.Text("domain") != want {
			t.Errorf("%s became %q: %s", given, answer.Text("domain"), answer.Raw)
		}
	}
	for _, twin := range []string{"SHOP.test", "shop.test.", "XN--BCHER-KVA.test", "BÜCHER.test"} {
		refused(t, register(in, in.Key, fields{"domain": twin}), http.StatusConflict, "already_exists")
	}
}

func TestBadRegistrationsAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const suffix = "This is a public suffix; register a name below it."
	const oneLabel = "Must be one label of lower-case letters, digits and hyphens."
	for name, c := range map[string]struct {
		body           fields
		field, message string
	}{
		"nothing":     {fields{}, "domain", "A domain is required."},
		"blank":       {fields{"domain": " "}, "domain", "A domain is required."},
		"co.uk":       {fields{"domain": "co.uk"}, "domain", suffix},
		"github.io":   {fields{"domain": "GitHub.io"}, "domain", suffix},
		"punycode":    {fields{"domain": "xn--55qx5d.cn"}, "domain", suffix},
		"Chinese":     {fields{"domain": "公司。cn"}, "domain", suffix},
		"wide":        {fields{"domain": "ｇｉｔｈｕｂ.io."}, "domain", suffix},
		"*.ck":        {fields{"domain": "test.ck"}, "domain", suffix},
		"of *.sch.uk": {fields{"domain": "sch.uk"}, "domain", suffix},
		"of *.kobe":   {fields{"domain": "kobe.jp"}, "domain", suffix},
		"in *.kobe":   {fields{"domain": "c.kobe.jp"}, "domain", suffix},
		"com":         {fields{"domain": "com"}, "domain", "Not a domain name: the domain needs a dot."},
		"numbers":     {fields{"domain": "192.0.2.1"}, "domain", "Not a domain name: an IP address is not allowed as domain."},
		"literal":     {fields{"domain": "[192.0.2.1]"}, "domain", "Not a domain name: an IP address is not allowed as domain."},
		"IPv6":        {fields{"domain": "2001:db8::1"}, "domain", ""},
		"underscore":  {fields{"domain": "a_b.test"}, "domain", "Not a domain name: the domain contains a character that is not allowed."},
		"space":       {fields{"domain": "a b.test"}, "domain", ""},
		"line break":  {fields{"domain": "a.test\r\n"}, "domain", ""},
		"NUL":         {fields{"domain": "a\x00.test"}, "domain", ""},
		"URL":         {fields{"domain": "https://acme.com"}, "domain", ""},
		"address":     {fields{"domain": "a@acme.com"}, "domain", ""},
		"hyphen":      {fields{"domain": "-a.test"}, "domain", ""},
		"empty label": {fields{"domain": "a..test"}, "domain", ""},
		"long label":  {fields{"domain": strings.Repeat("a", 64) + ".test"}, "domain", ""},
		"long name":   {fields{"domain": strings.Repeat("a.", 130) + "test"}, "domain", ""},
		"wildcard":    {fields{"domain": "*.acme.com"}, "domain", ""},
		"wrong type":  {fields{"domain": 5}, "domain", "Must be a string."},
		"return path": {fields{"domain": "b.test", "custom_return_path": "a.b"}, "custom_return_path", oneLabel},
		"tracking":    {fields{"domain": "b.test", "tracking_subdomain": "_x"}, "tracking_subdomain", oneLabel},
		"same label":  {fields{"domain": "b.test", "tracking_subdomain": "bounce"}, "tracking_subdomain", "Must differ from custom_return_path."},
		"selector":    {fields{"domain": "b.test", "dkim_selector": "a.b"}, "dkim_selector", "Must be 1 to 63 lower-case letters, digits and hyphens."},
		"tls":         {fields{"domain": "b.test", "tls": "never"}, "tls", "Must be one of opportunistic, enforced."},
		"dmarc":       {fields{"domain": "b.test", "dmarc_policy": "maybe"}, "dmarc_policy", "Must be one of none, quarantine, reject."},
		"region":      {fields{"domain": "b.test", "region": "mars"}, "region", "Must be one of default."},
		"node":        {fields{"domain": "b.test", "sending_node_id": in.DomainID}, "sending_node_id", "There is no such sending node."},
		"sending":     {fields{"domain": "b.test", "capabilities": fields{"sending": "maybe"}}, "capabilities.sending", "Must be enabled or disabled."},
	} {
		answer := register(in, in.Key, c.body)
		got := problem(answer, c.field)
		if answer.Status != http.StatusBadRequest || got == "" || c.message != "" && got != c.message {
			t.Errorf("%s: %d %q", name, answer.Status, got)
		}
	}
}

func TestNamesBelowASuffixAreNoSuffix(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, name := range []string{"example.co.uk", "city.kobe.jp", "b.c.kobe.jp", "www.ck", "acme.github.io", "compute.amazonaws.com"} {
		registered(t, in, name)
	}
}

func TestDomainOfTheWorkspaceIsAConflictThatNamesIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := register(in, in.Key, fields{"domain": apptest.Domain})
		refused(t, answer, http.StatusConflict, "already_exists")
		if answer.Text("error", "details", "resource") != "domain" || answer.Text("error", "details", "id") != in.DomainID {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func TestDomainHeldElsewhereIsTakenAndNobodyLearnsByWhom(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, stranger := in.NewWorkspace(plan.Pro)
		answer := register(in, stranger, fields{"domain": "ACME.test."})
		refused(t, answer, http.StatusConflict, "domain_taken")
		if bytes.Contains(answer.Raw, []byte(in.DomainID)) || bytes.Contains(answer.Raw, []byte(in.Workspace)) || bytes.Contains(answer.Raw, []byte("details")) {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func TestOnlyTheFirstWorkspaceToVerifyHoldsADomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, stranger := in.NewWorkspace(plan.Pro)
		mine, theirs := registered(t, in, "shared.test"), register(in, stranger, fields{"domain": "shared.test"}).Text("id")
		publishAll(t, in, "shared.test") // both keys
		if got := verify(t, in, mine).Text("status"); got != "verified" {
			t.Fatalf("first: %s", got)
		}
		refused(t, in.CallAs(stranger, http.MethodPost, "/domains/"+theirs+"/verify", nil, nil), http.StatusConflict, "domain_taken")
		if record := in.CallAs(stranger, http.MethodGet, "/domains/"+theirs, nil, nil); record.Body["verified"] != false {
			t.Errorf("%s", record.Raw)
		}
		in.Clock.Advance(10 * time.Minute)
		recheck(t, in) // a look of its own is no way in, and stops no other
		record := in.CallAs(stranger, http.MethodGet, "/domains/"+theirs, nil, nil)
		if record.Body["verified"] != false || record.Text("status") != "pending" || record.Text("next_check_at") <= record.Text("last_checked_at") {
			t.Errorf("%s", record.Raw)
		}
	})
}

func TestTheLastFreeSlotIsTakenOnceHoweverManyAskAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, key := in.NewWorkspace(plan.Pro)
		for i := range 9 {
			register(in, key, fields{"domain": fmt.Sprintf("taken%d.test", i)})
		}
		in.Clock.Advance(time.Minute) // the rate limit is another matter
		answers := make([]apptest.Answer, 100)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = register(in, key, fields{"domain": fmt.Sprintf("shop%d.test", i)}) })
		}
		all.Wait()
		created := 0
		for _, answer := range answers {
			if answer.Status == http.StatusCreated {
				created++
				continue
			}
			refused(t, answer, http.StatusPaymentRequired, "domain_quota_exceeded")
			if got := fmt.Sprint(answer.Text("error", "details", "plan"), answer.Text("error", "details", "limit"), answer.Text("error", "details", "used")); got != "pro1010" {
				t.Errorf("%s", answer.Raw)
			}
		}
		if list := names(in.CallAs(key, http.MethodGet, "/domains", nil, nil)); created != 1 || len(list) != 10 {
			t.Errorf("%d created, %v stored", created, list)
		}
	})
}

func TestKeyForOneDomainCannotRegisterOrVerifyAnother(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := registered(t, in, "other.test")
		_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "one domain",
			Preset: apikey.FullAccess, DomainIDs: []string{in.DomainID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			answer apptest.Answer
			domain string
		}{
			{register(in, key, fields{"domain": "new.test"}), "new.test"},
			{in.CallAs(key, http.MethodPost, "/domains/"+other+"/verify", nil, nil), other},
			{in.CallAs(key, http.MethodGet, "/domains/"+other, nil, nil), other},
			{in.CallAs(key, http.MethodPatch, "/domains/"+other, fields{"open_tracking": true}, nil), other},
			{in.CallAs(key, http.MethodPost, "/domains/"+other+"/receiving", fields{"enabled": false}, nil), other},
			{in.CallAs(key, http.MethodPost, "/domains/"+other+"/rotate-dkim", nil, nil), other},
		} {
			refused(t, c.answer, http.StatusForbidden, "domain_not_allowed")
			if got := c.answer.Text("error", "details", "domain"); got != c.domain {
				t.Errorf("the domain is named %q, not %q", got, c.domain)
			}
		}
		if list := in.CallAs(key, http.MethodGet, "/domains", nil, nil); len(names(list)) != 1 || list.Text("total") != "1" {
			t.Errorf("it sees %v", names(list))
		}
		if answer := in.CallAs(key, http.MethodPost, "/domains/"+in.DomainID+"/verify", nil, nil); answer.Status != http.StatusOK {
			t.Errorf("its own: %d %s", answer.Status, answer.Raw)
		}
	})
}

func TestPrivateKeyIsSealedAtRestAndNeverLeaves(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answers := []apptest.Answer{register(in, in.Key, fields{"domain": "secret.test"})}
		id := answers[0].Text("id")
		publishAll(t, in, "secret.test")
		answers = append(answers, verify(t, in, id), in.Call(http.MethodGet, "/domains/"+id, nil), in.Call(http.MethodGet, "/domains", nil))

		var stored []byte
		var events []string
		err := in.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
			if stored, err = db.One(tx, db.Value[[]byte], `SELECT private_key FROM domain_key WHERE domain_id = $1 AND algorithm = 'rsa'`, id); err != nil {
				return err
			}
			events, err = db.All(tx, db.Value[string], `SELECT data FROM event WHERE subject_id = $1`, id)
			return err
		})
		if err != nil || len(events) != 2 {
			t.Fatalf("%v, %d events", err, len(events))
		}
		if _, err := dkim.ParsePrivate(stored); err == nil {
			t.Error("the key is stored in the clear")
		}
		secret, err := seal.NewKeyring(bytes.Repeat([]byte("test"), 8)).Open(stored, id+"/"+answers[0].Text("dkim_selector"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(stored, secret[100:200]) {
			t.Error("the sealed key holds the key")
		}
		private := base64.StdEncoding.EncodeToString(secret[900:999]) // far behind the public part
		for _, answer := range answers {
			events = append(events, string(answer.Raw))
		}
		for _, text := range events {
			if strings.Contains(text, private) || strings.Contains(strings.ToLower(text), "private") {
				t.Errorf("%s", text)
			}
		}
	})
}

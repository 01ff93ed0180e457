package tenant_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"postrider/product/account/accounttest"
)

func TestNewCustomerIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")

		answer := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop_4711", "name": " Shop 4711 ", "metadata": fields{"country": "DE"}})

		id, now := answer.Text("id"), h.Clock.Now().Format("2006-01-02T15:04:05.000Z")
		want := fields{"object": "managed_tenant", "id": id, "external_id": "shop_4711", "name": "Shop 4711", "status": "active", "provider": "inherit",
			"domain_count": 0.0, "metadata": fields{"country": "DE"}, "paused_at": nil, "pause_reason": nil,
			"usage": fields{"emails_this_month": 0.0, "last_sent_at": nil}, "created_at": now, "updated_at": now, "idempotent": false}
		if got := answer.JSON; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		delete(want, "idempotent")
		want["domains"] = []any{}
		for _, path := range []string{at(id), at("by-external-id/shop_4711")} {
			if got := p.Must(200, "GET", path, nil).JSON; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("GET %s: %v", path, got)
			}
		}
		var told fields
		events := p.events(id)
		if err := json.Unmarshal(events[0].Data, &told); err != nil {
			t.Fatal(err)
		}
		delete(want, "domains")
		if len(events) != 1 || events[0].Type != "managed_tenant.created" || events[0].Tenant != id || fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("events %+v tell %v", events, told)
		}
	})
}

func TestKnownExternalIDReturnsTheFirstCustomerUnchanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		first := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "shop", "name": "First"})

		for _, again := range []fields{
			{"external_id": "shop", "name": "First"},
			{"external_id": "shop", "name": "Second", "provider": "direct", "metadata": fields{"a": 1}},
			{"external_id": "shop"},
			{"external_id": "shop", "name": strings.Repeat("x", 500), "provider": "nonsense"},
		} {
			answer := p.Must(200, "POST", "/v1/managed-tenants", again)
			want := maps.Clone(first.JSON)
			want["idempotent"] = true
			if fmt.Sprint(answer.JSON) != fmt.Sprint(want) {
				t.Errorf("%v: %s", again, answer.Body)
			}
		}

		if other := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "SHOP", "name": "First"}); other.Text("id") == first.Text("id") {
			t.Error("external ids are compared without case")
		}
		if got := p.news(first.Text("id")); got != "created" {
			t.Errorf("events: %s", got)
		}
	})
}

func TestTwinsAtTheLastSlotAreOneCustomer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for i := range 99 {
			p.customer(fmt.Sprint("shop", i))
		}

		ids, created := map[string]bool{}, 0
		for _, answer := range atOnce(100, func(int) accounttest.Answer {
			return p.Do("POST", "/v1/managed-tenants", fields{"external_id": "twin", "name": "Twin"})
		}) {
			switch {
			case answer.Code == 201 && answer.Value("idempotent") == false:
				created++
			case answer.Code != 200 || answer.Value("idempotent") != true:
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
			ids[answer.Text("id")] = true
		}

		if len(ids) != 1 || created != 1 {
			t.Errorf("%d customers, %d of them new", len(ids), created)
		}
		if got := p.Must(200, "GET", "/v1/managed-tenants", nil).Value("limits.used_managed_tenants"); got != 100.0 {
			t.Errorf("%v are counted", got)
		}
	})
}

func TestParallelCreatesStopAtTheLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for i := range 70 {
			p.customer(fmt.Sprint("early", i))
		}

		created := 70
		for _, answer := range atOnce(90, func(i int) accounttest.Answer {
			return p.Do("POST", "/v1/managed-tenants", fields{"external_id": fmt.Sprint("shop", i), "name": "Shop"})
		}) {
			if answer.Code == 201 {
				created++
				continue
			}
			details, _ := answer.Value("error.details").(fields)
			if answer.Code != 402 || answer.Text("error.code") != "managed_tenant_limit_reached" || answer.Text("name") != "managed_tenant_limit_reached" ||
				fmt.Sprint(details) != "map[limit:100 plan:pro used:100]" {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
		}

		list := p.Must(200, "GET", "/v1/managed-tenants?limit=200", nil)
		if rows := list.Value("data").([]any); created != 100 || len(rows) != 100 || list.Value("limits.remaining_managed_tenants") != 0.0 {
			t.Errorf("%d created, %d there, %v left", created, len(rows), list.Value("limits.remaining_managed_tenants"))
		}
		gone := list.Text("data.0.id")
		p.Must(200, "DELETE", at(gone), nil)
		p.customer("another")
		p.Refused(402, "managed_tenant_limit_reached", "POST", "/v1/managed-tenants", fields{"external_id": "one-more", "name": "Shop"})
	})
}

func TestWrongFieldsOfACustomerAreNamed(t *testing.T) {
	t.Parallel()
	const (
		external = "Must have 1 to 128 letters, digits or . _ : @ / - and begin with a letter or a digit."
		name     = "Must be one line of 1 to 200 characters."
		provider = "Must be inherit, direct, relay or node:<id of a sending node>."
		metadata = "Must have at most 50 keys and 8 KB."
	)
	many := fields{}
	for i := range 51 {
		many[fmt.Sprint(i)] = i
	}
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for title, test := range map[string]struct {
			change         fields
			field, message string
		}{
			"no external id":      {fields{"external_id": ""}, "external_id", external},
			"129 characters":      {fields{"external_id": strings.Repeat("x", 129)}, "external_id", external},
			"dot first":           {fields{"external_id": ".shop"}, "external_id", external},
			"space":               {fields{"external_id": "a b"}, "external_id", external},
			"line end":            {fields{"external_id": "shop\n"}, "external_id", external},
			"letters elsewhere":   {fields{"external_id": "größe"}, "external_id", external},
			"number":              {fields{"external_id": 4711}, "external_id", "Must be a string."},
			"no name":             {fields{"name": ""}, "name", name},
			"blank name":          {fields{"name": "   "}, "name", name},
			"201 characters":      {fields{"name": strings.Repeat("ü", 201)}, "name", name},
			"lines in a name":     {fields{"name": "a\r\nBcc: x"}, "name", name},
			"NUL in a name":       {fields{"name": "a\x00b"}, "name", name},
			"unknown provider":    {fields{"provider": "smtp"}, "provider", provider},
			"node without id":     {fields{"provider": "node:"}, "provider", provider},
			"node in capitals":    {fields{"provider": "node:" + strings.ToUpper(ownNode)}, "provider", provider},
			"foreign node":        {fields{"provider": "node:" + nobody}, "provider", "There is no such sending node."},
			"51 keys":             {fields{"metadata": many}, "metadata", metadata},
			"above 8 KB":          {fields{"metadata": fields{"a": strings.Repeat("x", 8<<10)}}, "metadata", metadata},
			"a megabyte nearly":   {fields{"metadata": fields{"a": strings.Repeat("x", 1_000_000)}}, "metadata", metadata},
			"metadata as a list":  {fields{"metadata": []int{1}}, "metadata", "Must be an object."},
			"metadata as text":    {fields{"metadata": "a"}, "metadata", "Must be an object."},
			"number beyond reach": {fields{"metadata": fields{"a": json.Number("1e999")}}, "metadata", "Must hold no number that is too large."},
		} {
			body := fields{"external_id": "shop", "name": "Shop"}
			maps.Copy(body, test.change)
			answer := p.Refused(400, "validation_error", "POST", "/v1/managed-tenants", body)
			if got := problem(answer, test.field); got != test.message {
				t.Errorf("%s: %s", title, answer.Body)
			}
		}
		p.Refused(413, "payload_too_large", "POST", "/v1/managed-tenants", fields{"external_id": "shop", "metadata": fields{"a": strings.Repeat("x", 1<<20)}})
		if total := p.Must(200, "GET", "/v1/managed-tenants", nil).Value("total"); total != 0.0 {
			t.Errorf("%v customers were made", total)
		}
	})
}

func TestWhatIsJustWithinTheLimitsIsTaken(t *testing.T) {
	t.Parallel()
	fifty := fields{}
	for i := range 50 {
		fifty[fmt.Sprint("key", i)] = strings.Repeat("x", 140)
	}
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for i, change := range []fields{
			{"external_id": "A" + strings.Repeat("/", 127)}, {"external_id": "0._:@/-"}, {"name": strings.Repeat("ü", 200)}, {"name": "x"},
			{"provider": "direct"}, {"provider": "relay"}, {"provider": "node:" + ownNode}, {"metadata": fifty}, {"metadata": nil},
			{"metadata": fields{"a": strings.Repeat("x", 8<<10-len(`{"a":""}`))}}, {"metadata": fields{"nested": fields{"list": []any{nil, true}}}},
		} {
			body := fields{"external_id": fmt.Sprint("shop", i), "name": "Shop"}
			maps.Copy(body, change)
			answer := p.Must(201, "POST", "/v1/managed-tenants", body)
			read := p.Must(200, "GET", at(answer.Text("id")), nil)
			for field, sent := range change {
				if got := read.Value(field); sent != nil && fmt.Sprint(got) != fmt.Sprint(sent) {
					t.Errorf("%s is %v", field, got)
				}
			}
		}
		exact := p.Must(201, "POST", "/v1/managed-tenants", fields{"external_id": "big", "name": "Shop", "metadata": fields{"order": json.Number("1234567890123456789")}})
		if !strings.Contains(p.Must(200, "GET", at(exact.Text("id")), nil).Body, `{"order":1234567890123456789}`) {
			t.Errorf("a large number lost digits: %s", exact.Body)
		}
	})
}

func TestOddTextIsReturnedAsItWasSentOrRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		id := p.customer("shop")
		for title, odd := range map[string]string{
			"right to left": "\u202Eابجد\u202C", "emoji": "👩‍👩‍👧‍👦🏳️‍🌈", "combining": "Z̴̡̛͈a̷l̵g̸o", "zero width": "a\u200bb", "quotes": `'"\` + "`",
			"SQL": "'; DROP TABLE tenant; --", "markup": "<script>alert(1)</script>&amp;", "template": "{{7*7}} %s %n {in $1} $1", "wildcards": `%_\%`,
			"path": "../../etc/passwd", "private use": "\ue000\U0010ffff", "NUL": "a\x00b", "bell": "a\ab", "replacement": "\ufffd",
		} {
			answer := p.Do("PATCH", at(id), fields{"name": odd, "metadata": fields{odd: odd}, "status": "paused", "pause_reason": odd})
			if answer.Code == 400 && strings.ContainsAny(odd, "\x00\a") {
				continue
			}
			read := p.Must(200, "GET", at(id), nil)
			metadata, _ := read.Value("metadata").(fields)
			if answer.Code != 200 || read.Text("name") != odd || metadata[odd] != odd || read.Text("pause_reason") != odd {
				t.Errorf("%s: %d %s", title, answer.Code, read.Body)
			}
		}
		for _, path := range []string{"a%20b", "..%2f..", strings.Repeat("x", 5000), "%F0%9F%92%A9", "'%20OR%201=1", "%2F", strings.ToUpper(id)} {
			p.Refused(404, "managed_tenant_not_found", "GET", at("by-external-id/"+path), nil)
			p.Refused(404, "managed_tenant_not_found", "GET", at(path), nil)
		}
	})
}

func TestExternalIDsWithSlashesAreFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		p := h.platform("acme")
		for external, path := range map[string]string{"org/7/shop@x:1.2_3-4": "org%2F7%2Fshop%40x%3A1.2_3-4", "domains": "domains", "a/": "a%2f", "by-external-id": "by-external-id"} {
			id := p.customer(external)
			if got := p.Must(200, "GET", at("by-external-id/"+path), nil); got.Text("id") != id {
				t.Errorf("%s: %s", external, got.Body)
			}
		}
	})
}

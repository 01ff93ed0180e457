package webhook_test

import "testing"

func TestOnlyWebhooksThatWillBeToldOfAnEventAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		customer := h.must(201, "POST", "/managed-tenants", fields{"external_id": "shop_4711", "name": "Shop"}).Text("id")
		for _, more := range []fields{{}, {"domain_ids": []string{h.DomainID}}, {"managed_tenant_ids": []string{customer}}} {
			h.webhook("https://app.example.com/", []string{"event.sent"}, more)
		}
		counted := h.must(202, "POST", "/events/send", fields{"event": "paid"}).Text("webhooks")
		h.follow()
		if told := len(h.deliveries("?event=event.sent")); counted != "1" || told != 1 {
			t.Errorf("%s were counted, %d are told", counted, told)
		}
	})
}

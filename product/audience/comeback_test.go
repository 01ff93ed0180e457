package audience_test

import (
	"testing"
	"time"
)

// asked asks a contact to confirm and returns the path of the link in the letter.
func (h *house) asked(contact, list string) string {
	h.t.Helper()
	return h.linkFrom(h.must(202, "POST", "/audience/contacts/"+contact+"/send-confirmation", fields{"list_id": list}).Text("email_id"))
}

// leaves posts the form of an unsubscribe link.
func (h *house) leaves(address, list, scope string) {
	h.t.Helper()
	header := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	if answer := h.ask("POST", h.unsubscribeLink(address, "", list), []byte("scope="+scope), header); answer.Status != 200 {
		h.t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
}

func TestALinkIsVoidForWhoLeftEverythingSince(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.asked(id, list)
		h.Clock.Advance(time.Minute)
		h.leaves("ann@example.net", list, "all")

		looked, done := h.browse("GET", link), h.browse("POST", link)

		if looked.Status != 404 || done.Status != 404 {
			t.Errorf("looked at with %d, confirmed with %d", looked.Status, done.Status)
		}
		got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed", "status")
		if got != `[true,"unsubscribed"]` || h.membership(id, list) != "pending" {
			t.Errorf("%s, %s on the list", got, h.membership(id, list))
		}
		h.must(200, "GET", "/suppressions/ann@example.net", nil)
	})
}

func TestAConfirmationBringsBackWhoLeftEverythingBefore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", nil)
		h.leaves("ann@example.net", "", "all")
		h.Clock.Advance(time.Minute)
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list})
		link := h.asked(id, list)
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("status"); got != `["unsubscribed"]` {
			t.Fatalf("%s before the confirmation", got)
		}

		h.browse("POST", link)

		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed", "status", "suppressed"); got != `[false,"subscribed",false]` {
			t.Error(got)
		}
		h.must(404, "GET", "/suppressions/ann@example.net", nil)
	})
}

func TestALinkIsVoidOnceTheContactHasAnotherAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.asked(id, list)
		h.must(200, "PATCH", "/contacts/"+id, fields{"email": "eve@example.net"})

		if answer := h.browse("POST", link); answer.Status != 404 || h.membership(id, list) != "pending" {
			t.Errorf("%d, %s", answer.Status, h.membership(id, list))
		}
	})
}

func TestWhoIsBroughtBackToAListHasToConfirmItAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		h.browse("POST", h.asked(id, list))
		confirmed := h.must(200, "GET", "/contacts/"+id, nil).Body["lists"].([]any)[0].(fields)
		if confirmed["confirmed_at"] == nil || confirmed["consent"].(fields)["source"] != "double_opt_in" {
			t.Errorf("%v", confirmed)
		}
		h.leaves("ann@example.net", list, "list")

		back := h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list, "resubscribe": true})

		if m := back.Body["lists"].([]any)[0].(fields); m["status"] != "pending" || m["confirmed_at"] != nil {
			t.Errorf("%v", m)
		}
		counted := h.must(200, "GET", "/audience/lists/"+list, nil)
		if got := counted.Pick("contact_count", "subscribed_count", "pending_count", "unsubscribed_count"); got != "[1,0,1,0]" {
			t.Error(got)
		}
	})
}

func TestWhoNeverLeftConfirmsNothingAgainWhenBroughtBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		h.browse("POST", h.asked(id, list))
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_id": list, "resubscribe": true})
		if got := h.membership(id, list); got != "subscribed" {
			t.Error(got)
		}
	})
}

func TestNobodyIsBroughtBackAndUnsubscribedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		h.leaves("ann@example.net", "", "all")
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "unsubscribed": true, "resubscribe": true})
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed", "status"); got != `[true,"unsubscribed"]` {
			t.Error(got)
		}
		h.must(200, "GET", "/suppressions/ann@example.net", nil)
	})
}

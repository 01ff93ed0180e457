package email_test

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestForeignEmailLooksExactlyLikeOneThatDoesNotExist(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"scheduled_at": "in 1 hour"})
		before := in.Email(id)
		_, stranger := in.NewWorkspace(plan.Unlimited)
		same := map[string]string{"X-Request-Id": "request-1"}
		for _, route := range []struct {
			method, suffix string
			body           any
		}{
			{http.MethodGet, "", nil}, {http.MethodGet, "/events", nil}, {http.MethodGet, "/attempts", nil}, {http.MethodPost, "/cancel", nil},
			{http.MethodPatch, "", fields{"scheduled_at": "in 2 hours"}},
		} {
			var answers []apptest.Answer
			for _, asked := range []string{id, "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00", "no-id", strings.ToUpper(id)} {
				answers = append(answers, in.CallAs(stranger, route.method, "/emails/"+asked+route.suffix, route.body, same))
			}
			for _, answer := range answers {
				refused(t, answer, http.StatusNotFound, "not_found")
				if !bytes.Equal(answer.Raw, answers[0].Raw) {
					t.Errorf("%s %s: %s, then %s", route.method, route.suffix, answers[0].Raw, answer.Raw)
				}
			}
		}
		if after := in.Email(id); !bytes.Equal(after.Raw, before.Raw) {
			t.Errorf("the email changed: %s", after.Raw)
		}
	})
}

func TestEventsOfAnEmailCanBeAskedForByRecipient(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": []string{"ann@example.net", "bounce@example.net"}})
		in.Deliver()
		page := in.Call(http.MethodGet, "/emails/"+id+"/events", nil)
		all := rows(page)
		types := column(all, "type")
		slices.Sort(types)
		if want := []string{"email.accepted", "email.bounced", "email.delivered", "email.queued", "email.sent"}; !slices.Equal(types, want) {
			t.Errorf("events %v, want %v", types, want)
		}
		if page.Body["has_more"] != false || page.Body["total"] != nil || page.Body["limit"] != 50.0 {
			t.Errorf("%s", page.Raw)
		}
		if all[0]["type"] != "email.queued" || all[0]["email_id"] != id || all[0]["object"] != "event" {
			t.Errorf("%v", all)
		}
		bounced := rows(in.Call(http.MethodGet, "/emails/"+id+"/events?recipient=bounce@example.net", nil))
		data, _ := bounced[0]["data"].(map[string]any)
		bounce, _ := data["bounce"].(map[string]any)
		if len(bounced) != 1 || bounced[0]["type"] != "email.bounced" || bounce["class"] != "hard" {
			t.Errorf("events of one recipient: %v", bounced)
		}
		if first := rows(in.Call(http.MethodGet, "/emails/"+id+"/events?limit=2&offset=1", nil)); len(first) != 2 || first[0]["id"] != all[1]["id"] {
			t.Errorf("second page: %v", first)
		}
	})
}

func TestAttemptsOfAnEmailCanBeAskedForByRecipient(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": []string{"ann@example.net", "defer@example.net"}})
		in.Deliver()
		in.Clock.Advance(2 * time.Minute)
		in.Deliver()
		page := in.Call(http.MethodGet, "/emails/"+id+"/attempts", nil)
		if len(rows(page)) != 3 || page.Body["total"] != 3.0 || page.Body["has_more"] != false {
			t.Errorf("%s", page.Raw)
		}
		one := in.Call(http.MethodGet, "/emails/"+id+"/attempts?recipient=defer@example.net&limit=1", nil)
		if list := rows(one); len(list) != 1 || list[0]["outcome"] != "deferred" || one.Body["total"] != 2.0 || one.Body["has_more"] != true {
			t.Errorf("%s", one.Raw)
		}
		either := in.Call(http.MethodGet, "/emails/"+id+"/attempts?recipient=Defer@EXAMPLE.net,ann@example.net", nil)
		if len(rows(either)) != 3 || either.Body["total"] != 3.0 {
			t.Errorf("%s", either.Raw)
		}
		told := rows(in.Call(http.MethodGet, "/emails/"+id+"/events?recipient=ANN@example.net", nil))
		if !slices.Equal(column(told, "type"), []string{"email.accepted", "email.delivered"}) {
			t.Errorf("%v", told)
		}
		if none := rows(in.Call(http.MethodGet, "/emails/"+id+"/attempts?recipient=eve@example.net", nil)); len(none) != 0 {
			t.Errorf("%v", none)
		}
	})
}

func TestSubListsHaveBounds(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("ann@example.net")
	for _, path := range []string{"/events", "/attempts"} {
		for query, field := range map[string]string{"?limit=201": "limit", "?limit=-1": "limit", "?offset=-1": "offset"} {
			answer := in.Call(http.MethodGet, "/emails/"+id+path+query, nil)
			if answer.Status != http.StatusBadRequest || problems(answer)[field] == "" {
				t.Errorf("%s%s: %d %s", path, query, answer.Status, answer.Raw)
			}
		}
	}
}

func TestWhatConcernsARecipientIsFoundInAnyCaseOfAnyLetters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": []string{"ÜNAL@example.net", "onal@example.net"}})
		in.Deliver()
		for _, text := range []string{"ünal@example.net", "Ünal@EXAMPLE.net", "ÜNAL@example.net"} {
			recipient := "?" + url.Values{"recipient": {text}}.Encode()
			attempts := in.Call(http.MethodGet, "/emails/"+id+"/attempts"+recipient, nil)
			events := rows(in.Call(http.MethodGet, "/emails/"+id+"/events"+recipient, nil))
			if len(rows(attempts)) != 1 || attempts.Body["total"] != 1.0 || len(events) == 0 || events[0]["recipient"] != "ÜNAL@example.net" {
				t.Errorf("%s: %s, events %v", text, attempts.Raw, events)
			}
		}
	})
}

package email_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// list returns a page of emails; query is name, value, name, value.
func list(in *apptest.Installation, query ...string) apptest.Answer {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	return in.Call(http.MethodGet, "/emails?"+values.Encode(), nil)
}

// subjects are the subjects of the emails that a query finds, sorted.
func subjects(t *testing.T, in *apptest.Installation, query ...string) string {
	t.Helper()
	answer := list(in, query...)
	if answer.Status != http.StatusOK {
		t.Fatalf("%v: %d %s", query, answer.Status, answer.Raw)
	}
	found := column(rows(answer), "subject")
	slices.Sort(found)
	return strings.Join(found, " ")
}

// sendMany sends n emails and returns their ids, oldest first.
func sendMany(t *testing.T, in *apptest.Installation, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = accepted(t, in, fields{"subject": fmt.Sprint("number", i)})
	}
	return ids
}

// walk follows next_cursor to the end and returns all ids it met and how large the pages were.
func walk(t *testing.T, in *apptest.Installation, query ...string) (ids []string, sizes []int) {
	t.Helper()
	answer := list(in, query...)
	for {
		page := rows(answer)
		ids, sizes = append(ids, column(page, "id")...), append(sizes, len(page))
		if answer.Body["has_more"] != (answer.Body["next_cursor"] != nil) || len(sizes) > 100 {
			t.Fatalf("has_more %v, next_cursor %v", answer.Body["has_more"], answer.Body["next_cursor"])
		}
		if answer.Body["has_more"] != true {
			return ids, sizes
		}
		answer = list(in, append(slices.Clone(query), "cursor", answer.Text("next_cursor"))...)
	}
}

func TestPagesShowEveryEmailOnceAndTheNewestFirst(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		oldest := sendMany(t, in, 25)
		newest := slices.Clone(oldest)
		slices.Reverse(newest)
		if ids, sizes := walk(t, in, "limit", "10"); !slices.Equal(ids, newest) || !slices.Equal(sizes, []int{10, 10, 5}) {
			t.Errorf("newest first: pages of %v, %v", sizes, ids)
		}
		if ids, sizes := walk(t, in, "limit", "10", "order", "asc"); !slices.Equal(ids, oldest) || !slices.Equal(sizes, []int{10, 10, 5}) {
			t.Errorf("oldest first: pages of %v, %v", sizes, ids)
		}
		if ids, sizes := walk(t, in, "limit", "25"); !slices.Equal(ids, newest) || len(sizes) != 1 {
			t.Errorf("all at once: pages of %v", sizes)
		}
	})
}

func TestEmailsThatComeInWhileSomeoneReadsDisturbNoPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		before := sendMany(t, in, 6)
		first := list(in, "limit", "3")
		sendMany(t, in, 4)
		second := list(in, "limit", "3", "cursor", first.Text("next_cursor"))
		got := append(column(rows(first), "id"), column(rows(second), "id")...)
		slices.Reverse(got)
		if !slices.Equal(got, before) || second.Body["has_more"] != false {
			t.Errorf("%v, want %v", got, before)
		}
	})
}

func TestAnEmailThatHasTheWholeWordDoesNotEndASearchForItsBeginning(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"desc", "asc"} {
		apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
			want := sendMany(t, in, 6)
			query := []string{"search", "numb", "limit", "3", "order", order}
			first := list(in, query...)
			last := accepted(t, in, fields{"subject": "numb"})
			second := list(in, append(query, "cursor", first.Text("next_cursor"), "limit", "9")...)
			got := append(column(rows(first), "id"), column(rows(second), "id")...)
			if order == "desc" {
				slices.Reverse(want)
			} else {
				want = append(want, last)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", order, got, want)
			}
		})
	}
}

func TestPagesCanBeFollowedById(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ids := sendMany(t, in, 6)
		slices.Reverse(ids)
		for name, c := range map[string]struct {
			query []string
			want  []string
			more  bool
		}{
			"after":               {[]string{"after", ids[1], "limit", "2"}, ids[2:4], true},
			"after, the rest":     {[]string{"after", ids[3]}, ids[4:], false},
			"after the last":      {[]string{"after", ids[5]}, ids[6:], false},
			"before":              {[]string{"before", ids[4], "limit", "2"}, ids[2:4], true},
			"before, the rest":    {[]string{"before", ids[2]}, ids[:2], false},
			"after, oldest first": {[]string{"after", ids[4], "order", "asc", "limit", "2"}, []string{ids[3], ids[2]}, true},
		} {
			answer := list(in, c.query...)
			if got := column(rows(answer), "id"); !slices.Equal(got, c.want) || answer.Body["has_more"] != c.more {
				t.Errorf("%s: %v, more %v", name, got, answer.Body["has_more"])
			}
		}
		if answer := list(in, "before", ids[4], "limit", "2"); answer.Body["next_cursor"] != nil {
			t.Error("a page before another has a next cursor, which would lead back to the same emails")
		}
	})
}

func TestCursorIsGoodOnlyForTheQueryAndWorkspaceItWasMadeFor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ids := sendMany(t, in, 3)
		cursor := list(in, "limit", "1", "status", "queued").Text("next_cursor")
		if answer := list(in, "limit", "2", "status", "queued", "cursor", cursor); len(rows(answer)) != 2 {
			t.Fatalf("the same query with another limit: %d %s", answer.Status, answer.Raw)
		}
		for name, query := range map[string][]string{
			"no filter":      {"cursor", cursor},
			"other filter":   {"status", "delivered", "cursor", cursor},
			"more filters":   {"status", "queued", "search", "number", "cursor", cursor},
			"other order":    {"status", "queued", "order", "asc", "cursor", cursor},
			"no signature":   {"status", "queued", "cursor", strings.Split(cursor, ".")[0]},
			"SQL":            {"status", "queued", "cursor", "' OR 1=1 --"},
			"foreign after":  {"after", in.DomainID},
			"missing before": {"before", "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"},
		} {
			if answer := list(in, query...); answer.Text("error", "code") != "invalid_cursor" {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
			}
		}
		for i := range len(cursor) {
			flipped := []byte(cursor)
			flipped[i] ^= 1
			if answer := list(in, "status", "queued", "cursor", string(flipped)); answer.Text("error", "code") != "invalid_cursor" {
				t.Fatalf("byte %d flipped: %d %s", i, answer.Status, answer.Raw)
			}
		}
		_, stranger := in.NewWorkspace(plan.Unlimited)
		for _, place := range []string{"status=queued&cursor=" + url.QueryEscape(cursor), "after=" + ids[1]} {
			refused(t, in.CallAs(stranger, http.MethodGet, "/emails?"+place, nil, nil), http.StatusBadRequest, "invalid_cursor")
		}
	})
}

func TestQueriesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("ann@example.net")
	for name, c := range map[string]struct {
		query        []string
		field, about string
	}{
		"limit above 200":   {[]string{"limit", "201"}, "limit", "Must be between 1 and 200."},
		"negative limit":    {[]string{"limit", "-1"}, "limit", "Must be at least 1."},
		"limit in words":    {[]string{"limit", "ten"}, "limit", "Must be a whole number."},
		"no rows":           {[]string{"limit", "0"}, "limit", "Must be at least 1."},
		"two places":        {[]string{"after", id, "before", id}, "after", "Only one of cursor, after, before and offset can be given."},
		"place and offset":  {[]string{"after", id, "offset", "3"}, "after", "Only one of cursor, after, before and offset can be given."},
		"order":             {[]string{"order", "up"}, "order", "Must be asc or desc."},
		"status":            {[]string{"status", "queued,lost"}, "status", `"lost" is not a state of an email.`},
		"tag without value": {[]string{"tag", "welcome"}, "tag", "Must have the form name:value."},
		"since":             {[]string{"since", "yesterday"}, "since", "Must be an RFC 3339 time."},
		"search of NUL":     {[]string{"search", "a\x00b"}, "search", "Must be valid text."},
	} {
		answer := list(in, c.query...)
		if got := problems(answer)[c.field]; answer.Status != http.StatusBadRequest || got != c.about {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
		}
	}
	if answer := list(in, "limit", "200"); answer.Status != http.StatusOK {
		t.Errorf("limit 200: %d", answer.Status)
	}
}

func TestFiltersFindWhatTheySay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		early := in.Clock.Now().Add(-time.Minute).Format(time.RFC3339)
		welcome := accepted(t, in, fields{"subject": "welcome", "to": "Ann <ann@example.net>",
			"tags": []fields{{"name": "category", "value": "Welcome"}, {"name": "a", "value": "b"}}})
		accepted(t, in, fields{"subject": "later", "scheduled_at": "in 1 day", "cc": "bob@example.net", "tags": []fields{{"name": "category", "value": "welcome"}}})
		in.Clock.Advance(time.Hour)
		middle := in.Clock.Now().Format(time.RFC3339)
		in.Clock.Advance(time.Hour)
		accepted(t, in, fields{"subject": "100%_sure", "from": "Ann <ann@other.test>", "bcc": "eve@example.net"})
		accepted(t, in, fields{"subject": "1000 sure", "message_id": "<order.42@acme.test>"})

		for _, c := range []struct {
			query []string
			want  string
		}{
			{nil, "100%_sure 1000 sure later welcome"},
			{[]string{"status", "scheduled"}, "later"},
			{[]string{"status", "scheduled,queued"}, "100%_sure 1000 sure later welcome"},
			{[]string{"status", "scheduled", "status", "delivered"}, "later"},
			{[]string{"domain", "OTHER.test"}, "100%_sure"},
			{[]string{"domain", other}, "100%_sure"},
			{[]string{"domain", "unknown.test"}, ""},
			{[]string{"search", "WELC"}, "welcome"},
			{[]string{"q", "WELC"}, "welcome"},
			{[]string{"search", "bob@example"}, "later"},
			{[]string{"search", "eve@"}, "100%_sure"},
			{[]string{"search", "order.42"}, "1000 sure"},
			{[]string{"search", welcome}, "welcome"},
			{[]string{"search", "100%"}, "100%_sure"},
			{[]string{"search", "%_"}, "100%_sure"},
			{[]string{"search", "_"}, "100%_sure"},
			{[]string{"search", `\`}, ""},
			{[]string{"search", "' OR 1=1 --"}, ""},
			{[]string{"to", "BOB@"}, "later"},
			{[]string{"to", "eve@example.net"}, "100%_sure"},
			{[]string{"to", "welcome"}, ""},
			{[]string{"to", "other.test"}, ""},
			{[]string{"from", "ANN"}, "100%_sure"},
			{[]string{"from", "other.test"}, "100%_sure"},
			{[]string{"tag", "category:welcome"}, "later"},
			{[]string{"tag", "category:Welcome"}, "welcome"},
			{[]string{"tag", "a:b"}, "welcome"},
			{[]string{"tag", "a:%"}, ""},
			{[]string{"tag", "a:b,category:welcome"}, "later welcome"},
			{[]string{"tag", "a:b", "tag", "category:welcome"}, "later welcome"},
			{[]string{"tag", "a:b,category:welcome", "to", "bob,eve"}, "later"},
			{[]string{"to", "bob@example.net,eve@example.net"}, "100%_sure later"},
			{[]string{"to", "ev,bob@example.net"}, "100%_sure later"},
			{[]string{"to", "@,bob@example.net", "search", "sure"}, "100%_sure 1000 sure"},
			{[]string{"to", "ev,bob", "from", "an,nobody"}, "100%_sure"},
			{[]string{"from", "ann@,nobody@"}, "100%_sure"},
			{[]string{"domain", other + ",unknown.test"}, "100%_sure"},
			{[]string{"domain", "other.test,acme.test", "search", "sure"}, "100%_sure 1000 sure"},
			{[]string{"domain", other, "domain", in.DomainID, "search", "sure"}, "100%_sure 1000 sure"},
			{[]string{"template_id", in.DomainID + "," + other}, ""},
			{[]string{"tag", `x":"y:z`}, ""},
			{[]string{"since", middle}, "100%_sure 1000 sure"},
			{[]string{"start", middle}, "100%_sure 1000 sure"},
			{[]string{"until", middle}, "later welcome"},
			{[]string{"since", early, "end", middle, "status", "queued"}, "welcome"},
		} {
			if got := subjects(t, in, c.query...); got != c.want {
				t.Errorf("%v finds %q, want %q", c.query, got, c.want)
			}
		}
	})
}

func TestASenderIsFoundInAnyCaseOfAnyLetters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		accepted(t, in, fields{"subject": "ÄRZTE und Öl", "from": "ÜNAL Straße <hello@acme.test>"})
		accepted(t, in, fields{"subject": "ünal writes", "from": `"Ann, 100%" <ann@acme.test>`, "to": "Ünal <bob@example.net>"})
		for text, want := range map[string]string{"ünal": "ÄRZTE und Öl", "ÜNAL straße": "ÄRZTE und Öl", "Ärzte": "", "100%": "ünal writes", "bob": ""} {
			if got := subjects(t, in, "from", text); got != want {
				t.Errorf("%s finds %q, want %q", text, got, want)
			}
		}
	})
}

func TestARecipientIsFoundInAnyCaseOfAnyLetters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		accepted(t, in, fields{"subject": "one", "to": "Böse <ÜNAL.Öz@example.net>"})
		accepted(t, in, fields{"subject": "two", "bcc": "Ünal%Öz@example.net", "to": "ann@example.net"})
		accepted(t, in, fields{"subject": "ünal writes", "from": "Ünal <ann@acme.test>", "to": "onal@example.net"})
		for text, want := range map[string]string{"ünal": "one two", "ÜNAL.öz@EXAMPLE": "one", "Ünal%": "two", "ön": "", "ONAL": "ünal writes", "böse": "", "Ünal@": ""} {
			if got := subjects(t, in, "to", text); got != want {
				t.Errorf("%s finds %q, want %q", text, got, want)
			}
		}
	})
}

func TestRowsTellWhenTheNextAttemptIs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		waiting := in.Send("ann@example.net", "deferred+1@example.net", "deferred+2@example.net")
		in.Send("ann@example.net")
		in.Deliver()
		want := in.Email(waiting).Body["next_attempt_at"]
		if want == nil {
			t.Fatalf("nothing waits: %s", in.Email(waiting).Raw)
		}
		for _, row := range rows(list(in)) {
			if row["id"] == waiting && row["next_attempt_at"] != want || row["id"] != waiting && row["next_attempt_at"] != nil {
				t.Errorf("%s is tried next at %v; the record of the one that waits says %v", row["id"], row["next_attempt_at"], want)
			}
		}
	})
}

func TestADomainIsFoundAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.VerifiedDomain(in.Workspace, "xn--bcher-kva.test")
		in.Send("ann@example.net")
		if sent := in.Call(http.MethodPost, "/emails", fields{"from": "a@bücher.test", "to": "ann@example.net", "subject": "books", "text": "x"}); sent.Status != http.StatusAccepted {
			t.Fatalf("%d %s", sent.Status, sent.Raw)
		}
		for _, name := range []string{"bücher.test", "BÜCHER.test", "xn--bcher-kva.test", "XN--BCHER-KVA.TEST."} {
			if got := subjects(t, in, "domain", name); got != "books" {
				t.Errorf("%s finds %q", name, got)
			}
		}
	})
}

func TestListShowsOnlyTheEmailsOfItsWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Send("ann@example.net")
		_, stranger := in.NewWorkspace(plan.Unlimited)
		for _, query := range []string{"", "?search=" + id, "?domain=acme.test", "?domain=" + in.DomainID, "?status=queued", "?to=ann"} {
			if answer := in.CallAs(stranger, http.MethodGet, "/emails"+query, nil, nil); answer.Status != http.StatusOK || len(rows(answer)) != 0 {
				t.Errorf("%q: %d %s", query, answer.Status, answer.Raw)
			}
		}
	})
}

func TestRowsAreRecordsWithoutTheirContent(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	record := in.Email(in.Send("ann@example.net"))
	row := rows(list(in))[0]
	for name := range record.Body {
		_, shown := row[name]
		hidden := slices.Contains([]string{"html", "text", "headers", "metadata", "recipients", "timeline", "failure"}, name)
		if shown == hidden {
			t.Errorf("%s is in the row: %v", name, shown)
		}
	}
}

func TestEmailsOfOneMomentAreAllFoundPageByPage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		batch := make([]fields, 100)
		for i := range batch {
			batch[i] = letter(fields{"tags": []fields{{"name": "category", "value": "receipt"}}})
		}
		made := in.Call(http.MethodPost, "/emails/batch", batch)
		if made.Status != http.StatusAccepted {
			t.Fatal(string(made.Raw))
		}
		oldest := column(rows(made), "id")
		slices.Sort(oldest)
		newest := slices.Clone(oldest)
		slices.Reverse(newest)
		for _, filter := range [][]string{nil, {"tag", "category:receipt"}} {
			if ids, _ := walk(t, in, append([]string{"limit", "7"}, filter...)...); !slices.Equal(ids, newest) {
				t.Errorf("%q, newest first: %d emails, in their order: %v", filter, len(ids), slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }))
			}
			if ids, _ := walk(t, in, append([]string{"limit", "7", "order", "asc"}, filter...)...); !slices.Equal(ids, oldest) {
				t.Errorf("%q, oldest first: %d emails, in their order: %v", filter, len(ids), slices.IsSorted(ids))
			}
		}
	})
}

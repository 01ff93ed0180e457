package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/sandbox"
)

func TestAMessageIsShownWithAllItsFacts(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	client := b.connect()
	if err := b.startTLS(client, "mx.example.test"); err != nil {
		t.Fatal(err)
	}
	raw := strings.Replace(letter, "Subject: Hello", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from\r\n Ann", 1)
	b.try(client, mailTo("bob@example.test", "eve@example.test"), raw)

	got := b.messages("")[0]

	at, err := time.Parse("2006-01-02T15:04:05.000Z", got.ReceivedAt)
	if err != nil || b.clock.Now().Sub(at).Abs() > time.Millisecond {
		t.Errorf("received at %q, clock says %s", got.ReceivedAt, b.clock.Now())
	}
	if fmt.Sprint(got.Envelope) != "{"+sender+" [bob@example.test eve@example.test]}" {
		t.Errorf("envelope %v", got.Envelope)
	}
	if got.ID == "" || got.Provider != "example.test" || got.Raw != raw || got.RawBase64 != nil || got.Subject != "Grüße from Ann" || !got.TLS {
		t.Errorf("%+v", got)
	}
	var one stored
	if err := json.Unmarshal([]byte(b.mustCall("GET", "/sandbox/messages/"+got.ID, "")), &one); err != nil || one.Raw != raw {
		t.Errorf("by its id: %+v, %v", one, err)
	}
}

func TestAMessageThatIsNotTextIsShownInBase64(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	raw := letter + "caf\xe9\r\n"
	b.mustSend(mailTo("bob@example.test"), raw)

	got := b.messages("")[0]

	if got.Raw != "" || string(got.RawBase64) != raw {
		t.Fatalf("%+v", got)
	}
}

func TestEveryProviderStoresItsOwnMessage(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	b.mustSend(mailTo("a@one.test", "b@two.test", "c@One.test"), letter)

	list := b.messages("")

	if len(list) != 2 || list[1].Provider != "one.test" || len(list[1].Envelope.RcptTo) != 2 || list[0].Provider != "two.test" {
		t.Fatalf("%+v", list)
	}
}

func TestMessagesAreListedNewestFirstByRecipient(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for i := range 5 {
		b.mustSend(mailTo(fmt.Sprintf("Reader%d@example.test", i%2)), strings.Replace(letter, "Hello", fmt.Sprint("Number ", i), 1))
	}
	for query, want := range map[string]string{
		"":                               "Number 4,Number 3,Number 2,Number 1,Number 0",
		"?limit=2":                       "Number 4,Number 3",
		"?limit=1000":                    "Number 4,Number 3,Number 2,Number 1,Number 0",
		"?to=reader0@example.test":       "Number 4,Number 2,Number 0",
		"?to=READER1":                    "Number 3,Number 1",
		"?to=reader0%40example&limit=1":  "Number 4",
		"?to=nobody":                     "",
		"?to=reader1@example.testreader": "",
	} {
		var list struct{ Data []stored }
		if err := json.Unmarshal([]byte(b.mustCall("GET", "/sandbox/messages"+query, "")), &list); err != nil || list.Data == nil {
			t.Fatalf("%s: %v", query, err)
		}
		var subjects []string
		for _, m := range list.Data {
			subjects = append(subjects, m.Subject)
		}
		if got := strings.Join(subjects, ","); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	if answer := b.mustCall("DELETE", "/sandbox/messages", ""); strings.TrimSpace(answer) != `{"deleted":5}` {
		t.Errorf("answer %s", answer)
	}
	if got := len(b.messages("")); got != 0 {
		t.Errorf("%d messages are left", got)
	}
	b.mustSend(mailTo("bob@example.test"), letter)
	if got := len(b.messages("")); got != 1 {
		t.Errorf("%d messages after the emptying", got)
	}
}

func TestBadRequestsGetASentence(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	long := strings.Repeat("a", 64)
	for _, request := range []struct{ method, path, body, want string }{
		{"GET", "/sandbox/messages?limit=0", "", "from 1 to 1000"},
		{"GET", "/sandbox/messages?limit=1001", "", "from 1 to 1000"},
		{"GET", "/sandbox/messages?limit=many", "", "from 1 to 1000"},
		{"PUT", "/sandbox/dns", "", "JSON"},
		{"PUT", "/sandbox/dns", "[]", "JSON"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT","values":"x"}`, "JSON"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT","values":["` + strings.Repeat("x", 2<<20) + `"]}`, "JSON"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT"}`, "values is missing"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"AXFR","values":["x"]}`, "not known"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"","values":["x"]}`, "not known"},
		{"PUT", "/sandbox/dns", `{"name":"","type":"TXT","values":["x"]}`, "not a domain name"},
		{"PUT", "/sandbox/dns", `{"name":"a..test","type":"TXT","values":["x"]}`, "not a domain name"},
		{"PUT", "/sandbox/dns", `{"name":"*.test","type":"TXT","values":["x"]}`, "not a domain name"},
		{"PUT", "/sandbox/dns", `{"name":"` + long + `.test","type":"TXT","values":["x"]}`, "too long"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"A","values":["one"]}`, "127.0.0.1"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"MX","values":["mx.a.test"]}`, "10 mx.example.test"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"CNAME","values":["b.test\nc.test. 0 IN A 127.0.0.1"]}`, "not allowed"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"CNAME","values":["( b.test"]}`, "host.example.test"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT","values":[""]}`, "1 to 4096 bytes"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT","values":["` + strings.Repeat("x", 4097) + `"]}`, "1 to 4096 bytes"},
		{"PUT", "/sandbox/dns", `{"name":"a.test","type":"TXT","values":[` + strings.Repeat(`"x",`, 100) + `"x"]}`, "101 values"},
		{"DELETE", "/sandbox/dns", "", "not a domain name"},
		{"DELETE", "/sandbox/dns?name=a.test&type=NONE", "", "not known"},
		{"POST", "/sandbox/domains/no_domain/publish", "", "not a domain"},
	} {
		status, answer := b.call(request.method, request.path, request.body)
		var refusal struct {
			Error struct{ Code, Message string }
		}
		err := json.Unmarshal([]byte(answer), &refusal)
		if status != http.StatusBadRequest || err != nil || refusal.Error.Code != "validation_error" || !strings.Contains(refusal.Error.Message, request.want) {
			t.Errorf("%s %s %.80s: %d %s, want %q", request.method, request.path, request.body, status, answer, request.want)
		}
	}
	if status, _ := b.call("GET", "/sandbox/messages/unknown", ""); status != http.StatusNotFound {
		t.Errorf("an unknown message: %d", status)
	}
}

func TestPublishingADomainPublishesAllItsRecords(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	if status, _ := b.call("POST", "/sandbox/domains/acme.test/publish", ""); status != http.StatusServiceUnavailable {
		t.Errorf("before the product runs: %d", status)
	}
	records := map[string][]sandbox.Record{"acme.test": {
		{Type: "TXT", Name: "acme.test", Value: "v=spf1 include:spf." + serviceDomain + " ~all"},
		{Type: "MX", Name: "acme.test", Value: "mx1." + serviceDomain, Priority: 10},
		{Type: "MX", Name: "acme.test", Value: "mx2." + serviceDomain, Priority: 20},
		{Type: "CNAME", Name: "bounce.acme.test", Value: "bounces." + serviceDomain},
	}}
	err := b.Attach(sandbox.Product{RecordsOf: func(_ context.Context, domain string) ([]sandbox.Record, error) {
		if domain == "broken.test" {
			return nil, errors.New("secret trouble")
		}
		if records[domain] == nil {
			return nil, sandbox.ErrUnknownDomain
		}
		return records[domain], nil
	}})
	if err != nil {
		t.Fatal(err)
	}

	b.mustCall("POST", "/sandbox/domains/Acme.test/publish", "")

	want := `{"name":"acme.test","type":"MX","values":["10 mx1.mail.postrider.test","20 mx2.mail.postrider.test"]},` +
		`{"name":"acme.test","type":"TXT","values":["v=spf1 include:spf.mail.postrider.test ~all"]},` +
		`{"name":"bounce.acme.test","type":"CNAME","values":["bounces.mail.postrider.test"]},`
	if listed := b.mustCall("GET", "/sandbox/dns", ""); !strings.Contains(listed, want) || !strings.Contains(listed, `"spf.mail.postrider.test"`) {
		t.Errorf("listed %s", listed)
	}
	if status, _ := b.call("POST", "/sandbox/domains/other.test/publish", ""); status != http.StatusNotFound {
		t.Errorf("a domain nobody knows: %d", status)
	}
	if status, answer := b.call("POST", "/sandbox/domains/broken.test/publish", ""); status != http.StatusInternalServerError || strings.Contains(answer, "secret") {
		t.Errorf("trouble: %d %s", status, answer)
	}
	if err := b.Publish(t.Context(), "acme.test"); err != nil {
		t.Error(err)
	}
}

func TestThePageIsInert(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	get := func() (string, http.Header) {
		response := httptest.NewRecorder()
		b.doors.ServeHTTP(response, knock("GET", "/sandbox", ""))
		return response.Body.String(), response.Header()
	}
	if page, _ := get(); !strings.Contains(page, "Nothing yet.") {
		t.Errorf("empty: %s", page)
	}
	b.mustSend(mailTo("bob@example.test"), strings.Replace(letter, "Hello", "<script>alert(1)</script>", 1))

	page, header := get()

	if strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, "bob@example.test") {
		t.Errorf("page %s", page)
	}
	if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("policy %q", policy)
	}
}

func TestForeignPagesCannotUseTheDoors(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	request := knock("DELETE", "/sandbox/messages", "")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	response := httptest.NewRecorder()

	b.doors.ServeHTTP(response, request)

	if response.Code != http.StatusForbidden {
		t.Fatalf("status %d", response.Code)
	}
}

// A stranger's name that is pointed at this machine makes the stranger's page and the doors one origin.
func TestTheDoorsAreClosedToNamesThatStrangersCouldOwn(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	for host, want := range map[string]int{
		"127.0.0.1:8080": http.StatusOK, "[::1]:8080": http.StatusOK, "[::1]": http.StatusOK, "192.168.1.5": http.StatusOK, "localhost": http.StatusOK,
		"LOCALHOST:8080": http.StatusOK, "postrider:8080": http.StatusOK, "app.localhost": http.StatusOK, "mail.postrider.test": http.StatusOK,
		"host.docker.internal:8080": http.StatusOK, "localhost.": http.StatusOK,
		"evil.example.com": http.StatusMisdirectedRequest, "evil.example.com:8080": http.StatusMisdirectedRequest, "127.0.0.1.evil.com": http.StatusMisdirectedRequest,
		"localhost.evil.com.": http.StatusMisdirectedRequest, "eviltest.com": http.StatusMisdirectedRequest,
	} {
		request := knock("GET", "/sandbox/messages", "")
		request.Host = host
		response := httptest.NewRecorder()
		b.doors.ServeHTTP(response, request)
		if response.Code != want {
			t.Errorf("%s: %d %s", host, response.Code, response.Body)
		}
	}
}

package email_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

func TestEveryRuleOfASendNamesItsFieldAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const (
		twoLists  = "Must be a string or a list of strings."
		tooMany   = "At most 50 recipients are allowed in to, cc and bcc together."
		header    = "Must be at most 8 KB of text without line breaks or control characters, and without endless words."
		tag       = "Must be 1 to 256 letters, digits, underscores or hyphens."
		messageID = "Must have the form <local@domain>."
		within    = "Must be between 300 and 259200."
		metadata  = "Must have at most 50 keys and 4 KB."
		key       = "Must be 8 to 128 letters, digits, dots, underscores, colons or hyphens."
	)
	for name, c := range map[string]struct {
		change fields
		want   map[string]string
	}{
		"no sender":               {fields{"from": nil}, map[string]string{"from": "A sender is required."}},
		"blank sender":            {fields{"from": "  "}, map[string]string{"from": "A sender is required."}},
		"sender is no address":    {fields{"from": "hello"}, map[string]string{"from": "Invalid email address: the address needs an @ sign."}},
		"two senders":             {fields{"from": "a@acme.test, b@acme.test"}, map[string]string{"from": "Invalid email address: only one address is allowed."}},
		"sender is a number":      {fields{"from": 5}, map[string]string{"from": "Must be a string."}},
		"no recipient":            {fields{"to": nil}, map[string]string{"to": "At least one recipient is required."}},
		"empty recipient":         {fields{"to": ""}, map[string]string{"to": "At least one recipient is required."}},
		"empty list":              {fields{"to": []string{}}, map[string]string{"to": "At least one recipient is required."}},
		"recipients as object":    {fields{"to": fields{"email": "ann@example.net"}}, map[string]string{"to": twoLists}},
		"recipients as numbers":   {fields{"to": []int{5}}, map[string]string{"to": twoLists}},
		"second recipient":        {fields{"to": []string{"ann@example.net", "bob"}}, map[string]string{"to[1]": "Invalid email address: the address needs an @ sign."}},
		"bad address in a list":   {fields{"to": "ann@example.net, bob@"}, map[string]string{"to[0]": "Invalid email address: the domain is empty."}},
		"bad cc":                  {fields{"cc": "a@b@c.test"}, map[string]string{"cc[0]": "Invalid email address: the domain contains a character that is not allowed."}},
		"bad bcc":                 {fields{"bcc": []string{"bob@localhost"}}, map[string]string{"bcc[0]": "Invalid email address: the domain needs a dot."}},
		"bad reply_to":            {fields{"reply_to": "x"}, map[string]string{"reply_to[0]": "Invalid email address: the address needs an @ sign."}},
		"bad replyTo":             {fields{"replyTo": "x"}, map[string]string{"reply_to[0]": "Invalid email address: the address needs an @ sign."}},
		"51 recipients":           {fields{"to": many(51)}, map[string]string{"to": tooMany}},
		"51 in three lists":       {fields{"to": many(49), "cc": "c@example.net", "bcc": "b@example.net"}, map[string]string{"to": tooMany}},
		"11 reply addresses":      {fields{"reply_to": many(11)}, map[string]string{"reply_to": "At most 10 addresses are allowed."}},
		"no subject":              {fields{"subject": nil}, map[string]string{"subject": "A subject is required."}},
		"blank subject":           {fields{"subject": " \t "}, map[string]string{"subject": "A subject is required."}},
		"long subject":            {fields{"subject": strings.Repeat("é", 999)}, map[string]string{"subject": "Must have at most 998 characters."}},
		"subject of two lines":    {fields{"subject": "a\nb"}, map[string]string{"subject": "Must not contain line breaks or control characters."}},
		"no body":                 {fields{"text": nil}, map[string]string{"html": "One of html and text is required."}},
		"empty body":              {fields{"text": ""}, map[string]string{"html": "One of html and text is required."}},
		"html above 5 MB":         {fields{"html": strings.Repeat("x", 5<<20+1)}, map[string]string{"html": "Must have at most 5 MB."}},
		"text above 5 MB":         {fields{"text": strings.Repeat("x", 5<<20+1)}, map[string]string{"text": "Must have at most 5 MB."}},
		"header name with space":  {fields{"headers": fields{"X A": "1"}}, map[string]string{"headers.X A": "Not a valid header name."}},
		"header name with colon":  {fields{"headers": fields{"X:A": "1"}}, map[string]string{"headers.X:A": "Not a valid header name."}},
		"header without name":     {fields{"headers": fields{"": "1"}}, map[string]string{"headers.": "Not a valid header name."}},
		"header of two lines":     {fields{"headers": fields{"X-A": "1\r\nBcc: eve@evil.test"}}, map[string]string{"headers.X-A": header}},
		"header above 8 KB":       {fields{"headers": fields{"X-A": strings.Repeat("a b ", 2049)}}, map[string]string{"headers.X-A": header}},
		"header of a long blank":  {fields{"headers": fields{"X-A": "a" + strings.Repeat(" ", 1500) + "b"}}, map[string]string{"headers.X-A": header}},
		"header in two spellings": {fields{"headers": fields{"X-A": "1", "x-a": "2"}}, map[string]string{"headers.x-a": "It is given as X-A, too. Give it once."}},
		"no address in a header":  {fields{"headers": fields{"Reply-To": "Jürgen"}}, map[string]string{"headers.Reply-To": "Must be a list of email addresses: the address needs an @ sign."}},
		"link that is not ASCII":  {fields{"headers": fields{"List-Help": "<https://acme.test/ü>"}}, map[string]string{"headers.List-Help": "Must be ASCII: ids as <local@domain>, and links with everything else percent-encoded."}},
		"name that grows":         {fields{"to": "=?utf-8?B?" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(`"a`, 340))) + "?= <q@example.net>"}, map[string]string{"to[0]": "Invalid email address: the name is too long."}},
		"blank in a message id":   {fields{"message_id": "< a@acme.test>"}, map[string]string{"message_id": messageID}},
		"header is a number":      {fields{"headers": fields{"X-A": 5}}, map[string]string{"headers.X-A": "Must be a string."}},
		"51 headers":              {fields{"headers": numbered(51)}, map[string]string{"headers": "At most 50 headers are allowed."}},
		"reply-to twice": {fields{"reply_to": "a@acme.test", "headers": fields{"Reply-To": "b@acme.test"}},
			map[string]string{"headers.Reply-To": "Give it as reply_to or as a header, not as both."}},
		"21 tags":                 {fields{"tags": tags(21)}, map[string]string{"tags": "At most 20 tags are allowed."}},
		"tag without name":        {fields{"tags": []fields{{"value": "x"}}}, map[string]string{"tags[0].name": tag}},
		"tag with space":          {fields{"tags": []fields{{"name": "a", "value": "x"}, {"name": "b", "value": "x y"}}}, map[string]string{"tags[1].value": tag}},
		"tag above 256":           {fields{"tags": []fields{{"name": strings.Repeat("a", 257), "value": "x"}}}, map[string]string{"tags[0].name": tag}},
		"tags as text":            {fields{"tags": "x"}, map[string]string{"tags": "Must be a list."}},
		"metadata within":         {fields{"metadata": fields{"a": fields{}}}, map[string]string{"metadata.a": "Must be a string, a number, or true or false."}},
		"metadata of null":        {fields{"metadata": fields{"a": nil}}, map[string]string{"metadata.a": "Must be a string, a number, or true or false."}},
		"metadata as list":        {fields{"metadata": []int{1}}, map[string]string{"metadata": "Must be an object."}},
		"metadata of infinity":    {fields{"metadata": fields{"a": json.Number("1e999")}}, map[string]string{"metadata.a": "Must be a string, a number, or true or false."}},
		"metadata of 51 keys":     {fields{"metadata": numbered(51)}, map[string]string{"metadata": metadata}},
		"metadata above 4 KB":     {fields{"metadata": fields{"a": strings.Repeat("x", 4096)}}, map[string]string{"metadata": metadata}},
		"message id without ends": {fields{"message_id": "a@acme.test"}, map[string]string{"message_id": messageID}},
		"message id of two":       {fields{"message_id": "<a@acme.test> <b@acme.test>"}, map[string]string{"message_id": messageID}},
		"message id in umlauts":   {fields{"message_id": "<ü@acme.test>"}, map[string]string{"message_id": messageID}},
		"message id elsewhere":    {fields{"message_id": "<a@example.net>"}, map[string]string{"message_id": "Its domain must be the domain of the sender."}},
		"time is a word":          {fields{"scheduled_at": "tomorrow"}, map[string]string{"scheduled_at": `Must be an RFC 3339 time, or like "in 10 minutes".`}},
		"deliver within 299":      {fields{"deliver_within_sec": 299}, map[string]string{"deliver_within_sec": within}},
		"deliver within 259201":   {fields{"deliver_within_sec": 259201}, map[string]string{"deliver_within_sec": within}},
		"deliver within overflow": {fields{"deliver_within_sec": int64(18446744073 + 1000)}, map[string]string{"deliver_within_sec": within}},
		"deliver within a word":   {fields{"deliver_within_sec": "soon"}, map[string]string{"deliver_within_sec": "Must be a number."}},
		"tracking is a word":      {fields{"tracking": fields{"opens": "yes"}}, map[string]string{"tracking.opens": "Must be true or false."}},
		"short key":               {fields{"idempotency_key": "1234567"}, map[string]string{"idempotency_key": key}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := send(in, c.change)
			refused(t, answer, http.StatusBadRequest, "validation_error")
			if got := problems(answer); !maps.Equal(got, c.want) {
				t.Errorf("told of %q, want %q", got, c.want)
			}
		})
	}
	if list := rows(in.Call(http.MethodGet, "/emails", nil)); len(list) != 0 {
		t.Errorf("%d refused emails were stored", len(list))
	}
}

func TestSeveralWrongFieldsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	answer := in.Call(http.MethodPost, "/emails", fields{})
	refused(t, answer, http.StatusBadRequest, "validation_error")
	want := map[string]string{"from": "A sender is required.", "to": "At least one recipient is required.",
		"subject": "A subject is required.", "html": "One of html and text is required."}
	if got := problems(answer); !maps.Equal(got, want) {
		t.Errorf("told of %q", got)
	}
	if answer.Text("error", "message") != "The request has 4 invalid fields." {
		t.Errorf("error.message = %q", answer.Text("error", "message"))
	}
	if answer.Text("message") != "The request has 4 invalid fields. from: A sender is required." || answer.Text("name") != "validation_error" {
		t.Errorf("for older SDKs: %q %q", answer.Text("name"), answer.Text("message"))
	}
}

func TestHeadersOfTheServiceCannotBeGiven(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, name := range []string{"From", "To", "CC", "bcc", "Subject", "Date", "Message-ID", "Sender", "DKIM-Signature", "Received",
		"Return-Path", "Content-Type", "Content-Transfer-Encoding", "content-anything", "MIME-Version", "ARC-Seal", "Resent-From"} {
		answer := send(in, fields{"headers": fields{name: "x"}})
		if got := problems(answer)["headers."+name]; got != "This header is set by the service and cannot be given." {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
		}
	}
}

func TestBodiesThatAreNoObjectAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, body := range []string{`[]`, `"x"`, `{"from":`, `{"from":"a@acme.test"} {}`, "\xef\xbb\xbf{}", `{"to":"\x"}`, `nul`, "\x00",
		strings.Repeat("[", 100_000), `{"to":` + strings.Repeat(`[`, 100_000)} {
		answer := in.Call(http.MethodPost, "/emails", []byte(body))
		if answer.Status != http.StatusBadRequest || problems(answer)["_body"] == "" {
			t.Errorf("%.20q: %d %s", body, answer.Status, answer.Raw)
		}
	}
}

func TestLimitsThemselvesAreAllowed(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for name, change := range map[string]fields{
		"50 recipients":       {"to": many(50)},
		"10 reply addresses":  {"reply_to": many(10)},
		"998 letters":         {"subject": strings.Repeat("é", 998)},
		"one very long word":  {"subject": strings.Repeat("x", 998)},
		"50 headers":          {"headers": numbered(50)},
		"20 tags":             {"tags": tags(20)},
		"50 metadata keys":    {"metadata": numbered(50)},
		"html of 5 MB":        {"html": strings.Repeat("x", 5<<20)},
		"shortest patience":   {"deliver_within_sec": 300},
		"longest patience":    {"deliver_within_sec": 259200},
		"shortest key":        {"idempotency_key": "12345678"},
		"longest key":         {"idempotency_key": strings.Repeat("k", 128)},
		"message id":          {"message_id": "<order.42@acme.test>"},
		"30 days ahead":       {"scheduled_at": in.Clock.Now().Add(30*24*time.Hour - time.Minute).Format(time.RFC3339)},
		"empty optional text": {"html": "", "scheduled_at": "", "cc": "", "reply_to": "", "idempotency_key": "", "message_id": ""},
	} {
		if answer := send(in, change); answer.Status != http.StatusAccepted {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
		}
	}
}

func numbered(n int) fields {
	all := fields{}
	for i := range n {
		all[fmt.Sprintf("X-%d", i)] = "x"
	}
	return all
}

func tags(n int) []fields {
	list := make([]fields, n)
	for i := range list {
		list[i] = fields{"name": fmt.Sprintf("tag-%d", i), "value": "x"}
	}
	return list
}

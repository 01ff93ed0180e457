package inbound_test

import (
	"errors"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/product/plan"
)

// crlf ends lines as mail does.
func crlf(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n" }

// received returns the one message that has come.
func received(t *testing.T, in *apptest.Installation) apptest.Answer {
	t.Helper()
	list := in.Call(http.MethodGet, "/emails/receiving", nil)
	rows, _ := list.Body["data"].([]any)
	if list.Status != http.StatusOK || len(rows) != 1 {
		t.Fatalf("%d %s", list.Status, list.Raw)
	}
	row, _ := rows[0].(map[string]any)
	return one(t, in, row["id"].(string))
}

func one(t *testing.T, in *apptest.Installation, id string) apptest.Answer {
	t.Helper()
	answer := in.Call(http.MethodGet, "/emails/receiving/"+id, nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	return answer
}

const photo = "iVBORw0KGgoAAAANSUhEUg=="

// letter is a message as people write them: a text, a page with a picture in it, and a file.
var letter = crlf("From: Ann <ann@example.net>", "To: Support <support@acme.test>, Bob <bob@example.org>", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
	"Message-ID: <1@example.net>", "Date: Fri, 13 Nov 2026 10:00:00 +0000", "Authentication-Results: mx1.mail.postrider.test; dkim=pass header.d=bank.test",
	"MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=m", "",
	"--m", "Content-Type: multipart/related; boundary=r", "",
	"--r", "Content-Type: multipart/alternative; boundary=a", "",
	"--a", "Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: quoted-printable", "",
	"Vielen Dank f=FCr alles.", "", "On Mon, Ann wrote:", "> before", "",
	"--a", "Content-Type: text/html; charset=utf-8", "", `<p>Vielen Dank</p><img src="cid:pic@x">`, "--a--",
	"--r", "Content-Type: image/png", "Content-ID: <pic@x>", "Content-Transfer-Encoding: base64", "", photo, "--r--",
	"--m", "Content-Type: application/pdf", `Content-Disposition: attachment; filename="a b.pdf"`, "", "%PDF", "--m--")

func TestMailForADomainIsStoredAndReadBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		if err := offer(mx, "ann@example.net", "support@acme.test", letter); err != nil {
			t.Fatal(err)
		}
		before := received(t, in)
		if before.Body["authentication"] != nil || before.Body["spam"] != nil {
			t.Errorf("checked before it was checked: %s", before.Raw)
		}
		in.Receive()
		got := received(t, in)
		for path, want := range map[string]string{"object": "email", "direction": "inbound", "message_id": "<1@example.net>", "from": "Ann <ann@example.net>",
			"subject": "Grüße", "source": "smtp", "stripped_text": "Vielen Dank für alles.", "domain_id": in.DomainID, "thread_id": got.Text("id"),
			"to": "[Support <support@acme.test> Bob <bob@example.org>]", "received_for": "[support@acme.test]", "read": "false", "in_reply_to": "",
			"html": `<p>Vielen Dank</p><img src="data:image/png;base64,` + photo + `">`} {
			if got.Text(path) != want {
				t.Errorf("%s is %q, want %q", path, got.Text(path), want)
			}
		}
		if got.Text("authentication", "spf") == "" || got.Text("spam", "verdict") == "" || got.Text("envelope", "mail_from") != "ann@example.net" || got.Text("envelope", "tls") != "true" {
			t.Errorf("%s", got.Raw)
		}
		if got.Text("headers", "message-id") != "<1@example.net>" || !strings.Contains(got.Text("headers", "received"), "by mx1.mail.postrider.test with ESMTPS") {
			t.Errorf("headers: %s", got.Raw)
		}
		results := got.Text("headers", "authentication-results")
		if !strings.HasPrefix(results, "mx1.mail.postrider.test; spf=") || strings.Contains(results, "bank.test") {
			t.Errorf("a forged result was kept: %q", results)
		}
		if kept := in.Call(http.MethodGet, "/emails/receiving/"+got.Text("id")+"?html_format=cid", nil); !strings.Contains(kept.Text("html"), `src="cid:pic@x"`) {
			t.Errorf("%s", kept.Text("html"))
		}
		raw := string(in.Download(got.Text("raw", "download_url")))
		if !strings.HasPrefix(raw, "Return-Path: <ann@example.net>\r\nReceived: from ") || strings.Contains(raw, "bank.test") || !strings.HasSuffix(raw, "--m--\r\n") {
			t.Errorf("raw is %q", raw)
		}
	})
}

func TestFilesOfReceivedMailAreBehindLinks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", letter)
		id := received(t, in).Text("id")
		list := in.Call(http.MethodGet, "/emails/receiving/"+id+"/attachments", nil)
		files, _ := list.Body["data"].([]any)
		if len(files) != 2 || list.Text("total") != "2" {
			t.Fatalf("%s", list.Raw)
		}
		last, _ := files[1].(map[string]any)
		page := in.Call(http.MethodGet, "/emails/receiving/"+id+"/attachments?limit=1", nil)
		page = in.Call(http.MethodGet, "/emails/receiving/"+id+"/attachments?limit=1&cursor="+page.Text("next_cursor"), nil)
		if second, _ := page.Body["data"].([]any); len(second) != 1 || second[0].(map[string]any)["id"] != last["id"] || page.Text("next_cursor") != "" {
			t.Errorf("%s", page.Raw)
		}
		file := in.Call(http.MethodGet, "/emails/receiving/"+id+"/attachments/"+last["id"].(string), nil)
		if file.Text("filename") != "a b.pdf" || file.Text("content_type") != "application/pdf" || file.Text("content_disposition") != "attachment" || file.Text("size") != "4" {
			t.Errorf("%s", file.Raw)
		}
		if got := string(in.Download(file.Text("download_url"))); got != "%PDF" {
			t.Errorf("content is %q", got)
		}
		if inline, _ := files[0].(map[string]any); inline["content_disposition"] != "inline" || inline["content_id"] != "pic@x" {
			t.Errorf("%v", inline)
		}
		if answer := in.Call(http.MethodGet, "/emails/receiving/"+id+"/attachments/"+id, nil); answer.Status != http.StatusNotFound {
			t.Errorf("%d", answer.Status)
		}
	})
}

func TestOnlyDomainsThatReceiveAreTaken(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.MX()
	for _, to := range []string{"support@acme.test", "x@evil.test", "postmaster@acme.test"} {
		if err := offer(mx, "ann@example.net", to, "Subject: x\r\n\r\nx\r\n"); err == nil || !strings.HasPrefix(err.Error(), "550") {
			t.Errorf("%s: %v", to, err)
		}
	}
	in.Receiving()
	for _, to := range []string{"a%evil.test@acme.test", `"a@evil.test"@acme.test`, "a!b@acme.test"} {
		if err := offer(mx, "ann@example.net", to, "Subject: x\r\n\r\nx\r\n"); err == nil || !strings.HasPrefix(err.Error(), "550") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestADomainMustBeProvenBeforeItReceives(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.MX()
	made := in.Call(http.MethodPost, "/domains", map[string]any{"name": "fresh.test"})
	if err := in.Sandbox.Publish(t.Context(), "fresh.test"); err != nil {
		t.Fatal(err)
	}
	path := "/domains/" + made.Text("id")
	answer := in.Call(http.MethodPost, path+"/receiving", map[string]any{"enabled": true})
	if answer.Status != http.StatusConflict || answer.Text("error", "code") != "inbound_receiver_unhealthy" || !strings.Contains(string(answer.Raw), `"name":"domain","status":"fail"`) {
		t.Errorf("%d %s", answer.Status, answer.Raw)
	}
	if verified := in.Call(http.MethodPost, path+"/verify", nil); verified.Text("capabilities", "receiving") != "enabled" {
		t.Errorf("what was wished for did not come true: %s", verified.Raw)
	}
}

func TestMailFromNobodyWasSentByAProgram(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		for _, from := range []string{"ann@example.net", ""} {
			if err := offer(mx, from, "support@acme.test", note); err != nil {
				t.Fatal(err)
			}
			list, _ := in.Must(200, http.MethodGet, "/emails/receiving", nil).Body["data"].([]any)
			newest, _ := list[0].(fields)
			if newest["auto_submitted"] != (from == "") {
				t.Errorf("from %q: %v", from, newest["auto_submitted"])
			}
		}
	})
}

func TestALoopOfServersIsBroken(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	message := strings.Repeat("Received: from a by b; Fri, 13 Nov 2026 10:00:00 +0000\r\n", 101) + "Subject: x\r\n\r\nx\r\n"
	if err := offer(mx, "ann@example.net", "support@acme.test", message); err == nil || !strings.Contains(err.Error(), "5.4.6") {
		t.Error(err)
	}
}

func TestLargeMailIsTakenUpToTheLimit(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	line := strings.Repeat("x", 76) + "\r\n"
	large := "Subject: large\r\nContent-Type: application/octet-stream\r\n\r\n" + strings.Repeat(line, (30<<20)/len(line))
	if err := offer(mx, "ann@example.net", "support@acme.test", large); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	got := received(t, in)
	if got.Text("subject") != "large" || !strings.Contains(string(in.Download(got.Text("raw", "download_url"))), large) {
		t.Errorf("%.300s", got.Raw)
	}
	if err := offer(mx, "ann@example.net", "support@acme.test", large+strings.Repeat(line, (6<<20)/len(line))); err == nil || !strings.Contains(err.Error(), "5.3.4") {
		t.Error(err)
	}
}

func TestMailForPeopleOfSeveralWorkspacesIsSharedOut(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		ws, key := in.NewWorkspace(plan.Unlimited)
		id := in.VerifiedDomain(ws, "other.test")
		if on := in.CallAs(key, http.MethodPost, "/domains/"+id+"/receiving", fields{"enabled": true}, nil); on.Status != http.StatusOK {
			t.Fatalf("%s", on.Raw)
		}
		client, err := smtp.Dial(mx)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for _, err := range []error{client.Mail("ann@example.net"), client.Rcpt("a@acme.test"), client.Rcpt("A@ACME.test"), client.Rcpt("secret@other.test")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		body, err := client.Data()
		if err != nil {
			t.Fatal(err)
		}
		body.Write([]byte(note))
		if err := body.Close(); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		ours := received(t, in)
		if ours.Text("received_for") != "[a@acme.test]" || ours.Text("envelope", "rcpt_to") != "[a@acme.test]" || strings.Contains(string(ours.Raw), "secret@") {
			t.Errorf("%s", ours.Raw)
		}
		theirs := in.CallAs(key, http.MethodGet, "/emails/receiving", nil, nil)
		if theirs.Text("total") != "1" || !strings.Contains(string(theirs.Raw), "secret@other.test") || strings.Contains(string(theirs.Raw), "a@acme.test") {
			t.Errorf("%s", theirs.Raw)
		}
		row, _ := theirs.Body["data"].([]any)[0].(map[string]any)
		if stranger := in.Call(http.MethodGet, "/emails/receiving/"+row["id"].(string), nil); stranger.Status != http.StatusNotFound {
			t.Errorf("%d", stranger.Status)
		}
	})
}

func TestWhatCannotBeStoredIsNotTaken(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	_, back := sentTo(t, in, "ann@example.net")
	if err := in.App.DB.Close(); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"support@acme.test", back, "postmaster@mx1.mail.postrider.test"} {
		if err := offer(mx, "", to, bounce("ann@example.net", "failed", "5.1.1", "550")); err == nil || !strings.HasPrefix(err.Error(), "451") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// offerTo brings one message for several recipients, and returns how each was answered. It goes on with those that were taken.
func offerTo(t *testing.T, mx, message string, to ...string) []error {
	t.Helper()
	client, err := smtp.Dial(mx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Mail(""); err != nil {
		t.Fatal(err)
	}
	answers := make([]error, len(to))
	for i, recipient := range to {
		answers[i] = client.Rcpt(recipient)
	}
	body, err := client.Data()
	if err != nil {
		t.Fatal(err)
	}
	body.Write([]byte(message))
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	return answers
}

func TestAMessageIsForOneKindOfRecipient(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	id, back := sentTo(t, in, "ann@example.net")
	_, second := sentTo(t, in, "bob@example.net")
	operator, person := "postmaster@mail.postrider.test", "support@acme.test"
	rule(t, in, fields{"address": "pass@acme.test", "forward_to": "team@example.org", "mode": "passthrough"})
	if err := offer(mx, "ann@example.net", "pass@acme.test", note); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	in.Deliver()
	passed := in.Mailbox("team@example.org")[0].Envelope.From
	for _, pair := range [][]string{{person, back}, {back, person}, {back, second}, {back, operator}, {operator, back}, {person, operator}, {operator, person},
		{passed, person}, {person, passed}, {back, passed}, {passed, back}, {passed, operator}, {operator, passed}} {
		answers := offerTo(t, mx, strings.Replace(note, "Question", "Mixed", 1), pair...)
		if answers[0] != nil || answers[1] == nil || !strings.HasPrefix(answers[1].Error(), "452") {
			t.Errorf("%v: %v", pair, answers)
		}
	}
	in.Receive()
	list := in.Call(http.MethodGet, "/emails/receiving?search=mixed", nil)
	if found := letters(t, in); list.Text("total") != "3" || len(found) != 10 || in.Email(id).Text("status") != "delivered" {
		t.Errorf("%d for the operator, and %s", len(found), list.Raw)
	}
}

func TestMessagesOverOneConnectionHaveNothingInCommon(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		id, back := sentTo(t, in, "ann@example.net")
		client, err := smtp.Dial(mx)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		next := func(to, message string) {
			t.Helper()
			body, err := io.WriteCloser(nil), errors.Join(client.Mail("bob@example.net"), client.Rcpt(to))
			if err == nil {
				body, err = client.Data()
			}
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(body, message)
			if err := body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		next("first@acme.test", note)
		if err := errors.Join(client.Mail("bob@example.net"), client.Rcpt("forgotten@acme.test"), client.Reset()); err != nil {
			t.Fatal(err)
		}
		next(back, bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"))
		next("postmaster@mail.postrider.test", note)
		next("last@acme.test", note)
		in.Receive()
		list := in.Call(http.MethodGet, "/emails/receiving", nil)
		if got := list.Column("received_for"); got != "[last@acme.test] [first@acme.test]" {
			t.Errorf("mail for %s", got)
		}
		if kept := letters(t, in); len(kept) != 1 || in.Email(id).Text("status") != "bounced" {
			t.Errorf("%v, and the email is %s", kept, in.Email(id).Text("status"))
		}
	})
}

func TestEachDomainHasFilesOfItsOwn(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	other := in.VerifiedDomain(in.Workspace, "other.test")
	in.Must(http.StatusOK, http.MethodPost, "/domains/"+other+"/receiving", fields{"enabled": true})
	offerTo(t, mx, letter, "a@acme.test", "b@other.test")
	seen := map[string]bool{}
	for _, row := range in.Must(http.StatusOK, http.MethodGet, "/emails/receiving", nil).Body["data"].([]any) {
		id := row.(map[string]any)["id"].(string)
		for i, f := range in.Must(http.StatusOK, http.MethodGet, "/emails/receiving/"+id+"/attachments", nil).Body["data"].([]any) {
			file := f.(map[string]any)
			single := in.Must(http.StatusOK, http.MethodGet, "/emails/receiving/"+id+"/attachments/"+file["id"].(string), nil)
			if got := string(in.Download(single.Text("download_url"))); seen[single.Text("id")] || (i == 1) != (got == "%PDF") {
				t.Errorf("%s is %q", single.Raw, got)
			}
			seen[single.Text("id")] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%v", seen)
	}
}

func TestTheNameOfAFileNamesNoPlace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for name, want := range map[string]string{"../../etc/passwd": "passwd", `C:\\Windows\\a.ini`: "a.ini", "a/..": "part-1", "/": "part-1", "plain.txt": "plain.txt"} {
			raw := crlf("From: ann@example.net", "MIME-Version: 1.0", "Content-Type: application/octet-stream", `Content-Disposition: attachment; filename="`+name+`"`, "", "x")
			came := in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": raw, "to": []string{"support@acme.test"}})
			if file, _ := came.Body["attachments"].([]any)[0].(map[string]any); file["filename"] != want {
				t.Errorf("%s is %s", name, file["filename"])
			}
		}
	})
}

func TestAFileIsWhatItSaysItIs(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	hand(t, in.Receiving(), "support@acme.test", crlf("From: ann@example.net", "Subject: Files", "Content-Type: multipart/mixed; boundary=m", "",
		"--m", "Content-Type: application/pdf", "Content-ID: <f_1>", `Content-Disposition: Attachment; filename="a.pdf"`, "", "x",
		"--m", "Content-Type: application/pdf", `Content-Disposition: inline; filename="b.pdf"`, "", "x",
		"--m", "Content-Type: image/png", "Content-ID: <c>", "", "x",
		"--m", "Content-Type: image/png", "", "x", "--m--"))
	var said []string
	for _, f := range received(t, in).Body["attachments"].([]any) {
		said = append(said, f.(map[string]any)["content_disposition"].(string))
	}
	if got := strings.Join(said, " "); got != "attachment inline inline attachment" {
		t.Error(got)
	}
}

package inbound_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
)

// letters are what the operator finds.
func letters(t *testing.T, in *apptest.Installation) []map[string]any {
	t.Helper()
	recorder := httptest.NewRecorder()
	in.App.Inbound.OperatorHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/operator/mail", nil))
	var found []map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func count(t *testing.T, in *apptest.Installation, query string, args ...any) int64 {
	t.Helper()
	var n int64
	err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int64], query, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// packed is a mail with a report in it, as providers send them.
func packed(t *testing.T, subject, kind, name, file, domain string) string {
	t.Helper()
	raw, err := os.ReadFile("../../mail/report/testdata/statistics/" + file)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("Acme.test"), []byte(domain)), []byte("acme.test"), []byte(domain))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(raw)
	w.Close()
	return crlf("From: noreply-dmarc@example.net", "To: dmarc@mail.postrider.test", "Subject: "+subject, "MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=b", "",
		"--b", "", "Here it is.", "--b", "Content-Type: "+kind, `Content-Disposition: attachment; filename="`+name+`"`, "Content-Transfer-Encoding: base64", "",
		base64.StdEncoding.EncodeToString(packed.Bytes()), "--b--")
}

func TestStatisticsOfOtherProvidersAreStoredOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.MX()
		dmarc := packed(t, "Report Domain: acme.test", "application/gzip", "example.net!acme.test!1!2.xml.gz", "dmarc.xml", "acme.test")
		tls := packed(t, "Report Domain: acme.test", "application/tlsrpt+gzip", "example.net!acme.test!1!2.json.gz", "tls.json", "acme.test")
		for range 2 {
			if err := offer(mx, "noreply-dmarc@example.net", "dmarc@mail.postrider.test", dmarc); err != nil {
				t.Fatal(err)
			}
			if err := offer(mx, "tls@example.net", "tlsrpt@mail.postrider.test", tls); err != nil {
				t.Fatal(err)
			}
			in.Receive()
		}
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_dmarc_report WHERE domain = 'acme.test' AND messages > 0 AND proven = FALSE`); n != 1 {
			t.Errorf("%d reports about DMARC", n)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_tls_report WHERE domain = 'acme.test' AND successful > 0`); n != 1 {
			t.Errorf("%d reports about TLS", n)
		}
		if left := letters(t, in); len(left) != 0 {
			t.Errorf("%v", left)
		}
		other := packed(t, "Report Domain: other.test", "application/gzip", "example.net!other.test!1!2.xml.gz", "dmarc.xml", "other.test")
		if err := offer(mx, "noreply-dmarc@example.net", "dmarc@mail.postrider.test", other); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		if left := letters(t, in); len(left) != 1 || left[0]["kind"] != "dmarc" {
			t.Errorf("a report about nobody's domain: %v", left)
		}
	})
}

func TestWhatSaysNothingOfUseIsKeptForTheOperator(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		_, back := sentTo(t, in, "ann@example.net")
		mx := in.MX()
		hand(t, mx, back, "Subject: Re: Hello\r\n\r\nThanks!\r\n")
		hand(t, mx, back, "Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nAway.\r\n")
		hand(t, mx, back, bounce("ann@example.net", "failed", "5.1.1", "550 5.1.1 no such user"))
		if err := offer(mx, "someone@example.net", "postmaster@mx1.mail.postrider.test", "Subject: Trouble\r\n\r\nHelp\r\n"); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		found := letters(t, in)
		if len(found) != 2 || found[0]["subject"] != "Trouble" || found[0]["kind"] != "ordinary" || found[1]["subject"] != "Re: Hello" || found[1]["kind"] != "ordinary" {
			t.Errorf("%v", found)
		}
	})
}

func TestReceivedMailIsToldOf(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		if err := offer(in.Receiving(), "ann@example.net", "support@acme.test", letter); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		id := received(t, in).Text("id")
		var data string
		err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			data, err = db.One(tx, db.Value[string], `SELECT data FROM event WHERE type = 'email.received' AND subject_id = $1`, id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"email_id":"` + id + `"`, `"received_for":["support@acme.test"]`, `"subject":"Grüße"`, `"authentication":{"spf":`, `"filename":"a b.pdf"`, `"in_reply_to_email_id":null`} {
			if !strings.Contains(data, want) {
				t.Errorf("no %s in %s", want, data)
			}
		}
	})
}

func TestHealthTellsWhetherMailWouldArrive(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		status := func() apptest.Answer { return in.Call(http.MethodGet, "/emails/receiving/health", nil) }
		if got := status(); got.Text("status") != "disabled" || got.Text("receiver", "listening") != "false" {
			t.Errorf("%s", got.Raw)
		}
		in.Receiving()
		got := status()
		row, _ := got.Body["domains"].([]any)[0].(map[string]any)
		if got.Text("status") != "healthy" || got.Text("receiver", "starttls") != "true" || got.Text("receiver", "hostname") != "mx1.mail.postrider.test" || row["status"] != "ready" || row["receiving"] != "enabled" {
			t.Errorf("%s", got.Raw)
		}
		in.Clock.Advance(1e12)
		if got := status(); got.Text("status") != "unhealthy" {
			t.Errorf("%s", got.Raw)
		}
	})
}

func TestTextsAreToldOnlyToThoseWhoAsked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		newest := func() string {
			t.Helper()
			if err := offer(mx, "ann@example.net", "support@acme.test", letter); err != nil {
				t.Fatal(err)
			}
			in.Receive()
			var data string
			err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				data, err = db.One(tx, db.Value[string], `SELECT data FROM event WHERE type = 'email.received' ORDER BY seq DESC LIMIT 1`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		if data := newest(); strings.Contains(data, "Vielen Dank") {
			t.Errorf("%s", data)
		}
		in.Call(http.MethodPost, "/webhooks", map[string]any{"url": "https://app.example.com/", "events": []string{"email.received"}, "include_body": true})
		if data := newest(); !strings.Contains(data, `"text":"Vielen Dank für alles.`) || !strings.Contains(data, `"html":"\u003cp\u003eVielen Dank`) {
			t.Errorf("%s", data)
		}
	})
}

package inbound_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestMailOfAManagedCustomerSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		customer := in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants", fields{"external_id": "shop", "name": "Shop"}).Text("id")
		domain := in.Must(http.StatusCreated, http.MethodPost, "/managed-tenants/"+customer+"/domains", fields{"domain": "shop.test"}).Text("id")
		if err := in.Sandbox.Publish(t.Context(), "shop.test"); err != nil {
			t.Fatal(err)
		}
		in.Must(http.StatusOK, http.MethodPost, "/domains/"+domain+"/verify", nil)
		in.Must(http.StatusOK, http.MethodPost, "/domains/"+domain+"/receiving", fields{"enabled": true})
		hand(t, mx, "desk@shop.test", note)
		in.Receive()
		if got := received(t, in); got.Text("managed_tenant_id") != customer || got.Text("domain_id") != domain {
			t.Errorf("%s", got.Raw)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM event WHERE type = 'email.received' AND tenant_id = $1 AND domain_id = $2`, customer, domain); n != 1 {
			t.Errorf("%d events say so", n)
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

func TestHealthTellsOfACertificateThatEndsAndOfADoorThatWasClosed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Receiving()
		after := func(days int) string {
			t.Helper()
			in.Clock.Advance(time.Duration(days) * 24 * time.Hour)
			step(t, in.App.Inbound.Beat)
			return in.Call(http.MethodGet, "/emails/receiving/health", nil).Text("status")
		}
		if got := []string{after(350), after(10), after(10)}; !slices.Equal(got, []string{"healthy", "degraded", "unhealthy"}) { // it lasts a year
			t.Errorf("%v", got)
		}
		if err := in.App.Inbound.Closed(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := after(0); got != "disabled" {
			t.Errorf("after closing: %s", got)
		}
	})
}

func TestADoorWithoutEncryptionIsNoneToReceiveAt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.MX()
		in.App.Inbound.Opened(&net.TCPAddr{Port: 25}, nil)
		step(t, in.App.Inbound.Beat)
		answer := in.Call(http.MethodPost, "/domains/"+in.DomainID+"/receiving", fields{"enabled": true})
		if answer.Status != http.StatusConflict || answer.Text("error", "code") != "inbound_receiver_unhealthy" ||
			!strings.Contains(string(answer.Raw), "does not offer STARTTLS") {
			t.Errorf("%d %s", answer.Status, answer.Raw)
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

func TestAReportThatCannotBeReadIsTakenOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		endless := "X-Long: x\r\n" + strings.Repeat(" "+strings.Repeat("x", 900)+"\r\n", 1200)
		hand(t, in.MX(), back, strings.Replace(bounce("ann@example.net", "failed", "5.1.1", "550"), "--b\r\n\r\n", "--b\r\n"+endless+"\r\n", 1))
		if found := letters(t, in); len(found) != 1 || found[0]["kind"] != "ordinary" || in.Email(id).Text("status") != "delivered" {
			t.Errorf("%v", found)
		}
	})
}

func TestAComplaintToTheInstallationReachesTheEmailItIsAbout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		other, forged := sentTo(t, in, "bob@example.net")
		local, host, _ := strings.Cut(forged, "@")
		for _, from := range []string{back, local[:len(local)-2] + "zz@" + host} {
			hand(t, in.MX(), "abuse@mail.postrider.test", strings.Replace(complaint("redacted@example.net"), "Version: 1\r\n", "Version: 1\r\nOriginal-Mail-From: <"+from+">\r\n", 1))
		}
		in.Receive()
		if got := in.Email(id).Text("status"); got != "complained" {
			t.Errorf("the email is %s", got)
		}
		if got := in.Email(other).Text("status"); got != "delivered" {
			t.Errorf("a forgery made it %s", got)
		}
		if found := letters(t, in); len(found) != 2 || found[0]["kind"] != "feedback" {
			t.Errorf("%v", found)
		}
	})
}

func TestAComplaintThatCannotBeReadNowIsReadLater(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := sentTo(t, in, "ann@example.net")
		story := strings.Repeat("\r\nSomebody did not want this, and says so at length.", 4000)
		large := strings.Replace(complaint("ann@example.net"), "\r\nComplaint.", story, 1)
		hand(t, in.MX(), "abuse@mail.postrider.test", strings.Replace(large, "Version: 1\r\n", "Version: 1\r\nOriginal-Mail-From: <"+back+">\r\n", 1))
		step(t, otherNode(t, in).OperatorStep) // has none of the large messages
		in.Clock.Advance(time.Minute)
		in.Receive()
		if got := in.Email(id).Text("status"); got != "complained" {
			t.Errorf("the email is %s, and the operator finds %v", got, letters(t, in))
		}
	})
}

func TestAComplaintToTheInstallationThatOvertakesTheRecordOfItsMessageIsReadAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id, back := underWay(t, in, "ann@example.net")
		hand(t, in.MX(), "abuse@mail.postrider.test", strings.Replace(complaint("ann@example.net"), "Version: 1\r\n", "Version: 1\r\nOriginal-Mail-From: <"+back+">\r\n", 1))
		in.Receive()
		in.Deliver()
		in.Clock.Advance(time.Minute)
		in.Receive()
		if got := in.Email(id).Text("status"); got != "complained" {
			t.Errorf("the email is %s, and the operator finds %v", got, letters(t, in))
		}
	})
}

func TestAReportWhoseSenderIsWhoItSaysIsProven(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		report := packed(t, "Report Domain: acme.test", "application/gzip", "example.net!acme.test!1!2.xml.gz", "dmarc.xml", "acme.test")
		report = strings.Replace(report, "noreply-dmarc@example.net", "reports@acme.test", 1)
		if err := offer(in.MX(), "reports@acme.test", "dmarc@mail.postrider.test", report); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		n := count(t, in, `SELECT COUNT(*) FROM inbound_dmarc_report WHERE domain = 'acme.test' AND messages = 42 AND passed = 42 AND proven = TRUE`)
		if n != 1 {
			t.Errorf("%d reports", n)
		}
	})
}

func TestAReportThatIsProvenStays(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.MX()
		send := func() {
			t.Helper()
			hand(t, mx, "dmarc@mail.postrider.test", packed(t, "Report Domain: acme.test", "application/gzip", "example.net!acme.test!1!2.xml.gz", "dmarc.xml", "acme.test"))
			hand(t, mx, "tlsrpt@mail.postrider.test", packed(t, "Report Domain: acme.test", "application/tlsrpt+gzip", "example.net!acme.test!1!2.json.gz", "tls.json", "acme.test"))
			in.Receive()
		}
		send()
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE inbound_dmarc_report SET proven = TRUE, messages = 1234`)
			if err == nil {
				_, err = tx.Exec(`UPDATE inbound_tls_report SET proven = TRUE, successful = 1234`)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		send()
		if dmarc, tls := count(t, in, `SELECT messages FROM inbound_dmarc_report`), count(t, in, `SELECT successful FROM inbound_tls_report`); dmarc != 1234 || tls != 1234 {
			t.Errorf("%d and %d: a stranger's report took its place", dmarc, tls)
		}
	})
}

func TestAForeignServerIsPreferredOnlyIfItsNumberIsLower(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Receiving()
	for values, want := range map[string]string{
		"10 a.other.test,10 mx1.mail.postrider.test,10 z.other.test": "ready",
		"9 a.other.test,10 mx1.mail.postrider.test":                  "mx_not_preferred",
		"11 a.other.test,10 mx2.mail.postrider.test":                 "ready",
		"10 a.other.test": "mx_mismatch",
	} {
		in.Publish("acme.test", "MX", strings.Split(values, ",")...)
		got := in.Call(http.MethodGet, "/emails/receiving/health", nil)
		if row, _ := got.Body["domains"].([]any)[0].(map[string]any); row["status"] != want {
			t.Errorf("%s: %s", values, got.Raw)
		}
	}
}

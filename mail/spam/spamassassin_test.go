package spam_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/spam"
)

const saReport = `Spam detection software, running on the system "vm",
has identified this incoming email as possible spam.

Content preview:  Hello
 pts rule name              description
---- ---------------------- --------------------------------------------------
 9.9 FORGED_RULE            This row is quoted from the message

Content analysis details:   (5.3 points, 5.0 required)

 pts rule name              description
---- ---------------------- --------------------------------------------------
-0.0 NO_RECEIVED            Informational: message has no Received headers
 2.8 DRUG_ED_CAPS           BODY: Mentions an E.D. drug
 1.0 ADVANCE_FEE_2_NEW_MONEY Advance Fee fraud and lots of money
 0.2 NORMAL_HTTP_TO_IP      URI: URI host has a public dotted-decimal IPv4
                            address
-1.0 ALL_TRUSTED            Passed through trusted hosts only via SMTP
1000 GTUBE                  BODY: Generic Test for Unsolicited Bulk Email

`

const saHeaders = "SPAMD/1.1 0 EX_OK\r\nSpam: False ; 1.0 / 5.0\r\n\r\nReceived: from localhost\r\n" +
	"X-Spam-Checker-Version: SpamAssassin 4.0.1 (2024-03-25) on vm\r\n\r\n"

func saAnswer(verdict string) string {
	return fmt.Sprintf("SPAMD/1.1 0 EX_OK\r\nContent-length: %d\r\nSpam: %s\r\n\r\n%strailing bytes", len(saReport), verdict, saReport)
}

func TestSpamAssassinIsToldInOurShape(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{replies: []string{saAnswer("True ; 5.3 / 5.0"), saHeaders}}
	engine := &spam.SpamAssassin{Address: "127.0.0.1:783", User: "post\r\nrider", Dialer: daemon, Clock: stopped{}}
	m := ordinary()
	m.Raw = []byte(goodHeader + "\r\nraw body\r\n")
	m.Authentication.SPF = "none"

	got, err := engine.Check(context.Background(), m)

	want := spam.Result{
		Score: 5.3, Threshold: 5, MaxScore: 10, Sendable: false, Verdict: spam.Spam,
		Rules: []spam.Hit{
			{ID: "GTUBE", Category: "engine", Severity: "critical", Score: 1000, Description: "BODY: Generic Test for Unsolicited Bulk Email."},
			{ID: "DRUG_ED_CAPS", Category: "engine", Severity: "critical", Score: 2.8, Description: "BODY: Mentions an E.D. drug."},
			{ID: "ADVANCE_FEE_2_NEW_MONEY", Category: "engine", Severity: "warning", Score: 1, Description: "Advance Fee fraud and lots of money."},
			{ID: "NORMAL_HTTP_TO_IP", Category: "engine", Severity: "info", Score: 0.2, Description: "URI: URI host has a public dotted-decimal IPv4 address."},
			{ID: "ALL_TRUSTED", Category: "engine", Severity: "info", Score: -1, Description: "Passed through trusted hosts only via SMTP."},
			{ID: "SPF_NONE", Category: "authentication", Severity: "warning", Score: 0, Description: "The domain has no SPF record."},
		},
		Recommendations: []spam.Recommendation{
			{Code: "fix_spf", Message: "Publish the SPF record that the domain's page shows.", RuleIDs: []string{"SPF_NONE"}},
		},
		Authentication: m.Authentication, Engine: "spamassassin", EngineVersion: "4.0.1",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if want := fmt.Sprintf("REPORT SPAMC/1.5\r\nContent-length: %d\r\nUser: postrider\r\n\r\n%s", len(m.Raw), m.Raw); daemon.question(0) != want {
		t.Fatalf("asked %q", daemon.question(0))
	}
}

func TestTheThresholdOfSpamAssassinBecomesOurs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		says    string
		score   float64
		verdict spam.Verdict
	}{
		{"False ; 4.0 / 8.0", 2.5, spam.Review},
		{"False ; -3.1 / 5.0", 0, spam.OK},
		{"True ; 3.0 / 5.0", 5, spam.Spam}, // a rule may make mail spam whatever the points
		{"Yes ; 1007.9 / 5.0", 10, spam.Spam},
	} {
		daemon := &fakeDaemon{replies: []string{saAnswer(test.says), saHeaders}}

		got, err := (&spam.SpamAssassin{Address: "h:1", Dialer: daemon, Clock: stopped{}}).Check(context.Background(), ordinary())

		if err != nil || got.Score != test.score || got.Verdict != test.verdict || got.Threshold != spam.Threshold {
			t.Errorf("%s: %v %s (%v), want %v %s", test.says, got.Score, got.Verdict, err, test.score, test.verdict)
		}
	}
}

func TestTheVersionOfSpamAssassinIsAskedForOnce(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{replies: []string{saAnswer("False ; 1.0 / 5.0"), "no answer", saAnswer("False ; 1.0 / 5.0"), saHeaders, saAnswer("False ; 1.0 / 5.0")}}
	engine := &spam.SpamAssassin{Address: "h:1", Dialer: daemon, Clock: stopped{}}
	var versions []string
	for range 3 {
		got, err := engine.Check(context.Background(), ordinary())
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, got.EngineVersion)
	}
	if strings.Join(versions, ",") != ",4.0.1,4.0.1" || len(daemon.asked) != 5 {
		t.Fatalf("%q in %d questions", versions, len(daemon.asked))
	}
}

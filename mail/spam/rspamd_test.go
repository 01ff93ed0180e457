package spam_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/spam"
)

const rspamdAnswer = "HTTP/1.1 200 OK\r\nServer: rspamd/3.4\r\nContent-Type: application/json\r\n\r\n" + `{"is_skipped":false,"score":4.2,
"required_score":15.0,"action":"greylist","symbols":{
"MIME_GOOD":{"name":"MIME_GOOD","score":-0.1},
"HTTP_TO_IP":{"name":"HTTP_TO_IP","score":3.0,"description":"Anchor points to\n an IP address."},
"SUBJECT_HAS_CURRENCY":{"name":"SUBJECT_HAS_CURRENCY","score":1.2,"description":"Money?","options":["x"]},
"FROM_HAS_DN":{"name":"FROM_HAS_DN","score":0.0,"description":"From header has a display name"}},"urls":["1.2.3.4"]}`

func TestRspamdIsToldInOurScale(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{replies: []string{rspamdAnswer}}
	engine := spam.Rspamd{Address: "/run/rspamd.sock", Password: "q1", Dialer: daemon, Clock: stopped{}}
	m := ordinary()
	m.Subject = ""

	got, err := engine.Check(context.Background(), m)

	want := spam.Result{
		Score: 3.5, Threshold: 5, MaxScore: 10, Sendable: true, Verdict: spam.Review,
		Rules: []spam.Hit{
			{ID: "HTTP_TO_IP", Category: "engine", Severity: "critical", Score: 2.5, Description: "Anchor points to an IP address."},
			{ID: "SUBJECT_HAS_CURRENCY", Category: "engine", Severity: "warning", Score: 1, Description: "Money?"},
			{ID: "MIME_GOOD", Category: "engine", Severity: "info", Score: -0.08, Description: "The rule has no description."},
			{ID: "SUBJECT_EMPTY", Category: "subject", Severity: "warning", Score: 0, Description: "The subject is empty."},
		},
		Recommendations: []spam.Recommendation{{
			Code: "rewrite_subject", Message: "Write a short, plain subject in normal case that says what the message is about.", RuleIDs: []string{"SUBJECT_EMPTY"},
		}},
		Authentication: m.Authentication, Engine: "rspamd", EngineVersion: "3.4",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	question := daemon.question(0)
	for _, part := range []string{
		"POST /checkv2 HTTP/1.1\r\n", "Password: q1\r\n", "Pass: all\r\n", "\r\nFrom: ann@acme.com\r\n", "Rcpt: bob@example.net\r\n",
		"Date: Sat, 14 Nov 2026 09:12:00 +0000\r\n", "multipart/alternative", "Hello Bob, the printer",
	} {
		if !strings.Contains(question, part) {
			t.Errorf("%q is missing in %s", part, question)
		}
	}
}

func TestRspamdIsSentTheRawMessageIfThereIsOne(t *testing.T) {
	t.Parallel()
	daemon := &fakeDaemon{replies: []string{rspamdAnswer}}
	m := ordinary()
	m.Raw = []byte(goodHeader + "\r\nraw body\r\n")

	_, err := spam.Rspamd{Address: "h:1", Dialer: daemon, Clock: stopped{}}.Check(context.Background(), m)

	if err != nil || !strings.HasSuffix(daemon.question(0), "\r\n\r\n"+string(m.Raw)) {
		t.Fatal(err, daemon.question(0))
	}
}

func TestTheThresholdOfRspamdBecomesOurs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer    string
		spamScore float64
		score     float64
		verdict   spam.Verdict
	}{
		{`{"score":6,"action":"add header"}`, 0, 5, spam.Spam},
		{`{"score":6,"action":"no action"}`, 12, 2.5, spam.Review},
		{`{"score":6,"action":"no action","thresholds":{"reject":30,"add header":20,"greylist":null}}`, 12, 1.5, spam.OK},
		{`{"score":1,"action":"reject"}`, 0, 5, spam.Spam},
		{`{"score":1,"action":"soft reject"}`, 0, 0.8, spam.OK},
		{`{"score":-7.5,"action":"no action"}`, 0, 0, spam.OK},
		{`{"score":1e300,"action":"reject","symbols":{"A":{"score":1e308}}}`, 0, 10, spam.Spam},
	} {
		daemon := &fakeDaemon{replies: []string{"HTTP/1.1 200 OK\r\n\r\n" + test.answer}}

		got, err := spam.Rspamd{Address: "h:1", Dialer: daemon, Clock: stopped{}, SpamScore: test.spamScore}.Check(context.Background(), ordinary())

		if err != nil || got.Score != test.score || got.Verdict != test.verdict || got.Threshold != spam.Threshold {
			t.Errorf("%s: %v %s (%v), want %v %s", test.answer, got.Score, got.Verdict, err, test.score, test.verdict)
		}
	}
}

package report_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"postrider/mail/report"
	"postrider/mail/smtp"
)

func TestRealRepliesAreUnderstood(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/replies.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[report.Category]bool{}
	for number, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		column := strings.SplitN(line, "\t", 5)
		if len(column) != 5 {
			t.Fatalf("line %d has %d columns", number+1, len(column))
		}
		code, err := strconv.Atoi(column[0])
		if err != nil {
			t.Fatalf("line %d: %v", number+1, err)
		}
		class, category, text := report.Class(column[2]), report.Category(column[3]), column[4]
		for _, r := range []report.Reply{
			{Code: code, Stage: smtp.Stage(column[1]), Text: text},
			{Code: code, Stage: smtp.Stage(column[1]), Text: text, Enhanced: report.ParseEnhanced(text)},
			{Code: code, Stage: smtp.Stage(column[1]), Text: strings.ToUpper(text)},
		} {
			v := report.Classify(r)
			if v.Class != class || v.Category != category {
				t.Errorf("line %d: %+v is %s %s, want %s %s", number+1, r, v.Class, v.Category, class, category)
			}
			if v.Suppress != (class == report.Hard) {
				t.Errorf("line %d: suppress %t for %s", number+1, v.Suppress, class)
			}
		}
		seen[category] = true
	}
	for _, c := range []report.Category{
		report.NoMailbox, report.NoDomain, report.BadAddress, report.MailboxDisabled, report.MailboxFull, report.TooLarge,
		report.ServerError, report.ServerBusy, report.Network, report.RecipientRejected, report.Expired, report.Protocol,
		report.ContentRejected, report.AttachmentRejected, report.Reputation, report.Authentication, report.RateLimited,
		report.Greylisted, report.Policy, report.Unknown,
	} {
		if !seen[c] {
			t.Errorf("no reply stands for %s", c)
		}
	}
}

func TestVerdictsSpeakTheWordsOfOtherServices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply         report.Reply
		kind, subType string
	}{
		{report.Reply{Code: 550, Enhanced: "5.1.1"}, "Permanent", "NoEmail"},
		{report.Reply{Code: 550, Enhanced: "5.1.2"}, "Permanent", "NoEmail"},
		{report.Reply{Code: 550, Enhanced: "5.2.1"}, "Permanent", "General"},
		{report.Reply{Code: 552, Enhanced: "5.2.2"}, "Transient", "MailboxFull"},
		{report.Reply{Code: 552, Enhanced: "5.3.4"}, "Permanent", "MessageTooLarge"},
		{report.Reply{Code: 554, Enhanced: "5.6.0"}, "Permanent", "ContentRejected"},
		{report.Reply{Code: 554, Enhanced: "5.7.1", Text: "spam"}, "Permanent", "ContentRejected"},
		{report.Reply{Code: 554, Text: "virus found"}, "Permanent", "AttachmentRejected"},
		{report.Reply{Code: 421, Enhanced: "4.7.0"}, "Transient", "General"},
		{report.Reply{Code: 550, Stage: smtp.StageRcptTo}, "Undetermined", "Undetermined"},
		{report.Reply{Code: 450}, "Undetermined", "Undetermined"},
	} {
		v := report.Classify(c.reply)
		if v.Type != c.kind || v.SubType != c.subType {
			t.Errorf("%+v is %s %s, want %s %s", c.reply, v.Type, v.SubType, c.kind, c.subType)
		}
	}
}

func TestATemporaryReplyIsSoftWhateverItSays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"5.1.1 user unknown", "4.1.1 user unknown", "spamhaus", "virus", "5.7.26 dmarc", "4.99.99", "", "\xff"} {
		for _, code := range []int{400, 421, 450, 451, 452, 455, 499} {
			v := report.Classify(report.Reply{Code: code, Text: text, Stage: smtp.StageRcptTo})
			if v.Class != report.Soft || v.Suppress {
				t.Errorf("%d %q is %s", code, text, v.Class)
			}
		}
	}
}

func TestEnhancedCodesAreFoundAndNumbersAreNot(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"5.1.1 User unknown":                     "5.1.1",
		"550 5.1.1 User unknown":                 "5.1.1",
		"550-5.7.26 This mail has been blocked":  "5.7.26",
		"5.7.1":                                  "5.7.1",
		"5.7.1.":                                 "5.7.1",
		"5.7.1. Denied":                          "5.7.1",
		"<5.1.1> x":                              "5.1.1",
		"550 #5.1.0 Address rejected.":           "5.1.0",
		"no mailbox here by that name. (#5.1.1)": "5.1.1",
		"2.0.0 OK":                               "2.0.0",
		"4.7.500 Server busy":                    "4.7.500",
		"":                                       "",
		"User unknown":                           "",
		"5.1.1.7 is listed":                      "",
		"550 5.9.10.2 listed":                    "",
		"Exim 4.97.1 says no":                    "",
		"3.1.1 x":                                "",
		"5.1 x":                                  "",
		"5.1.1234 x":                             "",
		"see 5.1.1":                              "",
	} {
		if got := report.ParseEnhanced(text); got != want {
			t.Errorf("ParseEnhanced(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestServersMayAskForAnHourAtMost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Greylisted, please try again in 300 seconds": 5 * time.Minute,
		"try again in 4 minutes":                      4 * time.Minute,
		"Try again after 1 minute.":                   time.Minute,
		"please wait 90s":                             90 * time.Second,
		"You have been greylisted for 5 min":          5 * time.Minute,
		"retry in at least 10 mins":                   10 * time.Minute,
		"RETRY AFTER 30 SECS":                         30 * time.Second,
		"try again in 7200 seconds":                   time.Hour,
		"try again in 999999 minutes":                 time.Hour,
		"":                                            0,
		"try again later":                             0,
		"try again in 0 seconds":                      0,
		"you sent 100 messages per 60 minutes":        0,
		"error 451 in 3 servers":                      0,
		"deferred for 12 messages":                    0,
		"in 99999999999999999999 seconds":             0,
		"see http://postgrey.example.test/help/example.test.html after 5x": 0,
	} {
		got, ok := report.RetryHint(text)
		if got != want || ok != (want > 0) {
			t.Errorf("RetryHint(%q) = %s, %t; want %s", text, got, ok, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(550, "5.1.1", "user unknown", "rcpt_to")
	f.Add(0, "", "5.1.1", "")
	f.Add(-1, "5..", "#5.1.1", "data")
	f.Fuzz(func(t *testing.T, code int, enhanced, text, stage string) {
		v := report.Classify(report.Reply{Code: code, Enhanced: enhanced, Text: text, Stage: smtp.Stage(stage)})
		if v.Class == "" || v.Category == "" || v.Type == "" || v.SubType == "" || v.Suppress != (v.Class == report.Hard) {
			t.Fatalf("verdict %+v is not whole", v)
		}
		if d, ok := report.RetryHint(text); ok != (d > 0) || d > time.Hour {
			t.Fatalf("hint %s, %t", d, ok)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	r := report.Reply{Code: 550, Text: "550 5.7.1 Something the rules do not know, at some length, to be read to its end", Stage: smtp.StageRcptTo}
	for b.Loop() {
		report.Classify(r)
	}
}

func TestWhatIsSaidBeforeTheRecipientIsNamedIsNotHeldAgainstIt(t *testing.T) {
	t.Parallel()
	for stage, want := range map[smtp.Stage]report.Class{smtp.StageBanner: report.Soft, smtp.StageEHLO: report.Soft, smtp.StageStartTLS: report.Soft,
		smtp.StageMailFrom: report.Block, smtp.StageRcptTo: report.Hard, smtp.StageEndOfData: report.Hard} {
		v := report.Classify(report.Reply{Code: 550, Enhanced: "5.1.1", Text: "User unknown", Stage: stage})
		if v.Class != want || v.Suppress != (want == report.Hard) {
			t.Errorf("%s: %+v", stage, v)
		}
	}
}

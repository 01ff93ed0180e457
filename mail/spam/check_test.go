package spam_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/spam"
)

func TestAResultTellsScoreRulesAndWhatToDo(t *testing.T) {
	t.Parallel()
	m := ordinary()
	m.Subject = "THE PRINTER WORKS AGAIN!!"
	m.Text = ""

	got := spam.Check(m)

	want := spam.Result{
		Score: 3.3, Threshold: 5, MaxScore: 10, Sendable: true, Verdict: spam.Review,
		Rules: []spam.Hit{
			{ID: "SUBJECT_ALL_CAPS", Category: "subject", Severity: "warning", Score: 1.5, Description: "The subject is written in capital letters."},
			{ID: "SUBJECT_PUNCTUATION", Category: "subject", Severity: "warning", Score: 1, Description: "The subject has several exclamation or question marks."},
			{ID: "HTML_NO_TEXT_PART", Category: "structure", Severity: "info", Score: 0.8, Description: "There is no plain-text part."},
		},
		Recommendations: []spam.Recommendation{
			{Code: "rewrite_subject", Message: "Write a short, plain subject in normal case that says what the message is about.",
				RuleIDs: []string{"SUBJECT_ALL_CAPS", "SUBJECT_PUNCTUATION"}},
			{Code: "add_text_part", Message: "Add a plain-text body.", RuleIDs: []string{"HTML_NO_TEXT_PART"}},
		},
		Authentication: m.Authentication, Engine: "builtin", EngineVersion: "3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestVerdictFollowsTheScore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change   change
		score    float64
		verdict  spam.Verdict
		sendable bool
	}{
		{subject("Hi"), 0, spam.OK, true},
		{subject("Hello ALL!!"), 1, spam.OK, true},
		{from("Ann Lee"), 2, spam.Review, true},
		{says("I recorded you and hacked your device."), 4, spam.Review, true},
		{html(`<script></script><iframe></iframe><object></object>`), 6.5, spam.Spam, false},
		{proof(func(a *spam.Authentication) { a.Verified = false }), 2, spam.Review, false},
		{html(`<script></script><iframe></iframe><object></object><a href="javascript:x">a</a><form></form>`), 10, spam.Spam, false},
	} {
		m := ordinary()
		test.change(&m)

		got := spam.Check(m)

		if got.Score != test.score || got.Verdict != test.verdict || got.Sendable != test.sendable {
			t.Errorf("%.1f %s sendable %t, want %.1f %s %t:%s", got.Score, got.Verdict, got.Sendable, test.score, test.verdict, test.sendable, told(got))
		}
	}
}

func TestAnEmptyMessageHasAResultWithoutNilSlices(t *testing.T) {
	t.Parallel()
	for _, m := range []spam.Message{{}, ordinary()} {
		if got := spam.Check(m); got.Rules == nil || got.Recommendations == nil {
			t.Errorf("%+v", got)
		}
	}
}

func TestTheBuiltinEngineIsCheck(t *testing.T) {
	t.Parallel()
	var engine spam.Engine = spam.Builtin{}

	got, err := engine.Check(context.Background(), ordinary())

	if diff := cmp.Diff(spam.Check(ordinary()), got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
}

func TestPhrasesAreHeardOnceHoweverOftenTheyAreSaid(t *testing.T) {
	t.Parallel()
	once, often := ordinary(), ordinary()
	says("Act now.")(&once)
	says(strings.Repeat("Act now. ", 50))(&often)
	if a, b := spam.Check(once).Score, spam.Check(often).Score; a != b || a == 0 {
		t.Fatalf("once %.1f, often %.1f", a, b)
	}
}

func TestPhrasesAreHeardThroughMarkupAndDisguise(t *testing.T) {
	t.Parallel()
	for _, markup := range []string{
		"<p>VIAGRA</p>", "<p>Vi<b>ag</b>ra</p>", "<p>vi<!-- x -->agra</p>", "<p>v&#105;agra</p>", "<p>vi&shy;agra</p>", "<p>vіаgrа</p>",
		"<p>v1agr4</p>", "<p>𝐯𝐢𝐚𝐠𝐫𝐚</p>", "<p>ｖｉａｇｒａ</p>", "<p>vi\u200bagra</p>",
	} {
		m := ordinary()
		html(markup)(&m)
		if !applies(m, "PHRASES_PHARMACY") {
			t.Errorf("%q was not heard", markup)
		}
	}
}

func TestWhatPeopleReadIsWellFormed(t *testing.T) {
	t.Parallel()
	id, code := regexp.MustCompile(`^[A-Z][A-Z_]*[A-Z]$`), regexp.MustCompile(`^[a-z][a-z_]*[a-z]$`)
	sentence := regexp.MustCompile(`^[A-Z][^\n]{10,}\.$`)
	messages := map[string]string{}
	for _, r := range spam.Rules() {
		if !id.MatchString(r.ID) || !code.MatchString(r.Code) || !sentence.MatchString(r.Description) || !sentence.MatchString(r.Advice) {
			t.Errorf("%+v", r)
		}
		if r.Severity != spam.Info && r.Severity != spam.Warning && r.Severity != spam.Critical || r.Score <= 0 || r.Score > spam.MaxScore {
			t.Errorf("%s: severity %q, score %v", r.ID, r.Severity, r.Score)
		}
		if known := messages[r.Code]; known != "" && known != r.Advice {
			t.Errorf("%s has two messages: %q and %q", r.Code, known, r.Advice)
		}
		messages[r.Code] = r.Advice
	}
}

package web

import (
	"net/http"
	"slices"
	"strings"
)

// spamCheckPage judges a message as the filters of receivers would, before it is sent.
type spamCheckPage struct {
	shell
	From, Subject, HTML, Text string
	// Bulk tells that it goes to many, with the headers that broadcasts carry.
	Bulk   bool
	Result *spamResult
	// About is what the message was taken from.
	About crumb
	// Kept are the other values of the composer that it came from, to go back with; Composed tells that it came from there.
	Kept     []keptValue
	Composed bool
	Problem  *problem
}

// spamResult is the judgement.
type spamResult struct {
	State            string
	Sentence         string
	Score, Threshold string
	// Share is how far the score is on the way to the highest one, and Mark where mail becomes spam, in percent.
	Share, Mark float64
	Rules       []spamRule
	Proofs      []verdict
	Domain      string
	Verified    bool
	Engine      string
}

// spamRule is one thing that speaks against a message, or for it, and what can be done about it.
type spamRule struct {
	State, Text, Points, Name string
	Advice                    []string
}

// spamRecord is the judgement as the API tells it.
type spamRecord struct {
	Score     float64
	Threshold float64
	MaxScore  float64 `json:"max_score"`
	Verdict   string
	Rules     []struct {
		ID, Category, Severity, Description string
		Score                               float64
	}
	Recommendations []struct {
		Message string
		RuleIDs []string `json:"rule_ids"`
	}
	Authentication struct {
		Domain           string
		Verified         bool
		SPF, DKIM, DMARC string
	}
	Engine string
}

func (v *visit) newSpamCheck() spamCheckPage {
	return spamCheckPage{shell: v.shell("Spam check", "emails").under(crumb{"Emails", v.link("emails")}).with("inbox.css", "check.css")}
}

// showSpamCheck begins with nothing, or judges at once what the address names: an email, a template or a broadcast.
func showSpamCheck(v *visit) error {
	p := v.newSpamCheck()
	for name, take := range map[string]func(string, *spamCheckPage) error{"email": v.takeEmail, "template": v.takeTemplate, "broadcast": v.takeBroadcast} {
		if id := v.query(name); id != "" {
			if err := take(id, &p); err != nil {
				return err
			}
			return v.judgeSpam(p)
		}
	}
	senders, err := v.knownSenders()
	if err != nil {
		return err
	}
	if len(senders) > 0 {
		p.From = "hello@" + senders[0]
	}
	return v.show("emails/check", p)
}

func checkSpam(v *visit) error {
	p := v.newSpamCheck()
	p.From, p.Subject, p.HTML, p.Text, p.Bulk = v.value("from"), v.value("subject"), newlines(v.value("html")), newlines(v.value("text")), v.checked("bulk")
	if _, composed := v.form["to"]; composed {
		p.Composed = true
		p.Kept = slices.DeleteFunc(kept(v.form), func(k keptValue) bool {
			return slices.Contains([]string{"from", "subject", "html", "text", "bulk", "do"}, k.Name)
		})
	}
	return v.judgeSpam(p)
}

// judgeSpam draws the page with the judgement, or with why there is none.
func (v *visit) judgeSpam(p spamCheckPage) error {
	result, err := v.spamOf(p)
	if refused := refusal(err); refused != nil {
		p.Problem = refused
		return v.showStatus(refused.Status, "emails/check", p)
	}
	if err != nil {
		return err
	}
	p.Result = result
	return v.show("emails/check", p)
}

// bulkHeaders are those that every mail of a broadcast carries, for the judge to see.
var bulkHeaders = map[string]string{"List-Unsubscribe": "<https://example.com/unsubscribe>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}

// spamOf asks for the judgement.
func (v *visit) spamOf(p spamCheckPage) (*spamResult, error) {
	body := map[string]any{"from": p.From, "subject": p.Subject, "html": p.HTML, "text": p.Text}
	if p.Bulk {
		body["headers"] = bulkHeaders
	}
	var said spamRecord
	if err := v.send(http.MethodPost, "/v1/emails/spam-check", body, &said); err != nil {
		return nil, err
	}
	return v.spamResult(said), nil
}

// spamSentences say what a verdict means, without promising what no filter promises.
var spamSentences = map[string]string{
	"ok":     "Nothing much speaks against it. Where it lands also depends on your domain's reputation.",
	"review": "Some filters may take offence. See what can be changed below.",
	"spam":   "Many filters would take it for spam. Change what costs most before you send it.",
}

func (v *visit) spamResult(said spamRecord) *spamResult {
	highest := max(said.MaxScore, said.Threshold, 1)
	r := &spamResult{State: "spam_" + said.Verdict, Sentence: spamSentences[said.Verdict], Score: v.score(said.Score), Threshold: v.score(said.Threshold),
		Share: 100 * min(max(said.Score, 0)/highest, 1), Mark: 100 * said.Threshold / highest, Domain: said.Authentication.Domain, Verified: said.Authentication.Verified,
		Engine: words(said.Engine)}
	if said.Engine == "builtin" {
		r.Engine = "the rules that come with Postrider"
	}
	for _, rule := range said.Rules {
		row := spamRule{State: rule.Severity, Text: visible(rule.Description), Points: v.score(rule.Score), Name: rule.ID}
		for _, advice := range said.Recommendations {
			if slices.Contains(advice.RuleIDs, rule.ID) {
				row.Advice = append(row.Advice, visible(advice.Message))
			}
		}
		r.Rules = append(r.Rules, row)
	}
	for _, proof := range []struct{ name, result string }{{"SPF", said.Authentication.SPF}, {"DKIM", said.Authentication.DKIM}, {"DMARC", said.Authentication.DMARC}} {
		one := newVerdict(proof.name, proof.result)
		one.Detail = proofTexts[proof.name]
		if one.State == "info" {
			one.Text = "Not found"
		}
		r.Proofs = append(r.Proofs, one)
	}
	return r
}

// proofTexts say what a check of a domain's records is good for.
var proofTexts = map[string]string{
	"SPF":   "Names the servers that may send for the domain.",
	"DKIM":  "Signs the mail, so that receivers know that it was not changed.",
	"DMARC": "Says what to do with mail that proves neither.",
}

// score writes points.
func (v *visit) score(score float64) string { return v.printer().Sprintf("%.1f", score) }

// takeEmail takes the message of an email that exists.
func (v *visit) takeEmail(id string, p *spamCheckPage) error {
	var e emailDetail
	if err := v.get(apiPath("emails", id), nil, &e); err != nil {
		return err
	}
	p.From, p.Subject, p.HTML, p.Text = e.From, e.Subject, e.HTML, e.Text
	_, p.Bulk = e.Headers["List-Unsubscribe"]
	p.About = crumb{"the email “" + visible(e.Subject) + "”", v.link("emails", id)}
	return nil
}

// takeTemplate makes a message of a template's draft, with invented values.
func (v *visit) takeTemplate(id string, p *spamCheckPage) error {
	var t templateRecord
	if err := v.get(apiPath("templates", id), nil, &t); err != nil {
		return err
	}
	source := t.latest()
	report, err := v.templateReport(source, sampleJSON(sampleValues(source.Subject, source.PreviewText, source.HTML, source.Text)), false)
	if err != nil {
		return err
	}
	p.From, p.Subject, p.HTML, p.Text = source.From, report.Subject, report.HTML, report.Text
	p.About = crumb{"the template “" + visible(t.Name) + "”, with sample values", v.link("templates", id, "edit")}
	if strings.TrimSpace(p.From) == "" {
		senders, err := v.knownSenders()
		if err != nil {
			return err
		}
		if len(senders) > 0 {
			p.From = "hello@" + senders[0]
		}
	}
	return nil
}

// takeBroadcast makes the message that one of those reads whom a broadcast is for.
func (v *visit) takeBroadcast(id string, p *spamCheckPage) error {
	b, err := v.readBroadcast(id)
	if err != nil {
		return err
	}
	reader, err := v.sampleContact(b, "")
	if err != nil {
		return err
	}
	values, err := v.valuesOf(reader, b)
	if err != nil {
		return err
	}
	r, err := v.render(b, values)
	if err != nil {
		return err
	}
	p.From, p.Subject, p.HTML, p.Text, p.Bulk = b.From, r.Subject, r.HTML, r.Text, true
	to := v.link("broadcasts", id)
	if b.open() {
		to = v.link("broadcasts", id, "edit")
	}
	p.About = crumb{"the broadcast “" + b.title() + "”, as " + visible(reader.Email) + " reads it", to}
	return nil
}

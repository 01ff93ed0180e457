package email

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"postrider/mail/address"
	"postrider/mail/spam"
	"postrider/platform/api"
	"postrider/product/domain"
)

func (s *Service) spamCheckRoute() api.Route {
	return api.Route{Method: http.MethodPost, Path: "/emails/spam-check", Scope: "email:send", Bucket: api.BucketSpamCheck, MaxBody: 16 << 20, Errors: []*api.Error{api.ErrDomainNotAllowed},
		Summary: "Find out how much an email looks like spam, and what to do about it. Nothing is sent or kept.", Handler: api.Handle(s.handleSpamCheck)}
}

type spamCheckBody struct {
	From    string            `json:"from" doc:"Sender, plain or as Name <address>." example:"Acme <hello@acme.test>"`
	To      api.Strings       `json:"to"`
	Subject string            `json:"subject" example:"Welcome"`
	HTML    string            `json:"html" example:"<p>Hi Ann</p>"`
	Text    string            `json:"text" example:"Hi Ann"`
	Headers map[string]string `json:"headers"`
}

// check notes what keeps an email from being judged at all. Everything else is for the judge to say.
func (b spamCheckBody) check() error {
	var wrong api.Fields
	if _, err := address.Parse(b.From); err != nil {
		wrong.Add("from", invalidAddress(err))
	}
	if b.HTML == "" && b.Text == "" {
		wrong.Add("html", "One of html and text is required.")
	}
	checkSize(&wrong, map[string]string{"html": b.HTML, "text": b.Text})
	if len([]rune(b.Subject)) > maxSubject || !isOneLine(b.Subject) {
		wrong.Add("subject", "Must be one line of at most 998 characters.")
	}
	if len(b.Headers) > maxHeaders {
		wrong.Add("headers", fmt.Sprintf("At most %d headers are allowed.", maxHeaders))
	}
	return wrong.Err()
}

type spamCheckRecord struct {
	Object          string               `json:"object" example:"spam_check"`
	Score           float64              `json:"score" example:"2.3"`
	Threshold       float64              `json:"threshold" example:"5"`
	MaxScore        float64              `json:"max_score" example:"10"`
	Sendable        bool                 `json:"sendable" example:"true"`
	Verdict         spam.Verdict         `json:"verdict" example:"review"`
	Rules           []spamRule           `json:"rules"`
	Recommendations []spamRecommendation `json:"recommendations"`
	Authentication  spamAuthentication   `json:"authentication"`
	Engine          string               `json:"engine" example:"builtin"`
	EngineVersion   string               `json:"engine_version" example:"1"`
	CheckedAt       api.Time             `json:"checked_at"`
}

type spamRule struct {
	ID          string        `json:"id" example:"SUBJECT_ALL_CAPS"`
	Category    string        `json:"category" example:"subject"`
	Severity    spam.Severity `json:"severity" example:"warning"`
	Score       float64       `json:"score" example:"1.5"`
	Description string        `json:"description" example:"The subject is written in capital letters."`
}

type spamRecommendation struct {
	Code    string   `json:"code" example:"rewrite_subject"`
	Message string   `json:"message" example:"Use normal case in the subject."`
	RuleIDs []string `json:"rule_ids" example:"[\"SUBJECT_ALL_CAPS\"]"`
}

type spamAuthentication struct {
	Domain   string `json:"domain" example:"acme.test"`
	Verified bool   `json:"verified" example:"true"`
	SPF      string `json:"spf" example:"pass"`
	DKIM     string `json:"dkim" example:"pass"`
	DMARC    string `json:"dmarc" example:"pass"`
}

func (s *Service) handleSpamCheck(ctx context.Context, caller api.Caller, r struct{ Body spamCheckBody }) (spamCheckRecord, error) {
	if err := r.Body.check(); err != nil {
		return spamCheckRecord{}, err
	}
	result, err := s.CheckSpam(ctx, caller, spam.Message{From: r.Body.From, To: r.Body.To, Subject: r.Body.Subject,
		HTML: r.Body.HTML, Text: r.Body.Text, Headers: r.Body.Headers})
	if err != nil {
		return spamCheckRecord{}, err
	}
	return s.newSpamCheckRecord(result), nil
}

// CheckSpam judges a message that the caller might send. If the operator's daemon does not answer, the built-in engine does.
func (s *Service) CheckSpam(ctx context.Context, caller api.Caller, m spam.Message) (spam.Result, error) {
	from, err := address.Parse(m.From)
	if err != nil {
		return spam.Result{}, api.Invalid("from", invalidAddress(err))
	}
	if m.Authentication, err = s.authenticationOf(ctx, caller, from.Domain); err != nil {
		return spam.Result{}, err
	}
	result, err := s.spam.Check(ctx, m)
	if errors.Is(err, spam.ErrDaemon) {
		s.world.Log.Warn("spam daemon does not answer; the built-in engine does", "error", err)
		return spam.Check(m), nil
	}
	return result, err
}

// authenticationOf tells what mail from the domain would prove. A domain of somebody else proves nothing here.
func (s *Service) authenticationOf(ctx context.Context, caller api.Caller, name string) (spam.Authentication, error) {
	d, err := s.domains.ByName(ctx, caller.Workspace, name)
	if errors.Is(err, domain.ErrNotYours) {
		return spam.Authentication{Domain: name, SPF: "none", DKIM: "none", DMARC: "none"}, nil
	}
	if err == nil && !caller.MayUseDomain(string(d.ID)) {
		return spam.Authentication{}, api.DomainNotAllowed(name)
	}
	return spam.Authentication{Domain: name, Verified: d.Sendable(), SPF: resultWord(d.Checks.SPF), DKIM: resultWord(d.Checks.DKIM),
		DMARC: resultWord(d.Checks.DMARC)}, err
}

// resultWord says the result of a check of records as a receiving server would.
func resultWord(c domain.Check) string {
	switch c.Status {
	case domain.CheckPass:
		return "pass"
	case domain.CheckMissing, domain.CheckNotChecked:
		return "none"
	case domain.CheckDNSError:
		return "temperror"
	}
	return "fail"
}

func (s *Service) newSpamCheckRecord(r spam.Result) spamCheckRecord {
	record := spamCheckRecord{Object: "spam_check", Score: r.Score, Threshold: r.Threshold, MaxScore: r.MaxScore, Sendable: r.Sendable, Verdict: r.Verdict,
		Rules: []spamRule{}, Recommendations: []spamRecommendation{}, Authentication: spamAuthentication(r.Authentication), Engine: r.Engine,
		EngineVersion: r.EngineVersion, CheckedAt: api.Time(s.world.Clock.Now())}
	for _, hit := range r.Rules {
		record.Rules = append(record.Rules, spamRule{ID: hit.ID, Category: string(hit.Category), Severity: hit.Severity, Score: hit.Score, Description: hit.Description})
	}
	for _, advice := range r.Recommendations {
		record.Recommendations = append(record.Recommendations, spamRecommendation{Code: advice.Code, Message: advice.Message, RuleIDs: advice.RuleIDs})
	}
	return record
}

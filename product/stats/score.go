package stats

import (
	"context"
	"math"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// Limits of good mail. Mailbox providers publish the one for complaints; the one for bounces is what most services suspend at.
const (
	bounceLimit    = 0.04
	complaintLimit = 0.001
	// worstBounces and worstComplaints are where nothing is left of a score.
	worstBounces    = 0.10
	worstComplaints = 0.003
)

const (
	// fewSent is how much mail it takes to judge a provider by rates; of less, only a refusal tells something.
	fewSent = 20
	// slowDeferrals and poorDelivery are the rates from which on something is wrong with a provider, blockedRate with us there.
	slowDeferrals = 0.20
	poorDelivery  = 0.95
	blockedRate   = 0.05
	// maxDomains is how many domains the scorecard lists.
	maxDomains = 200
)

// scorecard is the answer to how well mail arrives. It is told of whole days in UTC.
type scorecard struct {
	Object     string           `json:"object" example:"stats_deliverability"`
	Days       int              `json:"days" example:"30"`
	Score      int              `json:"score" example:"92"`
	Grade      string           `json:"grade" example:"A"`
	Components []component      `json:"components"`
	Providers  []providerRecord `json:"providers"`
	Domains    []domainAuth     `json:"domains"`
	Thresholds thresholds       `json:"thresholds"`
	// Installation is how the servers stand that all mail leaves from; the worst comes first.
	Installation []Check  `json:"installation"`
	Actions      []action `json:"actions"`
}

// component is one part of the score; the weights add up to 100.
type component struct {
	Key    string `json:"key" example:"authentication"`
	Score  int    `json:"score" example:"100"`
	Weight int    `json:"weight" example:"30"`
}

type thresholds struct {
	Bounce    float64 `json:"bounce_rate" example:"0.04"`
	Complaint float64 `json:"complaint_rate" example:"0.001"`
}

// health is how a mailbox provider treats our mail.
type health string

const (
	healthy  health = "healthy"
	degraded health = "degraded"
	blocked  health = "blocked"
)

type providerRecord struct {
	ISP       string   `json:"isp" example:"google"`
	Status    health   `json:"status" example:"healthy"`
	Delivery  float64  `json:"delivery_rate" example:"0.998"`
	Deferral  float64  `json:"deferral_rate" example:"0.015"`
	Block     float64  `json:"block_rate" example:"0"`
	LastBlock api.Time `json:"last_block"`
	sent      int64
}

func newProvider(r ispRow) providerRecord {
	p := providerRecord{ISP: r.isp, Status: healthy, Delivery: rate(r.delivered, r.sent), Deferral: rate(r.deferred, r.sent), Block: rate(r.blocked, r.sent),
		LastBlock: api.Time(r.lastBlock), sent: r.sent}
	switch {
	case r.sent < fewSent:
		if r.blocked > 0 {
			p.Status = degraded
		}
	case p.Block >= blockedRate:
		p.Status = blocked
	case p.Delivery < poorDelivery || p.Deferral > slowDeferrals:
		p.Status = degraded
	}
	return p
}

type domainAuth struct {
	ID         string `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Domain     string `json:"domain" example:"acme.com"`
	SPF        string `json:"spf" example:"pass"`
	DKIM       string `json:"dkim" example:"pass"`
	DMARC      string `json:"dmarc" example:"pass"`
	Policy     string `json:"dmarc_policy" example:"none"`
	ReturnPath string `json:"return_path" example:"pass"`
	Alignment  string `json:"alignment" example:"pass"`
	// DMARCReports and TLSReports sum up what other providers have reported; null if none has.
	DMARCReports *dmarcDigest `json:"dmarc_reports"`
	TLSReports   *tlsDigest   `json:"tls_reports"`
}

type dmarcDigest struct {
	Reports  int64   `json:"reports" example:"42"`
	Messages int64   `json:"messages" example:"9900"`
	Passed   int64   `json:"passed" example:"9890"`
	PassRate float64 `json:"pass_rate" example:"0.999"`
}

type tlsDigest struct {
	Reports     int64   `json:"reports" example:"30"`
	Sessions    int64   `json:"sessions" example:"1200"`
	Failed      int64   `json:"failed" example:"0"`
	FailureRate float64 `json:"failure_rate" example:"0"`
}

const (
	pass = "pass"
	// silent is what a look at DNS has shown that got no answer.
	silent = "dns_error"
)

// stands tells whether a record of the domain counts as published. Name servers that do not answer say nothing about the records of a domain
// that was proven, and its owner has nothing to publish.
func (d Domain) stands(status string) bool {
	return status == pass || status == silent && !d.VerifiedAt.IsZero()
}

// newDomainAuth also tells whether receivers see the sender's domain proven: by its signature, or by the return path (RFC 7489 §3.1).
func newDomainAuth(d Domain) domainAuth {
	a := domainAuth{ID: d.ID, Domain: d.Name, SPF: d.SPF, DKIM: d.DKIM, DMARC: d.DMARC, Policy: d.Policy, ReturnPath: d.ReturnPath, Alignment: "fail"}
	if r := d.Reports; r.DMARC > 0 {
		a.DMARCReports = &dmarcDigest{r.DMARC, r.Messages, r.Passed, rate(r.Passed, r.Messages)}
	}
	if r := d.Reports; r.TLS > 0 {
		a.TLSReports = &tlsDigest{r.TLS, r.Sessions, r.Failed, rate(r.Failed, r.Sessions)}
	}
	if d.stands(d.DKIM) || d.stands(d.SPF) && d.stands(d.ReturnPath) {
		a.Alignment = pass
	}
	return a
}

// score weighs the records of a domain by what receivers make of them.
func (d Domain) score() float64 {
	points := 0.0
	for _, record := range []struct {
		status string
		weight float64
	}{{d.DKIM, 40}, {d.SPF, 30}, {d.DMARC, 20}, {d.ReturnPath, 10}} {
		if d.stands(record.status) {
			points += record.weight
		}
	}
	return points
}

func (s *Service) handleDeliverability(ctx context.Context, caller api.Caller, q query) (answer scorecard, err error) {
	asked, err := q.span(caller, s.world.Clock.Now(), time.UTC)
	if err != nil {
		return answer, err
	}
	asked = asked.in(asked.period().wholeDays())
	wanted := DomainQuery{IDs: q.Domain, Tenants: q.Tenant, Limit: maxDomains, Since: asked.from}
	if len(wanted.IDs) == 0 {
		wanted.IDs = caller.DomainIDs
	}
	var domains []Domain
	var isps []ispRow
	var counts Counts
	var holds []Hold
	installation := []Check{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if counts, err = selectCounts(tx, asked); err != nil {
			return err
		}
		if isps, err = selectISPs(tx, asked); err != nil || s.parts.Domains == nil {
			return err
		}
		if s.parts.Held != nil && len(caller.DomainIDs) == 0 { // a key for some domains does not hear of others
			if holds, err = s.parts.Held(tx, caller.Workspace, q.Tenant); err != nil {
				return err
			}
		}
		if s.parts.Installation != nil {
			if installation, err = s.parts.Installation(tx); err != nil {
				return err
			}
		}
		domains, err = s.parts.Domains(tx, caller.Workspace, wanted)
		return err
	})
	if err != nil {
		return answer, err
	}
	answer = newScorecard(daysIn(asked.period()), counts, isps, domains, s.world.Clock.Now())
	answer.Installation, answer.Actions = installation, append(actionsOfHolds(holds), answer.Actions...)
	return answer, nil
}

func newScorecard(days int, counts Counts, isps []ispRow, domains []Domain, now time.Time) scorecard {
	card := scorecard{Object: "stats_deliverability", Days: days, Providers: []providerRecord{}, Domains: []domainAuth{},
		Thresholds: thresholds{bounceLimit, complaintLimit}, Installation: []Check{}, Actions: []action{}}
	authentication := 0.0
	for _, d := range domains {
		card.Domains = append(card.Domains, newDomainAuth(d))
		authentication += d.score() / float64(len(domains))
	}
	providers, sent := 0.0, int64(0)
	for _, r := range isps {
		p := newProvider(r)
		card.Providers = append(card.Providers, p)
		providers += float64(p.sent) * map[health]float64{healthy: 100, degraded: 50}[p.Status]
		sent += p.sent
	}
	treatment := 100.0
	if sent > 0 {
		treatment = providers / float64(sent)
	}
	rates := newRates(counts)
	for _, part := range []struct {
		key    string
		score  float64
		weight int
	}{{"authentication", authentication, 30}, {"bounces", fall(rates.Bounce, bounceLimit, worstBounces), 25},
		{"complaints", fall(rates.Complaint, complaintLimit, worstComplaints), 25}, {"provider_health", treatment, 20}} {
		c := component{part.key, int(math.Round(part.score)), part.weight}
		card.Components = append(card.Components, c)
		card.Score += c.Score * c.Weight
	}
	card.Score = (card.Score + 50) / 100
	card.Grade = grade(card.Score)
	card.Actions = append(actionsOfDomains(domains, now), actionsOfMail(rates, card.Providers)...)
	return card
}

// fall is the score of a rate: all of it at none, 60 at the limit, nothing at the worst.
func fall(rate, limit, worst float64) float64 {
	if rate <= limit {
		return 100 - 40*rate/limit
	}
	return math.Max(0, 60*(worst-rate)/(worst-limit))
}

func grade(score int) string {
	for _, step := range []struct {
		from  int
		grade string
	}{{90, "A"}, {80, "B"}, {70, "C"}, {60, "D"}} {
		if score >= step.from {
			return step.grade
		}
	}
	return "F"
}

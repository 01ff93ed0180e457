package stats

import (
	"context"
	"math"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/plan"
)

// Totals are all counters on the wire. They count recipients.
type Totals struct {
	Accepted        int64 `json:"accepted" example:"10000"`
	Sent            int64 `json:"sent" example:"9950"`
	Delivered       int64 `json:"delivered" example:"9900"`
	Delayed         int64 `json:"delayed" example:"120"`
	Bounced         int64 `json:"bounced" example:"40"`
	BouncedHard     int64 `json:"bounced_hard" example:"30"`
	BouncedSoft     int64 `json:"bounced_soft" example:"4"`
	BouncedBlock    int64 `json:"bounced_block" example:"6"`
	Complained      int64 `json:"complained" example:"3"`
	Suppressed      int64 `json:"suppressed" example:"20"`
	Failed          int64 `json:"failed" example:"10"`
	Cancelled       int64 `json:"cancelled" example:"2"`
	Opened          int64 `json:"opened" example:"5000"`
	UniqueOpened    int64 `json:"unique_opened" example:"3900"`
	AutomatedOpens  int64 `json:"automated_opens" example:"1400"`
	Clicked         int64 `json:"clicked" example:"900"`
	UniqueClicked   int64 `json:"unique_clicked" example:"700"`
	AutomatedClicks int64 `json:"automated_clicks" example:"90"`
	Unsubscribed    int64 `json:"unsubscribed" example:"12"`
	Received        int64 `json:"received" example:"230"`
}

func newTotals(c Counts) Totals {
	return Totals{Accepted: c[Accepted], Sent: c[Sent], Delivered: c[Delivered], Delayed: c[Delayed], Bounced: c[Bounced], BouncedHard: c[BouncedHard],
		BouncedSoft: c[BouncedSoft], BouncedBlock: c[BouncedBlock], Complained: c[Complained], Suppressed: c[Suppressed], Failed: c[Failed],
		Cancelled: c[Cancelled], Opened: c[Opened], UniqueOpened: c[UniqueOpened], AutomatedOpens: c[AutomatedOpens], Clicked: c[Clicked],
		UniqueClicked: c[UniqueClicked], AutomatedClicks: c[AutomatedClicks], Unsubscribed: c[Unsubscribed], Received: c[Received]}
}

// Rates are fractions: of what was sent for deliveries and bounces, of what was delivered for the rest.
type Rates struct {
	Delivery    float64 `json:"delivery_rate" example:"0.995"`
	Bounce      float64 `json:"bounce_rate" example:"0.004"`
	Complaint   float64 `json:"complaint_rate" example:"0.0003"`
	Open        float64 `json:"open_rate" example:"0.3939"`
	Click       float64 `json:"click_rate" example:"0.0707"`
	Unsubscribe float64 `json:"unsubscribe_rate" example:"0.0012"`
}

func newRates(c Counts) Rates {
	return Rates{Delivery: rate(c[Delivered], c[Sent]), Bounce: rate(c[Bounced], c[Sent]), Complaint: rate(c[Complained], c[Delivered]),
		Open: rate(c[UniqueOpened], c[Delivered]), Click: rate(c[UniqueClicked], c[Delivered]), Unsubscribe: rate(c[Unsubscribed], c[Delivered])}
}

// rate is a fraction with four digits; of nothing it is nothing.
func rate(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return math.Round(float64(part)/float64(whole)*10_000) / 10_000
}

// overview is the answer to how it goes.
type overview struct {
	Object string   `json:"object" example:"stats_overview"`
	Start  api.Time `json:"start"`
	End    api.Time `json:"end"`
	Days   int      `json:"days" example:"30"`
	Totals Totals   `json:"totals"`
	Rates  Rates    `json:"rates"`
	// Previous is the time of the same length before.
	Previous previous `json:"previous"`
	Quota    quota    `json:"quota"`
}

type previous struct {
	Totals
	Rates
}

// quota is how much of the plan's emails is used this month.
type quota struct {
	Plan     string   `json:"plan" example:"free"`
	Limit    *int64   `json:"limit" example:"25000"`
	Used     int64    `json:"used" example:"10000"`
	ResetsAt api.Time `json:"resets_at"`
}

func (s *Service) handleOverview(ctx context.Context, caller api.Caller, q query) (answer overview, err error) {
	asked, err := q.span(caller, s.world.Clock.Now(), time.UTC)
	if err != nil {
		return answer, err
	}
	answer = overview{Object: "stats_overview", Start: api.Time(asked.from), End: api.Time(asked.until), Days: daysIn(asked.period())}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		now, err := selectCounts(tx, asked)
		if err != nil {
			return err
		}
		then, err := selectCounts(tx, asked.in(asked.period().before()))
		if err != nil {
			return err
		}
		answer.Totals, answer.Rates, answer.Previous = newTotals(now), newRates(now), previous{newTotals(then), newRates(then)}
		answer.Quota, err = s.quota(tx, caller)
		return err
	})
	return answer, err
}

func (s *Service) quota(tx *db.Tx, caller api.Caller) (quota, error) {
	used, err := s.parts.Plans.EmailsUsed(tx, caller.Workspace)
	if err != nil {
		return quota{}, err
	}
	_, resets := plan.Month(tx.Now())
	p, err := s.parts.Plans.Get(plan.Name(caller.Plan))
	return quota{caller.Plan, p.Limits.EmailsPerMonth, used.Month, api.Time(resets)}, err
}

// daysIn counts days; one that is begun counts.
func daysIn(p period) int { return int((p.length() + day - 1) / day) }

// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// StatsAction is part of StatsScorecard.
type StatsAction struct {
	Code            string `json:"code,omitzero"`
	Doc             string `json:"doc,omitzero"`
	DomainID        string `json:"domain_id,omitzero"`
	ISP             string `json:"isp,omitzero"`
	ManagedTenantID string `json:"managed_tenant_id,omitzero"`
	Message         string `json:"message,omitzero"`
	Severity        string `json:"severity,omitzero"`
	Title           string `json:"title,omitzero"`
}

// StatsCheck is part of StatsScorecard.
type StatsCheck struct {
	Check   string `json:"check,omitzero"`
	Message string `json:"message,omitzero"`
	Status  string `json:"status,omitzero"`
}

// StatsComponent is part of StatsScorecard.
type StatsComponent struct {
	Key    string `json:"key,omitzero"`
	Score  int64  `json:"score,omitzero"`
	Weight int64  `json:"weight,omitzero"`
}

// StatsDMARCDigest is part of StatsDomainAuth.
type StatsDMARCDigest struct {
	Messages int64   `json:"messages,omitzero"`
	PassRate float64 `json:"pass_rate,omitzero"`
	Passed   int64   `json:"passed,omitzero"`
	Reports  int64   `json:"reports,omitzero"`
}

// StatsDailyAnswer is the answer to GET /v1/stats/daily.
type StatsDailyAnswer struct {
	Data     []StatsDayRecord `json:"data,omitzero"`
	Days     int64            `json:"days,omitzero"`
	Object   string           `json:"object,omitzero"`
	Timezone string           `json:"timezone,omitzero"`
}

// StatsDayRecord is part of StatsDailyAnswer.
type StatsDayRecord struct {
	Accepted        int64  `json:"accepted,omitzero"`
	AutomatedClicks int64  `json:"automated_clicks,omitzero"`
	AutomatedOpens  int64  `json:"automated_opens,omitzero"`
	Bounced         int64  `json:"bounced,omitzero"`
	BouncedBlock    int64  `json:"bounced_block,omitzero"`
	BouncedHard     int64  `json:"bounced_hard,omitzero"`
	BouncedSoft     int64  `json:"bounced_soft,omitzero"`
	Cancelled       int64  `json:"cancelled,omitzero"`
	Clicked         int64  `json:"clicked,omitzero"`
	Complained      int64  `json:"complained,omitzero"`
	Date            string `json:"date,omitzero"`
	Delayed         int64  `json:"delayed,omitzero"`
	Delivered       int64  `json:"delivered,omitzero"`
	Failed          int64  `json:"failed,omitzero"`
	Opened          int64  `json:"opened,omitzero"`
	Received        int64  `json:"received,omitzero"`
	Sent            int64  `json:"sent,omitzero"`
	Suppressed      int64  `json:"suppressed,omitzero"`
	UniqueClicked   int64  `json:"unique_clicked,omitzero"`
	UniqueOpened    int64  `json:"unique_opened,omitzero"`
	Unsubscribed    int64  `json:"unsubscribed,omitzero"`
}

// StatsDomainAuth is part of StatsScorecard.
type StatsDomainAuth struct {
	Alignment    string            `json:"alignment,omitzero"`
	DKIM         string            `json:"dkim,omitzero"`
	DMARC        string            `json:"dmarc,omitzero"`
	DMARCPolicy  string            `json:"dmarc_policy,omitzero"`
	DMARCReports *StatsDMARCDigest `json:"dmarc_reports,omitempty"`
	Domain       string            `json:"domain,omitzero"`
	DomainID     string            `json:"domain_id,omitzero"`
	ReturnPath   string            `json:"return_path,omitzero"`
	SPF          string            `json:"spf,omitzero"`
	TLSReports   *StatsTLSDigest   `json:"tls_reports,omitempty"`
}

// StatsDomainRecord is part of StatsTop.
type StatsDomainRecord struct {
	Domain string `json:"domain,omitzero"`
	Sent   int64  `json:"sent,omitzero"`
}

// StatsISPRecord is part of StatsTop.
type StatsISPRecord struct {
	AvgDeliveryMs int64   `json:"avg_delivery_ms,omitzero"`
	Bounced       int64   `json:"bounced,omitzero"`
	Complained    int64   `json:"complained,omitzero"`
	Deferred      int64   `json:"deferred,omitzero"`
	Delivered     int64   `json:"delivered,omitzero"`
	DeliveryRate  float64 `json:"delivery_rate,omitzero"`
	ISP           string  `json:"isp,omitzero"`
	Name          string  `json:"name,omitzero"`
	Sent          int64   `json:"sent,omitzero"`
}

// StatsOverview is the answer to GET /v1/stats/overview.
type StatsOverview struct {
	Days     int64         `json:"days,omitzero"`
	End      time.Time     `json:"end,omitzero"`
	Object   string        `json:"object,omitzero"`
	Previous StatsPrevious `json:"previous,omitzero"`
	Quota    StatsQuota    `json:"quota,omitzero"`
	Rates    StatsRates    `json:"rates,omitzero"`
	Start    time.Time     `json:"start,omitzero"`
	Totals   StatsTotals   `json:"totals,omitzero"`
}

// StatsPoint is part of StatsTimeline.
type StatsPoint struct {
	T time.Time `json:"t,omitzero"`
	V int64     `json:"v,omitzero"`
}

// StatsPrevious is part of StatsOverview.
type StatsPrevious struct {
	Accepted        int64   `json:"accepted,omitzero"`
	AutomatedClicks int64   `json:"automated_clicks,omitzero"`
	AutomatedOpens  int64   `json:"automated_opens,omitzero"`
	BounceRate      float64 `json:"bounce_rate,omitzero"`
	Bounced         int64   `json:"bounced,omitzero"`
	BouncedBlock    int64   `json:"bounced_block,omitzero"`
	BouncedHard     int64   `json:"bounced_hard,omitzero"`
	BouncedSoft     int64   `json:"bounced_soft,omitzero"`
	Cancelled       int64   `json:"cancelled,omitzero"`
	ClickRate       float64 `json:"click_rate,omitzero"`
	Clicked         int64   `json:"clicked,omitzero"`
	Complained      int64   `json:"complained,omitzero"`
	ComplaintRate   float64 `json:"complaint_rate,omitzero"`
	Delayed         int64   `json:"delayed,omitzero"`
	Delivered       int64   `json:"delivered,omitzero"`
	DeliveryRate    float64 `json:"delivery_rate,omitzero"`
	Failed          int64   `json:"failed,omitzero"`
	OpenRate        float64 `json:"open_rate,omitzero"`
	Opened          int64   `json:"opened,omitzero"`
	Received        int64   `json:"received,omitzero"`
	Sent            int64   `json:"sent,omitzero"`
	Suppressed      int64   `json:"suppressed,omitzero"`
	UniqueClicked   int64   `json:"unique_clicked,omitzero"`
	UniqueOpened    int64   `json:"unique_opened,omitzero"`
	UnsubscribeRate float64 `json:"unsubscribe_rate,omitzero"`
	Unsubscribed    int64   `json:"unsubscribed,omitzero"`
}

// StatsProviderRecord is part of StatsScorecard.
type StatsProviderRecord struct {
	BlockRate    float64   `json:"block_rate,omitzero"`
	DeferralRate float64   `json:"deferral_rate,omitzero"`
	DeliveryRate float64   `json:"delivery_rate,omitzero"`
	ISP          string    `json:"isp,omitzero"`
	LastBlock    time.Time `json:"last_block,omitzero"`
	Status       string    `json:"status,omitzero"`
}

// StatsQuota is part of StatsOverview.
type StatsQuota struct {
	Limit    *int64    `json:"limit,omitempty"`
	Plan     string    `json:"plan,omitzero"`
	ResetsAt time.Time `json:"resets_at,omitzero"`
	Used     int64     `json:"used,omitzero"`
}

// StatsRates is part of StatsOverview.
type StatsRates struct {
	BounceRate      float64 `json:"bounce_rate,omitzero"`
	ClickRate       float64 `json:"click_rate,omitzero"`
	ComplaintRate   float64 `json:"complaint_rate,omitzero"`
	DeliveryRate    float64 `json:"delivery_rate,omitzero"`
	OpenRate        float64 `json:"open_rate,omitzero"`
	UnsubscribeRate float64 `json:"unsubscribe_rate,omitzero"`
}

// StatsScorecard is the answer to GET /v1/stats/deliverability.
type StatsScorecard struct {
	Actions      []StatsAction         `json:"actions,omitzero"`
	Components   []StatsComponent      `json:"components,omitzero"`
	Days         int64                 `json:"days,omitzero"`
	Domains      []StatsDomainAuth     `json:"domains,omitzero"`
	Grade        string                `json:"grade,omitzero"`
	Installation []StatsCheck          `json:"installation,omitzero"`
	Object       string                `json:"object,omitzero"`
	Providers    []StatsProviderRecord `json:"providers,omitzero"`
	Score        int64                 `json:"score,omitzero"`
	Thresholds   StatsThresholds       `json:"thresholds,omitzero"`
}

// StatsStateRecord is part of StatsTop.
type StatsStateRecord struct {
	Count  int64   `json:"count,omitzero"`
	Share  float64 `json:"share,omitzero"`
	Status string  `json:"status,omitzero"`
}

// StatsSubjectRecord is part of StatsTop.
type StatsSubjectRecord struct {
	Sent    int64  `json:"sent,omitzero"`
	Subject string `json:"subject,omitzero"`
}

// StatsTLSDigest is part of StatsDomainAuth.
type StatsTLSDigest struct {
	Failed      int64   `json:"failed,omitzero"`
	FailureRate float64 `json:"failure_rate,omitzero"`
	Reports     int64   `json:"reports,omitzero"`
	Sessions    int64   `json:"sessions,omitzero"`
}

// StatsTagRecord is part of StatsTop.
type StatsTagRecord struct {
	Name  string `json:"name,omitzero"`
	Sent  int64  `json:"sent,omitzero"`
	Value string `json:"value,omitzero"`
}

// StatsThresholds is part of StatsScorecard.
type StatsThresholds struct {
	BounceRate    float64 `json:"bounce_rate,omitzero"`
	ComplaintRate float64 `json:"complaint_rate,omitzero"`
}

// StatsTimeline is part of StatsTimeseries.
type StatsTimeline struct {
	Metric string       `json:"metric,omitzero"`
	Points []StatsPoint `json:"points,omitzero"`
	Total  int64        `json:"total,omitzero"`
}

// StatsTimeseries is the answer to GET /v1/stats/timeseries.
type StatsTimeseries struct {
	End      time.Time       `json:"end,omitzero"`
	Interval string          `json:"interval,omitzero"`
	Metrics  []string        `json:"metrics,omitzero"`
	Object   string          `json:"object,omitzero"`
	Series   []StatsTimeline `json:"series,omitzero"`
	Start    time.Time       `json:"start,omitzero"`
	Timezone string          `json:"timezone,omitzero"`
}

// StatsTop is the answer to GET /v1/stats/top.
type StatsTop struct {
	End              time.Time            `json:"end,omitzero"`
	ISPs             []StatsISPRecord     `json:"isps,omitzero"`
	Object           string               `json:"object,omitzero"`
	RecipientDomains []StatsDomainRecord  `json:"recipient_domains,omitzero"`
	Start            time.Time            `json:"start,omitzero"`
	StatusMix        []StatsStateRecord   `json:"status_mix,omitzero"`
	Subjects         []StatsSubjectRecord `json:"subjects,omitzero"`
	Tags             []StatsTagRecord     `json:"tags,omitzero"`
}

// StatsTotals is part of StatsOverview.
type StatsTotals struct {
	Accepted        int64 `json:"accepted,omitzero"`
	AutomatedClicks int64 `json:"automated_clicks,omitzero"`
	AutomatedOpens  int64 `json:"automated_opens,omitzero"`
	Bounced         int64 `json:"bounced,omitzero"`
	BouncedBlock    int64 `json:"bounced_block,omitzero"`
	BouncedHard     int64 `json:"bounced_hard,omitzero"`
	BouncedSoft     int64 `json:"bounced_soft,omitzero"`
	Cancelled       int64 `json:"cancelled,omitzero"`
	Clicked         int64 `json:"clicked,omitzero"`
	Complained      int64 `json:"complained,omitzero"`
	Delayed         int64 `json:"delayed,omitzero"`
	Delivered       int64 `json:"delivered,omitzero"`
	Failed          int64 `json:"failed,omitzero"`
	Opened          int64 `json:"opened,omitzero"`
	Received        int64 `json:"received,omitzero"`
	Sent            int64 `json:"sent,omitzero"`
	Suppressed      int64 `json:"suppressed,omitzero"`
	UniqueClicked   int64 `json:"unique_clicked,omitzero"`
	UniqueOpened    int64 `json:"unique_opened,omitzero"`
	Unsubscribed    int64 `json:"unsubscribed,omitzero"`
}

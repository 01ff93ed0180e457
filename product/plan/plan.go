// Package plan knows what a workspace may use: how many emails, domains and other things, and how fast.
//
//	Owns     plan_usage
package plan

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/limit"
)

// Name is a plan, such as "pro".
type Name string

// Plans that ship with the program.
const (
	Free      Name = "free"
	Pro       Name = "pro"
	Unlimited Name = "unlimited"
)

// Limits says how much a plan allows. Nil means without limit.
type Limits struct {
	VerifiedDomains  *int64 `json:"verified_domains" example:"10"`
	EmailsPerMonth   *int64 `json:"emails_per_month" example:"50000"`
	EmailsPerDay     *int64 `json:"emails_per_day"`
	Webhooks         *int64 `json:"webhooks" example:"10"`
	LogRetentionDays *int64 `json:"log_retention_days" example:"90"`
	// ReceivedRetentionDays is how long received mail is kept; shipped plans keep it for good.
	ReceivedRetentionDays *int64 `json:"received_retention_days"`
	Templates             *int64 `json:"templates" example:"500"`
	Contacts              *int64 `json:"contacts" example:"50000"`
	Automations           *int64 `json:"automations" example:"50"`
	ManagedTenants        *int64 `json:"managed_tenants" example:"100"`
	DomainsPerTenant      *int64 `json:"domains_per_tenant" example:"5"`
	Members               *int64 `json:"members" example:"10"`
	ScheduledDaysAhead    int64  `json:"scheduled_days_ahead" example:"30"`
}

// mostDays is as good as for good. Ids tell no time before 1970, and a longer span than three centuries would turn round: everything would be
// older than it.
const mostDays = 50 * 365

// Days returns how long a limit in days lasts.
func Days(limit int64) time.Duration { return time.Duration(min(limit, mostDays)) * 24 * time.Hour }

// Rate is how fast a plan may make requests of one kind.
type Rate struct {
	PerSecond int `json:"per_sec" toml:"per_sec" example:"50"`
	Burst     int `json:"burst" toml:"burst" example:"100"`
}

// Plan is a set of limits with a name.
type Plan struct {
	Name   Name
	Limits Limits
	Rates  map[api.Bucket]Rate
}

// scheduledDaysAhead is how far ahead an email may be scheduled, on any plan.
const scheduledDaysAhead = 30

func n(value int64) *int64 { return &value }

// Shipped returns the plans that come with the program.
func Shipped() map[Name]Plan {
	return map[Name]Plan{
		Free: {
			Name: Free,
			Limits: Limits{VerifiedDomains: n(1), EmailsPerMonth: n(25_000), Webhooks: n(1), LogRetentionDays: n(7), Templates: n(10),
				Contacts: n(1_000), Automations: n(1), ManagedTenants: n(0), DomainsPerTenant: n(0), Members: n(2),
				ScheduledDaysAhead: scheduledDaysAhead},
			Rates: map[api.Bucket]Rate{
				api.BucketSend: {10, 20}, api.BucketBatch: {2, 4}, api.BucketSpamCheck: {2, 10}, api.BucketRead: {20, 40},
				api.BucketWrite: {10, 20}, api.BucketAutomationRun: {10, 50},
			},
		},
		Pro: {
			Name: Pro,
			Limits: Limits{VerifiedDomains: n(10), EmailsPerMonth: n(50_000), Webhooks: n(10), LogRetentionDays: n(90), Templates: n(500),
				Contacts: n(50_000), Automations: n(50), ManagedTenants: n(100), DomainsPerTenant: n(5), Members: n(10),
				ScheduledDaysAhead: scheduledDaysAhead},
			Rates: map[api.Bucket]Rate{
				api.BucketSend: {50, 100}, api.BucketBatch: {10, 20}, api.BucketSpamCheck: {10, 50}, api.BucketRead: {100, 200},
				api.BucketWrite: {50, 100}, api.BucketAutomationRun: {100, 500},
			},
		},
		Unlimited: {
			Name:   Unlimited,
			Limits: Limits{Webhooks: n(100), DomainsPerTenant: n(50), ScheduledDaysAhead: scheduledDaysAhead},
			Rates: map[api.Bucket]Rate{
				api.BucketSend: {100_000, 200_000}, api.BucketBatch: {10_000, 20_000}, api.BucketSpamCheck: {1_000, 2_000},
				api.BucketRead: {100_000, 200_000}, api.BucketWrite: {100_000, 200_000}, api.BucketAutomationRun: {100_000, 200_000},
			},
		},
	}
}

// perMinute are the buckets that count by the minute rather than by the second.
var perMinute = map[api.Bucket]map[Name]int{api.BucketWebhookTest: {Free: 10, Pro: 60, Unlimited: 60}}

// RateOf returns the rate of a bucket. A plan or bucket nobody has numbers for gets those of reading on the free plan, and a plan of the
// operator's own those of the free plan where a bucket counts by the minute.
func (s *Service) RateOf(plan string, bucket api.Bucket) limit.Rate {
	if counts, ok := perMinute[bucket]; ok {
		count, known := counts[Name(plan)]
		if !known {
			count = counts[Free]
		}
		return limit.Rate{Count: count, Per: time.Minute, Burst: count}
	}
	rate, ok := s.plans[Name(plan)].Rates[bucket]
	if !ok {
		rate = Rate{20, 40}
	}
	return limit.Rate{Count: rate.PerSecond, Per: time.Second, Burst: rate.Burst}
}

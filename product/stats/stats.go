// Package stats counts what happens to mail and tells it as totals, series, lists and a scorecard. A follower of events keeps the
// counts; to read them costs the same after ten events and after ten million.
//
//	Owns     stats_count, stats_isp, stats_state, stats_rank, stats_past, stats_tag
//	Follows  email.*
package stats

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/world"
)

// Service keeps and tells the counts.
type Service struct {
	world world.World
	db    *db.DB
	parts Parts
}

// Parts are the services below, and what slices above do for this one.
type Parts struct {
	Plans *plan.Service
	// Domains tells how sending domains stand. It is above this package, and asked for the scorecard only.
	Domains func(tx *db.Tx, ws space.ID, q DomainQuery) ([]Domain, error)
	// Installation tells how the servers that all mail leaves from stand with receivers, for the scorecard.
	Installation func(tx *db.Tx) ([]Check, error)
	// Held tells who is held back, of some managed customers, or of everyone if none is named.
	Held func(tx *db.Tx, ws space.ID, tenants []string) ([]Hold, error)
}

// Hold is a sender who is held back for its bounces or complaints: a managed customer, or the workspace if it names none.
type Hold struct {
	Tenant string
	// Step is warned, throttled or paused; Hourly is how many recipients an hour a throttled sender may mail.
	Step   string
	Hourly int64
}

// Check is one thing that was found out about the servers of the installation.
type Check struct {
	Check   string `json:"check" example:"reverse name"`
	Status  string `json:"status" example:"ok"`
	Message string `json:"message" example:"203.0.113.10 resolves back to mx1.mail.example.org."`
}

// DomainQuery asks for domains. Without ids and tenants it means all of the workspace.
type DomainQuery struct {
	IDs, Tenants []string
	Limit        int
	// Since is from when on reports of others are counted.
	Since time.Time
}

// Domain is how well a sending domain proves that its mail is its own.
type Domain struct {
	ID, Name string
	// SPF, DKIM, DMARC and ReturnPath are what the last look at DNS has shown: "pass", or what is wrong.
	SPF, DKIM, DMARC, ReturnPath string
	// Policy is what the DMARC record asks of receivers.
	Policy string
	// VerifiedAt is since when SPF and DKIM pass; zero if they do not.
	VerifiedAt time.Time
	Reports    Reports
}

// Reports is what other providers have reported about a domain.
type Reports struct {
	// DMARC reports tell of Messages in the name of the domain, of which Passed were proven to be its own.
	DMARC, Messages, Passed int64
	// TLS reports tell of Sessions with the servers of the domain, of which Failed were not safe.
	TLS, Sessions, Failed int64
}

// New returns the service.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts}
}

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "stats", Gather: event.Leisurely, Prepare: follow}}
}

// Counter is one thing that is counted.
type Counter int

// Counters, in the order of the columns.
const (
	Accepted Counter = iota
	Sent
	Delivered
	Delayed
	Bounced
	BouncedHard
	BouncedSoft
	BouncedBlock
	Complained
	Suppressed
	Failed
	Cancelled
	Opened
	UniqueOpened
	AutomatedOpens
	Clicked
	UniqueClicked
	AutomatedClicks
	Unsubscribed
	Received
	counters
)

// names are how counters are called on the wire and in the store.
var names = [counters]string{"accepted", "sent", "delivered", "delayed", "bounced", "bounced_hard", "bounced_soft", "bounced_block", "complained",
	"suppressed", "failed", "cancelled", "opened", "unique_opened", "automated_opens", "clicked", "unique_clicked", "automated_clicks",
	"unsubscribed", "received"}

// String is the name on the wire.
func (c Counter) String() string { return names[c] }

// Counts holds a number for every counter.
type Counts [counters]int64

// add adds numbers in the order of the counters, as many as there are.
func (c *Counts) add(more []int64) {
	for i, n := range more {
		c[i] += n
	}
}

// told returns the counts as they are told. Below zero is what was taken out of a time in which it was not counted, because its tag was
// not counted apart then.
func (c Counts) told() Counts {
	for i := range c {
		c[i] = max(c[i], 0)
	}
	return c
}

// quarter is the finest time that counts are kept by. Some time zones are three quarters of an hour off.
const quarter = 15 * time.Minute

const day = 24 * time.Hour

// bucketOf returns the start of the quarter of an hour.
func bucketOf(t time.Time) time.Time { return t.UTC().Truncate(quarter) }

// dayOf returns the start of the day in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(day) }

// Package stats counts what happens to mail and tells it as totals, series, lists and a scorecard. A follower of events keeps the
// counts; to read them costs the same after ten events and after ten million.
//
//	Owns     stats_count, stats_isp, stats_state, stats_rank
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
}

// DomainQuery asks for domains. Without ids and tenants it means all of the workspace.
type DomainQuery struct {
	IDs, Tenants []string
	Limit        int
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
}

// New returns the service.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts}
}

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "stats", Handle: follow}}
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

// quarter is the finest time that counts are kept by. Some time zones are three quarters of an hour off.
const quarter = 15 * time.Minute

const day = 24 * time.Hour

// bucketOf returns the start of the quarter of an hour.
func bucketOf(t time.Time) time.Time { return t.UTC().Truncate(quarter) }

// dayOf returns the start of the day in UTC.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(day) }

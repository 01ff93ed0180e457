package stats

import (
	"context"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// maxTop is how many entries a list has.
const maxTop = 10

// ispNames are how people call mailbox providers.
var ispNames = map[string]string{"google": "Google", "microsoft": "Microsoft", "yahoo": "Yahoo", "apple": "Apple", "comcast": "Comcast",
	"gmx_webde": "GMX and WEB.DE", "orange": "Orange", "proton": "Proton", "zoho": "Zoho", "corporate_google": "Google Workspace",
	"corporate_microsoft": "Microsoft 365", otherISP: "Other"}

func ispName(key string) string {
	if name, ok := ispNames[key]; ok {
		return name
	}
	return key
}

// top is the answer to where the mail goes and what becomes of it. It is told of whole days in UTC.
type top struct {
	Object string        `json:"object" example:"stats_top"`
	Start  api.Time      `json:"start"`
	End    api.Time      `json:"end"`
	ISPs   []ispRecord   `json:"isps"`
	States []stateRecord `json:"status_mix"`
	// Domains, Subjects and Tags are the most frequent, by what was sent.
	Domains  []domainRecord  `json:"recipient_domains"`
	Subjects []subjectRecord `json:"subjects"`
	Tags     []tagRecord     `json:"tags"`
}

type ispRecord struct {
	ISP        string  `json:"isp" example:"google"`
	Name       string  `json:"name" example:"Google"`
	Sent       int64   `json:"sent" example:"5200"`
	Delivered  int64   `json:"delivered" example:"5190"`
	Bounced    int64   `json:"bounced" example:"6"`
	Deferred   int64   `json:"deferred" example:"80"`
	Complained int64   `json:"complained" example:"0"`
	Delivery   float64 `json:"delivery_rate" example:"0.9981"`
	// Average is how long mail took from the moment it was to be sent.
	Average int64 `json:"avg_delivery_ms" example:"900"`
}

func newISPRecord(r ispRow) ispRecord {
	record := ispRecord{ISP: r.isp, Name: ispName(r.isp), Sent: r.sent, Delivered: r.delivered, Bounced: r.bounced, Deferred: r.deferred,
		Complained: r.complained, Delivery: rate(r.delivered, r.sent)}
	if r.delivered > 0 {
		record.Average = r.waitedMs / r.delivered
	}
	return record
}

// stateRecord is how many of the recipients that were accepted in the time stand in a state now. Who is being tried counts as queued.
type stateRecord struct {
	Status string  `json:"status" example:"delivered"`
	Count  int64   `json:"count" example:"9900"`
	Share  float64 `json:"share" example:"0.99"`
}

type domainRecord struct {
	Domain string `json:"domain" example:"gmail.com"`
	Sent   int64  `json:"sent" example:"4100"`
}

type subjectRecord struct {
	Subject string `json:"subject" example:"Welcome"`
	Sent    int64  `json:"sent" example:"800"`
}

type tagRecord struct {
	Name  string `json:"name" example:"category"`
	Value string `json:"value" example:"welcome"`
	Sent  int64  `json:"sent" example:"800"`
}

func (s *Service) handleTop(ctx context.Context, caller api.Caller, q query) (answer top, err error) {
	asked, err := q.span(caller, s.world.Clock.Now(), time.UTC)
	if err != nil {
		return answer, err
	}
	asked = asked.in(asked.period().wholeDays())
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		answer = top{Object: "stats_top", Start: api.Time(asked.from), End: api.Time(asked.until), ISPs: []ispRecord{}, States: []stateRecord{},
			Domains: []domainRecord{}, Subjects: []subjectRecord{}, Tags: []tagRecord{}}
		return answer.fill(tx, asked)
	})
	return answer, err
}

func (t *top) fill(tx *db.Tx, asked span) error {
	isps, err := selectISPs(tx, asked)
	if err != nil {
		return err
	}
	for _, r := range isps[:min(len(isps), maxTop)] {
		t.ISPs = append(t.ISPs, newISPRecord(r))
	}
	if t.States, err = mixOf(tx, asked); err != nil {
		return err
	}
	domains, err := selectRank(tx, asked, rankDomain, maxTop)
	if err != nil {
		return err
	}
	for _, r := range domains {
		t.Domains = append(t.Domains, domainRecord{r.name, r.sum})
	}
	subjects, err := selectRank(tx, asked, rankSubject, maxTop)
	if err != nil {
		return err
	}
	for _, r := range subjects {
		t.Subjects = append(t.Subjects, subjectRecord{r.name, r.sum})
	}
	tags, err := selectRank(tx, asked, rankTag, maxTop)
	for _, r := range tags {
		name, value, _ := strings.Cut(r.name, ":")
		t.Tags = append(t.Tags, tagRecord{name, value, r.sum})
	}
	return err
}

func mixOf(tx *db.Tx, asked span) ([]stateRecord, error) {
	rows, err := selectStates(tx, asked)
	// Below zero is what left a state that it was not counted in, because its tag was not counted apart then.
	rows = slices.DeleteFunc(rows, func(r namedSum) bool { return r.sum <= 0 })
	total := int64(0)
	for _, r := range rows {
		total += r.sum
	}
	mix := []stateRecord{}
	for _, r := range rows {
		mix = append(mix, stateRecord{r.name, r.sum, rate(r.sum, total)})
	}
	return mix, err
}

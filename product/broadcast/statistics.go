package broadcast

import (
	"context"
	"strconv"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// statisticsRecord is what became of a broadcast. It is read from counters, whatever the number of recipients and events.
type statisticsRecord struct {
	Object    string       `json:"object" example:"broadcast_stats"`
	Broadcast ID           `json:"broadcast_id" example:"0193a1f6-0000-7000-8000-000000000601"`
	Status    Status       `json:"status" example:"sent"`
	Totals    allTotals    `json:"totals"`
	Rates     rates        `json:"rates"`
	Series    []hourRecord `json:"timeseries" doc:"By the hour."`
	ISPs      []ispRecord  `json:"by_isp"`
	Links     []linkRecord `json:"links" doc:"The 50 that most people followed."`
	UpdatedAt api.Time     `json:"updated_at"`
}

type allTotals struct {
	totals
	Hard  int64 `json:"bounced_hard" example:"5"`
	Soft  int64 `json:"bounced_soft" example:"1"`
	Block int64 `json:"bounced_block" example:"2"`
}

type hourRecord struct {
	Bucket    api.Time `json:"bucket"`
	Sent      int64    `json:"sent" example:"1098"`
	Delivered int64    `json:"delivered" example:"1090"`
	Opened    int64    `json:"opened" example:"120"`
	Clicked   int64    `json:"clicked" example:"30"`
}

type ispRecord struct {
	ISP       string `json:"isp" example:"google"`
	Sent      int64  `json:"sent" example:"600"`
	Delivered int64  `json:"delivered" example:"598"`
	Bounced   int64  `json:"bounced" example:"2"`
	Opened    int64  `json:"opened" example:"230"`
	Clicked   int64  `json:"clicked" example:"50"`
}

type linkRecord struct {
	ID     string `json:"id" example:"0193a1f6-0000-7000-8000-000000000631"`
	URL    string `json:"url" example:"https://acme.test"`
	Clicks int64  `json:"clicks" example:"80"`
	Unique int64  `json:"unique_clicks" example:"70"`
}

func (r linkRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

// shownLinks is how many links the statistics have; the list of clicked links has all.
const shownLinks = 50

func (s *Service) statistics(ctx context.Context, ws space.ID, id string) (r statisticsRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := find(tx, ws, id)
		if err != nil {
			return err
		}
		all, err := selectCounts(tx, []ID{b.ID})
		if err != nil {
			return err
		}
		c := all[b.ID]
		r = statisticsRecord{Object: "broadcast_stats", Broadcast: b.ID, Status: b.Status, Rates: newRates(c.counts), UpdatedAt: api.Time(c.UpdatedAt),
			Totals: allTotals{newTotals(c.counts), c.counts[bouncedHard], c.counts[bouncedSoft], c.counts[bouncedBlock]},
			Series: []hourRecord{}, ISPs: []ispRecord{}, Links: []linkRecord{}}
		if c.UpdatedAt.IsZero() {
			r.UpdatedAt = api.Time(b.UpdatedAt)
		}
		parts, err := selectParts(tx, b.ID)
		if err != nil {
			return err
		}
		r.addParts(parts)
		links, err := selectLinks(tx, b.ID, shownLinks)
		r.Links = asLinks(links)
		return err
	})
	return r, err
}

func (r *statisticsRecord) addParts(parts []partRow) {
	for _, p := range parts {
		c := p.counts
		if p.kind == kindISP {
			r.ISPs = append(r.ISPs, ispRecord{p.name, c[sent], c[delivered], c[bounced], c[opened], c[clicked]})
			continue
		}
		micros, _ := strconv.ParseInt(p.name, 10, 64) // hourOf wrote it
		r.Series = append(r.Series, hourRecord{api.Time(time.UnixMicro(micros)), c[sent], c[delivered], c[opened], c[clicked]})
	}
}

func asLinks(links []link) []linkRecord {
	records := make([]linkRecord, len(links))
	for i, l := range links {
		records[i] = linkRecord{l.id, l.url, l.clicks, l.unique}
	}
	return records
}

// links returns the pages that people went to, those that most followed first.
func (s *Service) links(ctx context.Context, ws space.ID, id string, q api.PageQuery) (page api.Page[linkRecord], err error) {
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		b, err := find(tx, ws, id)
		if err != nil {
			return err
		}
		all, err := selectLinks(tx, b.ID, maxLinks+1)
		if err != nil {
			return err
		}
		page, err = api.Cut(asLinks(all), q, api.Descending, linkRecord.place)
		return err
	})
	return page, err
}

// summary counts the broadcasts that the caller finds by status.
func (s *Service) summary(ctx context.Context, caller api.Caller) (r summaryRecord, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		allowed, err := s.sendersOf(tx, caller)
		if err != nil {
			return err
		}
		var all listQuery
		if all.senders, err = allowed.texts(tx, caller.Workspace); err != nil {
			return err
		}
		found, err := countByStatus(tx, caller.Workspace, all)
		r = summaryRecord{Object: "broadcast_summary", ByStatus: map[Status]int64{}}
		for _, status := range Statuses {
			r.ByStatus[status] = found[status]
			r.Total += found[status]
		}
		return err
	})
	return r, err
}

package template

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/stats"
)

// statsRecord is the answer to a question for statistics.
type statsRecord struct {
	Object     string         `json:"object" example:"template_stats"`
	TemplateID ID             `json:"template_id" example:"0193a1f4-0000-7000-8000-000000000401"`
	Start      api.Time       `json:"start"`
	End        api.Time       `json:"end"`
	Totals     stats.Totals   `json:"totals"`
	Versions   []versionStats `json:"versions"`
	LastSentAt api.Time       `json:"last_sent_at"`
}

type versionStats struct {
	Version int64        `json:"version" example:"3"`
	Totals  stats.Totals `json:"totals"`
}

const (
	defaultDays = 30
	maxDays     = 365
	day         = 24 * time.Hour
)

// period are the parameters that say which time a statistic is about.
type period struct {
	Days  int64     `query:"days" least:"1" doc:"How many days back, 1 to 365; 30 if nothing is given." example:"30"`
	Start time.Time `query:"start" doc:"Together with end, instead of days." example:"2026-10-16T00:00:00Z"`
	End   time.Time `query:"end" doc:"Together with start, instead of days." example:"2026-11-15T00:00:00Z"`
}

func (p period) read(now time.Time) (start, end time.Time, err error) {
	var wrong api.Fields
	days := p.Days
	if days == 0 {
		days = defaultDays
	}
	ranged := !p.Start.IsZero() || !p.End.IsZero()
	switch {
	case days < 1 || days > maxDays:
		wrong.Add("days", "Must be between 1 and 365.")
	case ranged && p.Days != 0:
		wrong.Add("days", "Give either days, or start and end.")
	case ranged && (p.Start.IsZero() || p.End.IsZero()):
		wrong.Add("start", "Give both start and end.")
	case ranged && (!p.Start.Before(p.End) || p.End.Sub(p.Start) > (maxDays+1)*day):
		wrong.Add("end", "Must be after start, by at most a year.")
	}
	if ranged {
		return p.Start, p.End, wrong.Err()
	}
	return now.Truncate(day).Add(-time.Duration(days) * day), now, wrong.Err()
}

// stats tells what became of the mails of a template, all of them and those of each version.
func (s *Service) stats(ctx context.Context, ws space.ID, name string, p period) (record statsRecord, err error) {
	start, end, err := p.read(s.world.Clock.Now().UTC())
	if err != nil {
		return record, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := find(tx, ws, name)
		if err != nil {
			return err
		}
		var versions []int64
		for number := t.Latest; number > max(0, t.Latest-maxPage); number-- {
			versions = append(versions, number)
		}
		sent, err := s.statistics(tx, ws, string(t.ID), versions, start, end)
		if err != nil {
			return err
		}
		record = statsRecord{Object: "template_stats", TemplateID: t.ID, Start: api.Time(start), End: api.Time(end), Totals: sent.Totals,
			Versions: []versionStats{}, LastSentAt: api.Time(sent.LastSentAt)}
		for _, number := range versions {
			record.Versions = append(record.Versions, versionStats{number, sent.Versions[number]})
		}
		return nil
	})
	return record, err
}

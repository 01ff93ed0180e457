package email

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// tally is what one recipient's opens and clicks add up to. Those of programs stand apart.
type tally struct {
	opens, clicks, automatedOpens, automatedClicks     int
	firstOpened, lastOpened, firstClicked, lastClicked time.Time
}

// add counts an open or a click and returns the how manieth of its kind it is. Past maxCounted nothing changes any more.
func (t *tally) add(click, automated bool, at time.Time) int {
	count, first, last := &t.opens, &t.firstOpened, &t.lastOpened
	switch {
	case click && automated:
		count = &t.automatedClicks
	case automated:
		count = &t.automatedOpens
	case click:
		count, first, last = &t.clicks, &t.firstClicked, &t.lastClicked
	}
	if *count >= maxCounted {
		return maxCounted + 1
	}
	*count++
	if !automated {
		if first.IsZero() {
			*first = at
		}
		*last = at
	}
	return *count
}

// trackingRecord is a tally on the wire.
type trackingRecord struct {
	Opens           int      `json:"opens" doc:"Opens by people, up to 10000." example:"1"`
	Clicks          int      `json:"clicks" doc:"Clicks by people, up to 10000." example:"0"`
	AutomatedOpens  int      `json:"automated_opens" doc:"Opens by proxies and scanners, up to 10000." example:"0"`
	AutomatedClicks int      `json:"automated_clicks" doc:"Clicks by scanners, up to 10000." example:"0"`
	FirstOpened     api.Time `json:"first_opened_at"`
	LastOpened      api.Time `json:"last_opened_at"`
	FirstClicked    api.Time `json:"first_clicked_at"`
	LastClicked     api.Time `json:"last_clicked_at"`
}

func newTrackingRecord(t tally) trackingRecord {
	return trackingRecord{t.opens, t.clicks, t.automatedOpens, t.automatedClicks, api.Time(t.firstOpened), api.Time(t.lastOpened),
		api.Time(t.firstClicked), api.Time(t.lastClicked)}
}

// talliesOf returns those of all recipients of an email that have any.
func talliesOf(tx *db.Tx, e Email) (map[RecipientID]tally, error) {
	if !e.TrackOpens && !e.TrackClicks && e.Opens+e.Clicks == 0 {
		return nil, nil
	}
	rows, err := selectTalliesOfEmail(tx, e.Workspace, e.ID)
	return byRecipient(rows), err
}

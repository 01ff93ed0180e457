package web

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// phase is a part of the time between acceptance and delivery, as a share of the whole.
type phase struct {
	Name, State, Took string
	X, W              float64
}

type attemptRecord struct {
	ID            string `json:"id"`
	Number        int    `json:"attempt_number"`
	Outcome       string
	Response      string
	MXHost        string     `json:"mx_host"`
	MXIP          string     `json:"mx_ip"`
	Stage         string     `json:"stage"`
	DurationMS    int64      `json:"duration_ms"`
	StartedAt     time.Time  `json:"started_at"`
	FinishedAt    time.Time  `json:"finished_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	Recipients    []string
	TLS           *struct {
		Used, Verified  bool
		Version, Cipher string
		Policy          string
	}
	Dialogue []struct {
		AtMS    int64 `json:"at_ms"`
		Command string
		Reply   string
	}
}

type attemptRow struct {
	Number               int
	Outcome, Host, Where string
	Response, Took, TLS  string
	At, Next             moment
	Lines                []dialogueLine
}

type dialogueLine struct {
	Ours bool
	At   string
	Text string
}

// attempts are those of an email that a tab shows, oldest first, with the number and the last of them all.
type attempts struct {
	read []attemptRecord
	all  int64
	last attemptRecord
}

// attemptsFor reads the attempts that the tab of the page shows: a page of them, or the first.
func (v *visit) attemptsFor(p *emailPage, id string) (a attempts, err error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if p.Tab == "attempts" {
		query = v.pageQuery()
	}
	var list listOf[attemptRecord]
	if err := v.get(apiPath("emails", id, "attempts"), query, &list); err != nil {
		return a, err
	}
	if a.read, a.all = list.Data, int64(len(list.Data)); list.Total != nil {
		a.all = *list.Total
	}
	if p.Tab == "attempts" {
		p.Pager = beside(v, list)
	}
	if len(a.read) > 0 {
		a.last = a.read[len(a.read)-1]
	}
	if p.Tab == "" && list.HasMore {
		var end listOf[attemptRecord]
		err = v.get(apiPath("emails", id, "attempts"), url.Values{"limit": {"1"}, "offset": {strconv.FormatInt(a.all-1, 10)}}, &end)
		if len(end.Data) > 0 {
			a.last = end.Data[0]
		}
	}
	return a, err
}

func (v *visit) attemptRow(a attemptRecord) attemptRow {
	row := attemptRow{Number: a.Number, Outcome: a.Outcome, Host: a.MXHost, Where: a.MXIP, Response: visible(a.Response), Took: duration(time.Duration(a.DurationMS) * time.Millisecond),
		At: v.exact(a.StartedAt)}
	if a.TLS != nil && a.TLS.Used {
		row.TLS = a.TLS.Version + ", " + a.TLS.Policy
		if !a.TLS.Verified {
			row.TLS += ", certificate not verified"
		}
	}
	if a.NextAttemptAt != nil {
		row.Next = v.ago(*a.NextAttemptAt)
	}
	for _, line := range a.Dialogue {
		at := fmt.Sprintf("%5d ms", line.AtMS)
		if line.Command != "" {
			row.Lines = append(row.Lines, dialogueLine{true, at, visible(line.Command)})
		}
		if line.Reply != "" {
			row.Lines = append(row.Lines, dialogueLine{false, at, visible(line.Reply)})
		}
	}
	return row
}

// maxPhases is how many attempts are drawn: more would be lines too thin to tell apart.
const maxPhases = 12

// phases split the time to the end of the last attempt into waiting and the first of the attempts that were made.
func phases(e emailDetail, tried []attemptRecord, lastTried attemptRecord) ([]phase, string) {
	begin, end := e.CreatedAt, lastTried.FinishedAt
	if e.ScheduledAt != nil && e.ScheduledAt.After(begin) {
		begin = *e.ScheduledAt
	}
	whole := end.Sub(begin)
	if whole <= 0 {
		return nil, ""
	}
	var all []phase
	add := func(name, state string, from, to time.Time) {
		if to.After(from) {
			all = append(all, phase{Name: name, State: state, Took: duration(to.Sub(from)),
				X: 100 * float64(from.Sub(begin)) / float64(whole), W: max(0.4, 100*float64(to.Sub(from))/float64(whole))})
		}
	}
	last := begin
	for _, a := range tried[:min(len(tried), maxPhases)] {
		add("Waiting", "queued", last, a.StartedAt)
		state := "delivered"
		if a.Outcome != "accepted" && a.Outcome != "delivered" {
			state = "bounced"
		}
		name := fmt.Sprintf("Attempt %d", a.Number)
		if a.MXHost != "" {
			name += " at " + a.MXHost
		}
		add(name, state, a.StartedAt, a.FinishedAt)
		last = a.FinishedAt
	}
	return all, duration(whole)
}

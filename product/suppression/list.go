package suppression

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// maxPage is the largest page of the list.
	maxPage = 500
	// maxCounted is how many matches of a search or a time are counted. To count more would cost more than it tells; such a list
	// says that there is more, and not how much.
	maxCounted = 10_000
)

type listQuery struct {
	api.PageQuery
	Reason []string  `query:"reason" doc:"bounce, complaint, unsubscribe, manual or invalid." example:"bounce"`
	Origin []string  `query:"origin" doc:"bounce, complaint or manual." example:"bounce"`
	Email  []string  `query:"email" doc:"One or more addresses, in any spelling." example:"gone@example.net"`
	Search string    `query:"search" doc:"The beginning of an address, or a whole domain. The matches are in the order of their addresses."`
	Since  time.Time `query:"since" doc:"Only entries from this time on." example:"2026-11-01T00:00:00Z"`
	Until  time.Time `query:"until" doc:"Only entries before this time." example:"2026-12-01T00:00:00Z"`
}

// wanted is a list query that has been checked.
type wanted struct {
	api.PageQuery
	// reasons are those asked for, each once; nil means all.
	reasons []Reason
	// addresses are those asked for, as keys; nil means all.
	addresses []string
	// prefix and host are two readings of a search: the beginning of an address, and the domain of one.
	prefix, host string
	since, until time.Time
	// part is what the page is cut from; see place.
	part db.Keyset
}

func (q listQuery) check() (wanted, error) {
	want := wanted{since: q.Since, until: q.Until}
	var wrong api.Fields
	for _, reason := range q.Reason {
		if !Reason(reason).known() {
			wrong.Add("reason", fmt.Sprintf("%q is not a reason: use bounce, complaint, unsubscribe, manual or invalid.", reason))
		}
	}
	for _, origin := range q.Origin {
		if !slices.Contains([]string{"bounce", "complaint", "manual"}, origin) {
			wrong.Add("origin", fmt.Sprintf("%q is not an origin: use bounce, complaint or manual.", origin))
		}
	}
	if len(q.Email) > maxPage {
		wrong.Add("email", fmt.Sprintf("Must be at most %d addresses.", maxPage))
	}
	for _, text := range q.Email[:min(len(q.Email), maxPage)] {
		a, err := address.Parse(text)
		if err != nil {
			wrong.Add("email", fmt.Sprintf("Not an email address: %s.", err))
		}
		want.addresses = append(want.addresses, a.Key())
	}
	if err := wrong.Err(); err != nil {
		return want, err
	}
	if err := api.CheckSearch(q.Search); err != nil {
		return want, err
	}
	want.reasons = q.reasons()
	want.prefix, want.host = readSearch(q.Search)
	err := q.PageQuery.Check(maxPage)
	want.PageQuery = q.PageQuery
	return want, err
}

// reasons returns those that both filters leave.
func (q listQuery) reasons() []Reason {
	if len(q.Reason) == 0 && len(q.Origin) == 0 {
		return nil
	}
	left := []Reason{}
	for _, reason := range weakestFirst {
		if (len(q.Reason) == 0 || slices.Contains(q.Reason, string(reason))) && (len(q.Origin) == 0 || slices.Contains(q.Origin, string(reason.Origin()))) {
			left = append(left, reason)
		}
	}
	return left
}

// readSearch returns the beginning of an address, and the domain, that somebody may have meant. @example.net is a domain only.
func readSearch(text string) (prefix, host string) {
	text = strings.TrimSpace(text)
	if a, err := address.Parse(text); err == nil {
		return a.Key(), ""
	}
	name, onlyDomain := strings.CutPrefix(text, "@")
	host, err := address.ParseDomain(name)
	switch {
	case onlyDomain && err != nil:
		return "", strings.ToLower(name) // no address is there
	case onlyDomain:
		return "", host
	}
	return strings.ToLower(text), host
}

// list returns a page of the list, newest first, or by address if it is searched.
func (s *Service) list(ctx context.Context, ws space.ID, q listQuery) (page api.Page[Record], err error) {
	want, err := q.check()
	if err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if len(want.addresses) > 0 {
			page, err = want.findAddresses(tx, ws)
			return err
		}
		page, err = want.find(tx, ws)
		return err
	})
	return page, err
}

// find returns the page, and how many entries there are over all pages if that is known.
func (want wanted) find(tx *db.Tx, ws space.ID) (page api.Page[Record], err error) {
	if want.part, err = want.place(tx, ws); err != nil {
		return page, err
	}
	rows, err := selectPage(tx, ws, want)
	if err != nil {
		return page, err
	}
	page = api.NewPlacedPage(newRecords(rows), want.PageQuery, Record.place)
	if want.Placed() {
		return page, nil
	}
	count, counted, err := want.total(tx, ws)
	if counted {
		page.Total = &count
	}
	return page, err
}

// place returns the part of the list that the page is cut from.
func (want wanted) place(tx *db.Tx, ws space.ID) (db.Keyset, error) {
	if !want.searching() {
		return want.Newest(func(id string) (time.Time, error) {
			row, err := selectByID(tx, ws, ID(id))
			return row.CreatedAt, err
		})
	}
	return want.Part(api.Ascending, func(id string) ([]any, error) {
		row, err := selectByID(tx, ws, ID(id))
		return []any{[]byte(row.Address)}, err
	})
}

// findAddresses looks single addresses up, each in one step, and sees what the other filters leave of them.
func (want wanted) findAddresses(tx *db.Tx, ws space.ID) (page api.Page[Record], err error) {
	rows, err := selectNamed(tx, ws, names{addresses: want.addresses})
	if err != nil {
		return page, err
	}
	rows = slices.DeleteFunc(rows, func(s Suppression) bool { return !want.matches(s) })
	if want.searching() {
		slices.SortFunc(rows, func(a, b Suppression) int { return cmp.Compare(a.Address, b.Address) })
		return api.Cut(newRecords(rows), want.PageQuery, api.Ascending, Record.place)
	}
	slices.SortFunc(rows, func(a, b Suppression) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
	return api.Cut(newRecords(rows), want.PageQuery, api.Descending, Record.place)
}

// matches tells what the ranges of a list tell the database, for a row at hand.
func (want wanted) matches(s Suppression) bool {
	inTime := !s.CreatedAt.Before(want.since) && (want.until.IsZero() || s.CreatedAt.Before(want.until))
	found := !want.searching() || want.prefix != "" && strings.HasPrefix(s.Address, want.prefix) || want.host != "" && hostOf(s.Address) == want.host
	return inTime && found && (want.reasons == nil || slices.Contains(want.reasons, s.Reason))
}

// total is how many entries there are over all pages. Whole reasons are counted as they come and go, without what has expired
// and was not swept yet; matches of anything else are counted now, unless they are too many.
func (want wanted) total(tx *db.Tx, ws space.ID) (total int64, counted bool, err error) {
	if want.searching() || !want.since.IsZero() || !want.until.IsZero() {
		total, err = countMatches(tx, ws, want, maxCounted+1)
		return total, total <= maxCounted, err
	}
	totals, err := selectTotals(tx, ws)
	if err != nil {
		return 0, false, err
	}
	expired, err := selectExpiredReasons(tx, ws)
	for _, reason := range expired {
		totals[reason]--
	}
	for reason, entries := range totals {
		if want.reasons == nil || slices.Contains(want.reasons, reason) {
			total += entries
		}
	}
	return total, true, err
}

// searching tells that a text is looked for.
func (want wanted) searching() bool { return want.prefix != "" || want.host != "" }

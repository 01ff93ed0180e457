package logs

import (
	"strings"
	"time"
	"unicode/utf8"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Erase forgets an address in entries that are not younger than a moment, the newest first: what they said, and the words they were
// found by. That something happened, and when, stays. It returns how far it has come; done tells that nothing is left.
func (s *Service) Erase(tx *db.Tx, ws space.ID, address string, until time.Time, limit int) (at time.Time, done bool, err error) {
	found, err := selectNaming(tx, ws, address, until, limit)
	if err != nil || len(found) == 0 {
		return until, true, err
	}
	for _, e := range found {
		if !e.names(address) {
			continue // only its words are alike
		}
		if err := unindex(tx, []Entry{e}); err != nil {
			return until, false, err
		}
		e.Message, e.Endpoint, e.Details.RequestBody, e.Details.ResponseBody = "(erased)", e.Route, nil, nil
		if err := updateErased(tx, e); err != nil {
			return until, false, err
		}
		words := db.Document{Space: string(ws), ID: string(e.ID), At: e.CreatedAt, Words: wordsIn(string(e.ID), e.Email, e.Details.RequestID)}
		if err := tx.IndexWords("log_search", words); err != nil {
			return until, false, err
		}
	}
	at = found[len(found)-1].CreatedAt
	if at.Equal(until) { // a whole batch of one moment
		at = at.Add(-time.Microsecond)
	}
	return at, len(found) < limit, nil
}

// names tells whether the entry holds the address, in whatever case.
func (e Entry) names(address string) bool {
	address = strings.ToLower(address)
	for _, text := range []string{e.Message, e.Endpoint, string(e.Details.RequestBody), string(e.Details.ResponseBody)} {
		if strings.Contains(strings.ToLower(text), address) {
			return true
		}
	}
	// Its line does not name them all, or was cut before it did.
	return e.Recipients > maxNamed || len(e.Message) > maxMessage-utf8.UTFMax
}

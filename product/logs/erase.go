package logs

import (
	"strings"
	"unicode/utf8"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Erase forgets an address in entries that stand before a place, the newest first: what they said, and the words they were
// found by. That something happened, and when, stays. It returns how far it has come; done tells that nothing is left.
func (s *Service) Erase(tx *db.Tx, ws space.ID, address string, place db.Place, limit int) (last db.Place, done bool, err error) {
	found, err := selectNaming(tx, ws, address, place, limit)
	if err != nil || len(found) == 0 {
		return place, true, err
	}
	for _, e := range found {
		if !e.names(address) {
			continue // only its words are alike
		}
		if err := erase(tx, e); err != nil {
			return place, false, err
		}
	}
	end := found[len(found)-1]
	return db.Place{At: end.CreatedAt, ID: string(end.ID)}, len(found) < limit, nil
}

// EraseReceived forgets who wrote received messages, and about what.
func (s *Service) EraseReceived(tx *db.Tx, ws space.ID, messages []string) error {
	found, err := selectReceived(tx, ws, messages)
	for i := 0; i < len(found) && err == nil; i++ {
		err = erase(tx, found[i])
	}
	return err
}

func erase(tx *db.Tx, e Entry) error {
	if err := unindex(tx, []Entry{e}); err != nil {
		return err
	}
	e.Message, e.Endpoint, e.Details.Ignored, e.Details.RequestBody, e.Details.ResponseBody = "(erased)", e.Route, nil, nil, nil
	if err := updateErased(tx, e); err != nil {
		return err
	}
	words := wordsIn(string(e.ID), e.Email, e.Details.RequestID)
	return tx.IndexWords("log_search", db.Document{Space: string(e.Workspace), ID: string(e.ID), At: e.CreatedAt, Words: words})
}

// names tells whether the entry holds the address, in whatever case.
func (e Entry) names(address string) bool {
	address = strings.ToLower(address)
	texts := append([]string{e.Message, e.Endpoint, string(e.Details.RequestBody), string(e.Details.ResponseBody)}, e.Details.Ignored...)
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), address) {
			return true
		}
	}
	// Its line names none of its readers, or not all of them, or was cut before it did.
	return e.Kind == Inbound || e.Recipients > maxNamed || len(e.Message) > maxMessage-utf8.UTFMax
}

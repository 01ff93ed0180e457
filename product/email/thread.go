package email

import (
	"strings"

	"postrider/platform/db"
	"postrider/platform/space"
)

// maxThreadIDs bounds how many message ids are looked for at once; the nearest ancestors are enough.
const maxThreadIDs = 20

// ByMessageIDs returns the emails of the workspace with these message ids, by them.
func (s *Service) ByMessageIDs(tx *db.Tx, ws space.ID, messageIDs []string) (map[string]ID, error) {
	found := map[string]ID{}
	for _, messageID := range messageIDs[:min(len(messageIDs), maxThreadIDs)] {
		e, ok, err := findByMessageID(tx, ws, messageID)
		if err != nil {
			return nil, err
		}
		if ok && e.Source != SourceNotice {
			found[messageID] = e.ID
		}
	}
	return found, nil
}

// findByMessageID looks by the id that we put into most message ids, and else by the words of it.
func findByMessageID(tx *db.Tx, ws space.ID, messageID string) (Email, bool, error) {
	local, _, _ := strings.Cut(strings.TrimPrefix(messageID, "<"), "@")
	if id, ok := idOfWord(local); ok {
		found, err := selectByMessageID(tx, ws, id, messageID)
		if err != nil || len(found) > 0 {
			return firstOf(found), len(found) > 0, err
		}
	}
	words := db.Words(messageID)
	if len(words) == 0 {
		return Email{}, false, nil
	}
	found, err := selectByWords(tx, ws, words, messageID)
	return firstOf(found), len(found) > 0, err
}

func firstOf(list []Email) Email {
	if len(list) == 0 {
		return Email{}
	}
	return list[0]
}

// idOfWord undoes wordOfID.
func idOfWord(word string) (ID, bool) {
	if len(word) != 32 {
		return "", false
	}
	id := word[:8] + "-" + word[8:12] + "-" + word[12:16] + "-" + word[16:20] + "-" + word[20:]
	parsed, err := space.Parse(id)
	return ID(parsed), err == nil
}

package email

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"postrider/platform/db"
)

// Marks are put before words that only a filter asks for. They begin with a digit no word of a text would be followed by.
const (
	markDomain   = "0d"
	markTag      = "0g"
	markTenant   = "0m"
	markTemplate = "0e"
)

// searchText is what a search looks through: lower case, because the engines disagree about the case of other letters.
// The order is relied on by senderInSearch.
func searchText(e Email) string {
	parts := append([]string{string(e.ID)}, textsOf(e)...)
	return strings.ToLower(strings.Join(parts, "\n"))
}

func textsOf(e Email) []string {
	return slices.Concat([]string{e.Subject, e.From, e.MessageID}, e.Addresses.To, e.Addresses.Cc, e.Addresses.Bcc)
}

// hashed makes one word of a text that is only ever asked for as a whole.
func hashed(mark, text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%s%016x", mark, h.Sum64())
}

func wordOfDomain(id string) string   { return hashed(markDomain, id) }
func wordOfTag(tag Tag) string        { return hashed(markTag, tag.Name+":"+tag.Value) }
func wordOfTenant(id string) string   { return hashed(markTenant, id) }
func wordOfTemplate(id string) string { return hashed(markTemplate, id) }

// wordOfID is an id as one word: the same as in the message id that is made of it.
func wordOfID(id string) string { return strings.ReplaceAll(id, "-", "") }

// wordsOf is everything by which an email can be found.
func wordsOf(e Email) []string {
	words := append(db.Words(strings.Join(textsOf(e), " ")), wordOfID(string(e.ID)), wordOfDomain(string(e.Domain)))
	for _, tag := range e.Tags {
		words = append(words, wordOfTag(tag))
	}
	if e.Template != "" {
		words = append(words, wordOfTemplate(e.Template))
	}
	if e.Tenant != "" {
		words = append(words, wordOfTenant(e.Tenant))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

var beginningOfID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{0,28}$`)

// wordsAsked are the words of a search.
func wordsAsked(text string) []string {
	if beginningOfID.MatchString(text) {
		return []string{wordOfID(text)}
	}
	return db.Words(text)
}

func indexEmails(tx *db.Tx, all []acceptance) error {
	docs := make([]db.Document, len(all))
	for i, a := range all {
		docs[i] = db.Document{Space: string(a.email.Workspace), ID: string(a.email.ID), At: a.email.CreatedAt, Words: a.words}
	}
	return tx.IndexWords("email_search", docs...)
}

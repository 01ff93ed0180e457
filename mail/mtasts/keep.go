package mtasts

import "time"

const (
	// retryAfter is the pause after a fetch before the same policy is fetched again (RFC 8461 §3.3).
	retryAfter = 5 * time.Minute
	// refreshAfter is when a policy is fetched anew although it is unchanged, so that it does not run out at a bad moment and
	// an attacker would have to keep us from it for the whole of its age (RFC 8461 §10.2). A short-lived one is at half its age.
	refreshAfter = 24 * time.Hour
)

// Entry is what is remembered of a domain. The zero value is a domain never heard of.
type Entry struct {
	// Policy is the last one that was read, and ID the announcement it was read under.
	Policy Policy `json:"policy"`
	ID     string `json:"id"`
	// FetchedAt is when it was read, and ValidUntil when it runs out.
	FetchedAt  time.Time `json:"fetched_at"`
	ValidUntil time.Time `json:"valid_until"`
	// TriedAt is when a policy was last fetched, with or without success, and TriedID what was announced then.
	TriedAt time.Time `json:"tried_at"`
	TriedID string    `json:"tried_id"`
}

// Step is what to do with an entry.
type Step string

const (
	// Keep means that the entry's policy is in force as it is.
	Keep Step = "keep"
	// Refetch means that the policy should be fetched. Until that has worked, the entry's policy stays in force if it has not
	// run out.
	Refetch Step = "refetch"
	// Expire means that no policy is in force.
	Expire Step = "expire"
)

// Current returns the policy that is in force, or one of mode None.
func (e Entry) Current(now time.Time) Policy {
	if e.valid(now) {
		return e.Policy
	}
	return Policy{Mode: None}
}

// Next says what to do, given the id that the domain announces now; it is empty if there is no announcement or it could not be
// read, which never ends a policy early (RFC 8461 §5.1).
func (e Entry) Next(now time.Time, id string) Step {
	rest := Keep
	if !e.valid(now) {
		rest = Expire
	}
	switch {
	case id == "":
		return rest
	case rest == Keep && id == e.ID && within(now, e.FetchedAt, min(refreshAfter, e.ValidUntil.Sub(e.FetchedAt)/2)):
		return rest
	case id == e.TriedID && within(now, e.TriedAt, retryAfter):
		return rest
	}
	return Refetch
}

// Fetched returns the entry after a fetch that brought a policy.
func (e Entry) Fetched(now time.Time, id string, p Policy) Entry {
	return Entry{Policy: p, ID: id, FetchedAt: now, ValidUntil: now.Add(time.Duration(p.MaxAgeSeconds) * time.Second), TriedAt: now, TriedID: id}
}

// Missed returns the entry after a fetch that brought none. What was in force stays in force.
func (e Entry) Missed(now time.Time, id string) Entry {
	e.TriedAt, e.TriedID = now, id
	return e
}

func (e Entry) valid(now time.Time) bool { return e.Policy.Mode != "" && now.Before(e.ValidUntil) }

// within tells whether less than a span has passed. A clock that was set back is no reason to wait for it.
func within(now, since time.Time, span time.Duration) bool {
	passed := now.Sub(since)
	return passed >= 0 && passed < span
}

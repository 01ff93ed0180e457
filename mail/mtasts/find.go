package mtasts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/world"
)

// fetchFor is how long a policy host may take (RFC 8461 §3.3).
const fetchFor = time.Minute

// Fetch returns the page at PolicyURL(host), of which MaxPolicyBytes+1 bytes are enough.
type Fetch func(ctx context.Context, host string) (body []byte, err error)

// Finder finds the policies of domains.
type Finder struct {
	Names world.Resolver
	Clock world.Clock
	Fetch Fetch
}

// Finding is what a domain wishes now.
type Finding struct {
	// Policy is in force; its mode is None if there is none.
	Policy Policy
	// Entry is to be remembered in place of the one that was given, if Changed.
	Entry   Entry
	Changed bool
	// Problem is why the announced policy could not be learned: ErrRecord, ErrPolicy or ErrFetch. The domain wants to hear of
	// it (RFC 8460 §4.3.2.2); delivery goes by Policy.
	Problem error
}

// Find asks what a domain wishes, given what is remembered of it.
func (f Finder) Find(ctx context.Context, domain string, known Entry) Finding {
	id, problem := f.announced(ctx, domain)
	now := f.Clock.Now()
	found := Finding{Entry: known, Problem: problem}
	if known.Next(now, id) == Refetch {
		found.Changed = true
		policy, err := f.fetch(ctx, domain)
		now = f.Clock.Now()
		if err != nil {
			found.Entry, found.Problem = known.Missed(now, id), err
		} else {
			found.Entry = known.Fetched(now, id, policy)
		}
	}
	found.Policy = found.Entry.Current(now)
	return found
}

// announced returns the id of the domain's record, or nothing. A name server that does not answer is not the domain's problem.
func (f Finder) announced(ctx context.Context, domain string) (string, error) {
	texts, _, err := f.Names.TXT(ctx, RecordName(domain))
	if err != nil {
		return "", nil
	}
	id, err := ParseRecord(texts)
	if errors.Is(err, ErrNoRecord) {
		return "", nil
	}
	return id, err
}

func (f Finder) fetch(ctx context.Context, domain string) (Policy, error) {
	ctx, done := context.WithTimeout(ctx, fetchFor)
	defer done()
	body, err := f.Fetch(ctx, "mta-sts."+domain)
	if err != nil {
		return Policy{}, fmt.Errorf("%w: %w", ErrFetch, err)
	}
	return ParsePolicy(body)
}

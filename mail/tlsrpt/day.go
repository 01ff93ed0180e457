package tlsrpt

const (
	// maxTallies bounds the policies of one day; a domain that changes its policy more often is playing.
	maxTallies = 32
	// maxFailures bounds the different failures of one policy. A domain with hundreds of servers can have more, but nobody reads them.
	maxFailures = 200
)

// Day is what came of all sessions of one day for one domain.
type Day struct {
	Key     Key     `json:"key"`
	Tallies []Tally `json:"tallies"`
}

// Tally is what came of the sessions under one policy. Every session is counted, whatever bounds there are.
type Tally struct {
	Policy     Policy  `json:"policy"`
	Successful int64   `json:"successful"`
	Failed     int64   `json:"failed"`
	Failures   []Count `json:"failures,omitempty"`
}

// Count is how often a failure happened.
type Count struct {
	Failure  Failure `json:"failure"`
	Sessions int64   `json:"sessions"`
}

// Add counts a session.
func (d *Day) Add(s Session) {
	if s.Failure == nil {
		d.tally(s.Policy).Successful++
		return
	}
	t := d.tally(s.Policy)
	t.Failed++
	t.count(*s.Failure, 1)
}

// Merge counts what another node has counted.
func (d *Day) Merge(other Day) {
	for _, theirs := range other.Tallies {
		ours := d.tally(theirs.Policy)
		ours.Successful += theirs.Successful
		ours.Failed += theirs.Failed
		for _, c := range theirs.Failures {
			ours.count(c.Failure, c.Sessions)
		}
	}
}

// tally returns the one of a policy. Past the bound, policies of a kind are counted as the last one of that kind.
func (d *Day) tally(p Policy) *Tally {
	last := -1
	for i := range d.Tallies {
		if d.Tallies[i].Policy.Equal(p) {
			return &d.Tallies[i]
		}
		if d.Tallies[i].Policy.Type == p.Type {
			last = i
		}
	}
	if len(d.Tallies) >= maxTallies && last >= 0 {
		return &d.Tallies[last]
	}
	d.Tallies = append(d.Tallies, Tally{Policy: p})
	return &d.Tallies[len(d.Tallies)-1]
}

// count adds sessions to a failure. Past the bound only the result is told apart, of which there are few.
func (t *Tally) count(f Failure, sessions int64) {
	if t.add(f, sessions) {
		return
	}
	if len(t.Failures) >= maxFailures {
		f = Failure{Result: f.Result}
		if t.add(f, sessions) {
			return
		}
	}
	t.Failures = append(t.Failures, Count{Failure: f, Sessions: sessions})
}

func (t *Tally) add(f Failure, sessions int64) bool {
	for i := range t.Failures {
		if t.Failures[i].Failure == f {
			t.Failures[i].Sessions += sessions
			return true
		}
	}
	return false
}

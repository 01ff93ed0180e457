package shape

import (
	"slices"
	"time"

	"postrider/mail/report"
)

// blockRate is how much of our mail a provider has blocked in the last quarter of an hour, and whose it was.
type blockRate struct {
	stretches [blockStretches]struct{ total, blocked uint32 }
	now       int64 // the number of the current stretch since 1970
	// suspect is the only tenant that can have three quarters of the blocked mail, which it has if votes are half of it: each
	// message of its own is a vote for it and each other one a vote against (after Boyer and Moore).
	suspect string
	votes   int
}

const (
	blockStretches = 5
	blockStretch   = 3 * time.Minute
	// minBlockSample is how many answers a rate needs before it means anything.
	minBlockSample = 100
	// maxBlockPercent is the rate beyond which sending on does harm: what is blocked is lost, and the reputation with it.
	maxBlockPercent = 5
	// The first pause is short, each further one twice as long.
	firstPause = 5 * time.Minute
	maxPause   = time.Hour
)

// tellingBlocks are the categories that speak about the sender. That a message was too large says nothing about its sender.
var tellingBlocks = []report.Category{report.Reputation, report.Policy, report.Authentication, report.ContentRejected}

func blocks(r Reply) bool {
	return r.Class == report.Block && slices.Contains(tellingBlocks, r.Category)
}

func pauseFor(times int) time.Duration { return min(firstPause<<min(times-1, 10), maxPause) }

// note counts an answer and tells whether too much was blocked.
func (b *blockRate) note(blocked bool, tenant string, at instant) bool {
	now := int64(at) / int64(blockStretch)
	if ahead := now - b.now; ahead < 0 || ahead >= blockStretches {
		*b = blockRate{now: now}
	}
	for ; b.now < now; b.now++ {
		b.stretches[(b.now+1)%blockStretches] = struct{ total, blocked uint32 }{}
		_, blocked := b.sums()
		b.votes = min(b.votes, blocked) // what was long ago accuses nobody
	}
	b.stretches[now%blockStretches].total++
	if !blocked {
		return false
	}
	b.stretches[now%blockStretches].blocked++
	switch {
	case b.votes == 0:
		b.suspect, b.votes = tenant, 1
	case b.suspect == tenant:
		b.votes++
	default:
		b.votes--
	}
	total, refused := b.sums()
	return total >= minBlockSample && refused*100 > total*maxBlockPercent
}

func (b *blockRate) sums() (total, blocked int) {
	for _, s := range b.stretches {
		total += int(s.total)
		blocked += int(s.blocked)
	}
	return total, blocked
}

// culprit returns the tenant that has most of the blocked mail, or "".
func (b *blockRate) culprit() string {
	if _, blocked := b.sums(); 2*b.votes >= blocked {
		return b.suspect
	}
	return ""
}

// noteBlock counts an answer of a server. If too much is blocked, the tenant whose mail it is has to stop, or else all.
func (s *Shaper) noteBlock(p *path, tenant string, r Reply, at instant) {
	c := p.circuit
	if !c.blocks.note(blocks(r), tenant, at) {
		return
	}
	culprit, cause := c.blocks.culprit(), causeOf("too much of the mail was blocked", r)
	c.blocks = blockRate{now: c.blocks.now}
	if culprit == "" {
		s.pause(c, cause, at)
		return
	}
	s.place(Hold{Path: p.key, Tenant: culprit, Kind: Suspended, Cause: cause}, span{at, at.add(firstPause)}, at)
}

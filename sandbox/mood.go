package sandbox

import (
	"strings"
	"sync"
	"time"

	"postrider/mail/smtp"
)

// mood is how a provider treats mail to a recipient.
type mood string

// The moods, named as the local parts that choose them begin.
const (
	moodBounce   mood = "bounce"   // refuses: no such mailbox
	moodFull     mood = "full"     // refuses: mailbox full
	moodBlock    mood = "block"    // refuses: bad reputation of the sender
	moodDefer    mood = "defer"    // says later once, then accepts
	moodGreylist mood = "greylist" // says later for the first minute, then accepts
	moodBusy     mood = "busy"     // always says later and hangs up
	moodSlow     mood = "slow"     // takes its time to answer the final dot
	moodDrop     mood = "drop"     // hangs up in the middle of the message
	moodDSN      mood = "dsn"      // accepts and bounces afterwards
	moodComplain mood = "complain" // accepts and complains afterwards
	moodOpen     mood = "open"     // accepts and loads the images afterwards
	moodClick    mood = "click"    // accepts and follows the first link afterwards
	moodTLS      mood = "tls"      // breaks in the TLS handshake
	moodCalm     mood = ""         // accepts
)

var moods = []mood{moodBounce, moodFull, moodBlock, moodDefer, moodGreylist, moodBusy, moodSlow, moodDrop, moodDSN, moodComplain,
	moodOpen, moodClick, moodTLS}

// moodOf reads the mood off the beginning of a local part, so that bounce@, bounced@ and bounce+7@ are one.
func moodOf(local string) mood {
	local = strings.ToLower(local)
	for _, m := range moods {
		if strings.HasPrefix(local, string(m)) {
			return m
		}
	}
	return moodCalm
}

const (
	// greylistFor is how long a first contact has to wait.
	greylistFor = time.Minute
	// slowFor is how long a slow provider takes for the final dot.
	slowFor = 20 * time.Second
	// brokenTLSFor is longer than a sender waits before its first tries again, so that one of them meets the broken handshake.
	brokenTLSFor = 10 * time.Minute
	// maxContacts bounds what moods remember; the oldest are forgotten first.
	maxContacts = 100_000
)

var (
	replyBounce   = smtp.NewReply(550, "5.1.1", "The email account that you tried to reach does not exist")
	replyFull     = smtp.NewReply(552, "5.2.2", "Mailbox full: the recipient is over quota")
	replyBlock    = smtp.NewReply(550, "5.7.1", "Message blocked due to the poor reputation of the sending address")
	replyDefer    = smtp.NewReply(451, "4.3.0", "Temporary local problem, please try again later")
	replyGreylist = smtp.NewReply(450, "4.7.1", "Greylisted, please try again in one minute")
	replyBusy     = smtp.NewReply(421, "4.3.2", "Server busy, closing connection")
	replyNewTLS   = smtp.NewReply(421, "4.7.0", "TLS session no longer valid, please connect again")
	replyNoRoom   = smtp.NewReply(452, "4.3.1", "The sandbox could not store the message")
	replyNoRelay  = smtp.NewReply(451, "4.4.1", "The mail server of this domain does not answer")
)

// refusal returns what a recipient's mood says to RCPT, or nil for a yes. Defer and greylist know a mail by the pair of its
// recipient and its return path: all that a server sees before the message, and the same on every try of one delivery.
func (s *session) refusal(m mood, to smtp.Path) *smtp.Reply {
	box, now := s.box, s.box.world.Clock.Now()
	pair := strings.ToLower(to.String()) + " " + strings.ToLower(s.from.String())
	switch m {
	case moodBounce:
		return replyBounce
	case moodFull:
		return replyFull
	case moodBlock:
		return replyBlock
	case moodDefer:
		if _, known := box.deferred.first(pair, now); !known {
			return replyDefer
		}
	case moodGreylist:
		if since, _ := box.greylist.first(pair, now); now.Sub(since) < greylistFor {
			return replyGreylist
		}
	case moodBusy:
		return s.leaving(replyBusy)
	case moodTLS:
		return s.breakTLS()
	}
	return nil
}

// breakTLS makes the next handshakes with this host fail. Whom a mail is for is known only after the handshake of its own
// connection, so the recipient sends its first visitor away and spoils the host's TLS for a while. Without TLS there is
// nothing to break, and the mail is accepted.
func (s *session) breakTLS() *smtp.Reply {
	if s.conn.TLS == nil {
		return nil
	}
	if host := s.conn.TLS.ServerName; host != "" {
		s.box.brokenTLS.set(strings.ToLower(host), s.box.world.Clock.Now())
	}
	return s.leaving(replyNewTLS)
}

// contacts remembers when things were first seen, up to a bound.
type contacts struct {
	max int

	mu    sync.Mutex
	seen  map[string]time.Time // guarded by mu
	order []string             // guarded by mu; the keys of seen, oldest first
}

func newContacts(most int) *contacts { return &contacts{max: most, seen: make(map[string]time.Time)} }

// first returns when the key was first seen, which is now if it was not known.
func (c *contacts) first(key string, now time.Time) (since time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since, known := c.seen[key]; known {
		return since, true
	}
	c.add(key, now)
	return now, false
}

// set notes the key as seen now, whenever that was before.
func (c *contacts) set(key string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.seen[key]; known {
		c.seen[key] = now
		return
	}
	c.add(key, now)
}

func (c *contacts) add(key string, now time.Time) {
	if len(c.order) == c.max {
		delete(c.seen, c.order[0])
		c.order = c.order[1:]
	}
	c.seen[key] = now
	c.order = append(c.order, key)
}

// when returns when the key was noted, if it was.
func (c *contacts) when(key string) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.seen[key]
	return at, known
}

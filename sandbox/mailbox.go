package sandbox

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// The mailbox drops its oldest messages at either limit. Both are more than a person reads and less than a laptop minds.
const (
	maxMessages     = 100_000
	maxMailboxBytes = 256 << 20
)

// message is one message as a provider took it.
type message struct {
	ID         string    `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	From       string    `json:"from"`
	To         []string  `json:"to"`
	Provider   string    `json:"provider"`
	TLS        bool      `json:"tls"`
	Hello      string    `json:"hello"`
	RemoteIP   string    `json:"remote_ip"`
	Raw        []byte    `json:"raw,omitempty"`
}

// authentication is what a provider concluded about a message, in the words of RFC 8601 §2.7.
type authentication struct {
	SPF   string `json:"spf"`
	DKIM  string `json:"dkim"`
	DMARC string `json:"dmarc"`
}

// entry is a message in the index; its bytes stay on disk.
type entry struct {
	message // without Raw
	place   place
	zoneAt  moment // the zone when it came
	to      string // its recipients in lower case, to search in

	mu      sync.Mutex
	verdict *authentication // guarded by mu; nil until somebody asks
}

// mailbox holds what was accepted, oldest first.
type mailbox struct {
	maxMessages int
	maxBytes    int64

	mu      sync.Mutex
	spool   *spool            // guarded by mu
	entries []*entry          // guarded by mu
	byID    map[string]*entry // guarded by mu
	bytes   int64             // guarded by mu; what the entries take on disk
}

// spoolLine is one line of the spool: a message, or the verdict about one before it.
type spoolLine struct {
	Message *message        `json:"message,omitempty"`
	Judged  string          `json:"judged,omitempty"` // the id of the message
	Verdict *authentication `json:"verdict,omitempty"`
}

func openMailbox(dir string, mostMessages int, mostBytes int64) (*mailbox, error) {
	b := &mailbox{maxMessages: mostMessages, maxBytes: mostBytes, byID: make(map[string]*entry)}
	spool, err := openSpool(dir, func(text []byte, at place) {
		var line spoolLine
		if json.Unmarshal(text, &line) != nil {
			return
		}
		if line.Message != nil {
			b.index(line.Message, at, 0)
		}
		if known := b.byID[line.Judged]; known != nil {
			known.verdict = line.Verdict
		}
	})
	if err != nil {
		return nil, err
	}
	b.spool = spool
	return b, b.evict()
}

// add stores a message. When it returns nil, the message survives the death of the process.
func (b *mailbox) add(m *message, zoneAt moment) error {
	text, err := json.Marshal(spoolLine{Message: m})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, err := b.spool.append(text)
	if err != nil {
		return err
	}
	b.index(m, at, zoneAt)
	return b.evict()
}

func (b *mailbox) index(m *message, at place, zoneAt moment) {
	e := &entry{message: *m, place: at, zoneAt: zoneAt, to: strings.ToLower(strings.Join(m.To, "\n"))}
	e.Raw = nil
	b.entries = append(b.entries, e)
	b.byID[e.ID] = e
	b.bytes += int64(at.length)
}

// evict drops the oldest messages until the limits hold.
func (b *mailbox) evict() error {
	for len(b.entries) > b.maxMessages || b.bytes > b.maxBytes && len(b.entries) > 1 {
		oldest := b.entries[0]
		b.entries[0] = nil
		b.entries = b.entries[1:]
		b.bytes -= int64(oldest.place.length)
		delete(b.byID, oldest.ID)
	}
	if len(b.entries) == 0 {
		return nil
	}
	return b.spool.dropBefore(b.entries[0].place.segment)
}

// find returns up to limit messages whose recipients contain the text, newest first.
func (b *mailbox) find(recipient string, limit int) []*entry {
	recipient = strings.ToLower(recipient)
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []*entry{}
	for i := len(b.entries) - 1; i >= 0 && len(found) < limit; i-- {
		if strings.Contains(b.entries[i].to, recipient) {
			found = append(found, b.entries[i])
		}
	}
	return found
}

// get returns a message of the index, or nil.
func (b *mailbox) get(id string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byID[id]
}

// raw returns the bytes of a message, or false if it is no longer there.
func (b *mailbox) raw(e *entry) ([]byte, bool) {
	b.mu.Lock()
	text, err := b.spool.read(e.place)
	b.mu.Unlock()
	var line spoolLine
	if err != nil || json.Unmarshal(text, &line) != nil || line.Message == nil || line.Message.ID != e.ID {
		return nil, false
	}
	return line.Message.Raw, true
}

// judged keeps a verdict for the next run.
func (b *mailbox) judged(id string, verdict authentication) error {
	text, err := json.Marshal(spoolLine{Judged: id, Verdict: &verdict})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID[id] == nil {
		return nil
	}
	_, err = b.spool.append(text)
	return err
}

// clear empties the mailbox and returns how many messages it held.
func (b *mailbox) clear() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := len(b.entries)
	b.entries, b.byID, b.bytes = nil, make(map[string]*entry), 0
	return count, b.spool.clear()
}

func (b *mailbox) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spool.close()
}

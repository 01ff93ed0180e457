package apikey

import (
	"sync"
	"time"
)

const (
	// cacheFor is how long another node may go on believing in a key that was revoked.
	cacheFor = time.Second
	// maxCached bounds the keys that are remembered, maxMissing the public ids that are known to be no keys: guesses must not
	// push real keys out.
	maxCached  = 20_000
	maxMissing = 4_096
)

// cache remembers keys by their public id.
type cache struct {
	mu         sync.RWMutex
	keys       map[string]*known // guarded by mu
	missing    map[string]*known // guarded by mu
	generation uint64            // guarded by mu; grows with every forget
}

func newCache() *cache { return &cache{keys: map[string]*known{}, missing: map[string]*known{}} }

// find returns what is known of a public id, or nil if that is nothing or too old. A clock that was set back makes it too old.
func (c *cache) find(publicID string, now time.Time) *known {
	c.mu.RLock()
	k := c.keys[publicID]
	if k == nil {
		k = c.missing[publicID]
	}
	c.mu.RUnlock()
	if k == nil {
		return nil
	}
	if age := now.Sub(k.readAt); age < 0 || age >= cacheFor {
		return nil
	}
	return k
}

// begin must be called before a key is read, and its result given to keep.
func (c *cache) begin() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.generation
}

// keep remembers a key, unless any was forgotten since begin: what was read may be what had to be forgotten.
func (c *cache) keep(publicID string, k *known, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	into, limit := c.keys, maxCached
	if k.missing {
		into, limit = c.missing, maxMissing
	}
	if len(into) >= limit {
		clear(into) // everything in it is at most a second from being read again
	}
	into[publicID] = k
}

// forget makes the next check read the key again.
func (c *cache) forget(publicID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	delete(c.keys, publicID)
	delete(c.missing, publicID)
}

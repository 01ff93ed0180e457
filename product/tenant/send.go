package tenant

import (
	"context"
	"sync"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// sendingFor is how long another node may go on taking mail for a customer who was paused.
	sendingFor = time.Second
	maxCached  = 10_000
)

// sendingCache remembers customers that mail was just accepted for: a busy sender asks thousands of times a second.
type sendingCache struct {
	mu         sync.RWMutex
	tenants    map[sendingKey]cachedTenant // guarded by mu
	generation uint64                      // guarded by mu; grows with every forget
}

type sendingKey struct {
	workspace space.ID
	id        ID
}

type cachedTenant struct {
	tenant Tenant
	until  time.Time
}

func newSendingCache() *sendingCache { return &sendingCache{tenants: map[sendingKey]cachedTenant{}} }

// get returns what is remembered, and the generation to hand to put if it is nothing.
func (c *sendingCache) get(key sendingKey, now time.Time) (t Tenant, generation uint64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	cached, ok := c.tenants[key]
	return cached.tenant, c.generation, ok && now.Before(cached.until)
}

// put remembers a customer that was read in a generation, unless something was forgotten since: the reading may be older.
func (c *sendingCache) put(key sendingKey, t Tenant, now time.Time, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if len(c.tenants) >= maxCached {
		clear(c.tenants)
	}
	t.Metadata = nil // nobody who sends reads it, and ten thousand of them are much memory
	c.tenants[key] = cachedTenant{t, now.Add(sendingFor)}
}

func (c *sendingCache) forget(ws space.ID, id ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	delete(c.tenants, sendingKey{ws, id})
}

// ForSending returns the customer of a domain without its metadata if mail may be taken for it now, else ErrPaused. The empty id
// is the workspace itself, which is no customer and is never paused.
func (s *Service) ForSending(ctx context.Context, ws space.ID, id string) (Tenant, error) {
	if id == "" {
		return Tenant{}, nil
	}
	now, key := s.world.Clock.Now(), sendingKey{ws, ID(id)}
	t, generation, ok := s.sending.get(key, now)
	if !ok {
		var err error
		if t, err = s.Get(ctx, ws, id); err != nil {
			return Tenant{}, err
		}
		s.sending.put(key, t, now, generation)
	}
	if err := t.active(); err != nil {
		return Tenant{}, err
	}
	t.Metadata = nil
	return t, nil
}

// Get returns a customer of the workspace, or ErrNotFound.
func (s *Service) Get(ctx context.Context, ws space.ID, id string) (t Tenant, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err = find(tx, ws, id)
		return err
	})
	return t, err
}

// ByExternalID returns a customer of the workspace by what the platform calls it, or ErrNotFound.
func (s *Service) ByExternalID(ctx context.Context, ws space.ID, external string) (t Tenant, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err = findByExternalID(tx, ws, external)
		return err
	})
	return t, err
}

func find(tx *db.Tx, ws space.ID, id string) (Tenant, error) {
	if !api.IsID(id) {
		return Tenant{}, ErrNotFound
	}
	t, err := selectTenant(tx, ws, ID(id))
	return t, db.OrMissing(err, ErrNotFound)
}

func findByExternalID(tx *db.Tx, ws space.ID, external string) (Tenant, error) {
	if !isExternalID(external) {
		return Tenant{}, ErrNotFound
	}
	t, err := selectByExternalID(tx, ws, external)
	return t, db.OrMissing(err, ErrNotFound)
}

// Load returns customers by id for delivery, which works across workspaces.
func (s *Service) Load(tx *db.Tx, ids []ID) (map[ID]Tenant, error) {
	found, err := selectByIDs(tx, ids)
	tenants := make(map[ID]Tenant, len(found))
	for _, t := range found {
		tenants[t.ID] = t
	}
	return tenants, err
}

// ExternalID returns what the platform calls a customer, or the empty string if there is none of this id (any more).
func (s *Service) ExternalID(tx *db.Tx, ws space.ID, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return selectExternalID(tx, ws, ID(id))
}

package tenant

import (
	"testing"
	"time"
)

func TestAReadingFromBeforeAChangeIsNotRemembered(t *testing.T) {
	t.Parallel()
	now, key := time.Date(2026, 11, 15, 2, 0, 0, 0, time.UTC), sendingKey{"workspace", "customer"}
	cache := newSendingCache()

	_, generation, _ := cache.get(key, now)
	cache.forget(key.workspace, key.id) // the customer is paused while somebody still holds what it was
	cache.put(key, Tenant{Status: Active}, now, generation)

	if found, _, ok := cache.get(key, now); ok {
		t.Errorf("remembered as %s", found.Status)
	}
	_, generation, _ = cache.get(key, now)
	cache.put(key, Tenant{Status: Paused}, now, generation)
	if found, _, ok := cache.get(key, now); !ok || found.Status != Paused {
		t.Errorf("a fresh reading is not remembered: %v %v", found.Status, ok)
	}
	if _, _, ok := cache.get(key, now.Add(sendingFor)); ok {
		t.Error("remembered for too long")
	}
}

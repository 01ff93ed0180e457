package httpout

import (
	"testing"

	"postrider/world"
)

func TestNoProxyIsEverAsked(t *testing.T) {
	t.Parallel()

	c := New(Config{Clock: world.SystemClock{}})

	if c.plain.Proxy != nil || c.secure.Proxy != nil {
		t.Fatal("a proxy from the environment would resolve and connect behind the check")
	}
}

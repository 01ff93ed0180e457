package node_test

import (
	"errors"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/queue"
	"postrider/product/node"
)

// double is a process under the id of a node, by another name.
func double(in *apptest.Installation, name string) *node.Service {
	return node.New(in.App.World, in.App.DB, node.Config{ID: "00000000-0000-7000-8000-00000000000d", Name: name, Hostname: "mx1." + name}, func(node.ID) queue.Lane { return "" })
}

func TestANodeWhoseDataDirectoryIsACopyDoesNotStart(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		one, copied := double(in, "one.test"), double(in, "two.test")
		again(t, one)
		if err := double(in, "one.test").CheckDouble(t.Context()); err != nil {
			t.Errorf("started again on the same machine: %v", err)
		}
		found := make(chan error, 1)
		go func() { found <- copied.CheckDouble(t.Context()) }()
		for {
			select {
			case err := <-found:
				if !errors.Is(err, node.ErrDouble) {
					t.Errorf("found %v", err)
				}
				return
			case <-time.After(10 * time.Millisecond):
				in.Clock.Advance(time.Second)
				again(t, one)
			}
		}
	})
}

func TestANodeThatHasMovedToAnotherMachineStarts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		again(t, double(in, "one.test"))
		found := make(chan error, 1)
		go func() { found <- double(in, "two.test").CheckDouble(t.Context()) }()
		for waited := time.Duration(0); ; {
			select {
			case err := <-found:
				if err != nil || waited == 0 {
					t.Errorf("killed: %v after %s", err, waited)
				}
				return
			case <-time.After(10 * time.Millisecond):
				in.Clock.Advance(time.Second)
				waited += time.Second
			}
		}
	})
}

func TestANodeThatLeftStartsElsewhereAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		one := double(in, "one.test")
		again(t, one)
		if err := one.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := double(in, "two.test").CheckDouble(t.Context()); err != nil { // the clock stands still: it would wait for ever
			t.Error(err)
		}
	})
}

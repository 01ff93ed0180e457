package shape_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

const wide = `
[default]
start_connections = 50
max_connections = 50
messages_per_connection = 100000
start_messages = 100000
messages_per_second = 100000
connects_per_minute = 100000
`

func benchTable(b *testing.B) shape.Table {
	over, err := shape.ReadProviders(wide)
	if err != nil {
		b.Fatal(err)
	}
	return shape.Shipped().With(over)
}

func benchItems(count, tenants int) []shape.Item {
	items := make([]shape.Item, count)
	for i := range items {
		id := fmt.Sprintf("%036d", i)
		items[i] = shape.Item{Recipient: id, Email: id, Domain: "example.net", Tenant: fmt.Sprint("tenant", i%tenants), Class: shape.Class(i % 3)}
	}
	return items
}

// BenchmarkAddNextObserve is the whole way of a message, with 2,000 waiting before it, on so many paths.
func BenchmarkAddNextObserve(b *testing.B) {
	for _, paths := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(paths, "paths"), func(b *testing.B) {
			s := shape.New(shape.Config{Providers: benchTable(b), MaxConnections: 20_000, MaxPathItems: 20_000})
			items := benchItems(4096, 20)
			to := make([]shape.Path, paths)
			for i := range to {
				to[i] = shape.Path{Site: shape.Site(fmt.Sprintf("mx.%d.test", i))}
			}
			now := noon
			for i := range 2000 {
				s.Add(now, to[i%paths], items[i])
			}
			reply := []shape.Reply{taken}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				now = now.Add(10 * time.Microsecond)
				if _, ok := s.Add(now, to[i%paths], items[i%4096]); !ok {
					b.Fatal("full")
				}
				w, ok := s.Next(now)
				for !ok {
					now = s.NextWake(now)
					w, ok = s.Next(now)
				}
				s.Observe(now, shape.Outcome{Connection: w.Connection, Replies: reply})
			}
		})
	}
}

// BenchmarkBacklogOfATenant has one tenant wait with 16,000 messages for 16,000 paths, and all connections taken.
func BenchmarkBacklogOfATenant(b *testing.B) {
	s := shape.New(shape.Config{MaxConnections: 500, Tenant: shape.SharedLimits{Connections: 500}})
	items := benchItems(16_000, 1)
	path := func(i int) shape.Path { return shape.Path{Site: shape.Site(fmt.Sprintf("mx.%d.test", i))} }
	paths := make([]shape.Path, 16_000)
	for i := range paths {
		paths[i] = path(i)
		s.Add(noon, paths[i], items[i])
	}
	now := noon
	var busy []shape.Work
	for w, ok := s.Next(now); ok; w, ok = s.Next(now) {
		busy = append(busy, w)
	}
	reply := []shape.Reply{taken}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now = now.Add(time.Millisecond)
		done := busy[i%len(busy)]
		s.Observe(now, shape.Outcome{Connection: done.Connection, Replies: reply})
		s.Add(now, done.Path, done.Items[0])
		w, ok := s.Next(now)
		if !ok {
			b.Fatal("a free connection is not used")
		}
		busy[i%len(busy)] = w
		s.Closing()
	}
}

func BenchmarkExplain(b *testing.B) {
	s := shape.New(shape.Config{})
	for i, item := range benchItems(10_000, 20) {
		s.Add(noon, shape.Path{Site: shape.Site(fmt.Sprintf("mx.%d.test", i))}, item)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Explain(noon)
	}
}

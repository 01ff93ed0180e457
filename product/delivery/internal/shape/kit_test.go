package shape_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/mail/report"
	"postrider/product/delivery/internal/shape"
	"postrider/world"
)

var noon = time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC)

// bench drives a Shaper through time.
type bench struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	*shape.Shaper
	now  time.Time
	next int // for names
}

func newBench(t *testing.T, config shape.Config) *bench {
	return &bench{t: t, Shaper: shape.New(config), now: noon}
}

// table reads providers over the shipped ones.
func table(t *testing.T, text string) shape.Table {
	t.Helper()
	over, err := shape.ReadProviders(text)
	if err != nil {
		t.Fatal(err)
	}
	return shape.Shipped().With(over)
}

func siteOf(hosts ...string) shape.Site {
	var servers []world.MX
	for _, host := range hosts {
		servers = append(servers, world.MX{Host: host, Preference: 10})
	}
	return shape.Shipped().Site(servers)
}

var (
	google  = shape.Path{Site: siteOf("aspmx.l.google.com.")}
	example = shape.Path{Site: siteOf("mx.example.net.")}
)

// add adds one recipient of an email of its own.
func (b *bench) add(to shape.Path, tenant string, class shape.Class) {
	b.t.Helper()
	b.next++
	item := shape.Item{Recipient: fmt.Sprint("r", b.next), Email: fmt.Sprint("e", b.next), Domain: "example.net", Tenant: tenant, Class: class}
	if back, ok := b.Add(b.now, to, item); !ok {
		b.t.Fatalf("item %d came back: %+v", b.next, back)
	}
}

func (b *bench) addMany(count int, to shape.Path, tenant string, class shape.Class) {
	b.t.Helper()
	for range count {
		b.add(to, tenant, class)
	}
}

// all returns everything that can be sent now.
func (b *bench) all() []shape.Work {
	b.t.Helper()
	var all []shape.Work
	for w, ok := b.Next(b.now); ok; w, ok = b.Next(b.now) {
		all = append(all, w)
	}
	return all
}

// one returns the only thing that can be sent now.
func (b *bench) one() shape.Work {
	b.t.Helper()
	all := b.all()
	if len(all) != 1 {
		b.t.Fatalf("%d things can be sent, not one: %+v", len(all), all)
	}
	return all[0]
}

func (b *bench) none(why string) {
	b.t.Helper()
	if all := b.all(); len(all) != 0 {
		b.t.Fatalf("%s: %+v", why, all)
	}
}

func (b *bench) move(d time.Duration) { b.now = b.now.Add(d) }

var taken = shape.Reply{Speaker: shape.TheServer, Code: 250, Enhanced: "2.0.0", Text: "OK"}

// said is a refusal, classified as the delivery does it.
func said(code int, enhanced, text string) shape.Reply {
	v := report.Classify(report.Reply{Code: code, Enhanced: enhanced, Text: text, Stage: "end_of_data"})
	return shape.Reply{Speaker: shape.TheServer, Code: code, Enhanced: enhanced, Text: text, Class: v.Class, Category: v.Category}
}

var tooFast = said(421, "4.7.28", "An unusual rate of unsolicited mail originating from your IP address has been detected.")

func (b *bench) went(w shape.Work) {
	b.Observe(b.now, shape.Outcome{Connection: w.Connection, Replies: []shape.Reply{taken}})
}

func (b *bench) refused(w shape.Work, r shape.Reply) {
	b.Observe(b.now, shape.Outcome{Connection: w.Connection, Replies: []shape.Reply{r}, Closed: r.Code == 421})
}

func (b *bench) failed(w shape.Work, f shape.Failure) {
	b.Observe(b.now, shape.Outcome{Connection: w.Connection, Failure: f, Closed: true})
}

// state returns what is told about a path.
func (b *bench) state(path shape.Path) shape.PathState {
	b.t.Helper()
	for _, st := range b.Explain(b.now) {
		if st.Path == path {
			return st
		}
	}
	b.t.Fatalf("nothing is told about %v", path)
	return shape.PathState{}
}

// sendOut sends everything there is, each thing going well, and returns it in order.
func (b *bench) sendOut() []shape.Work {
	b.t.Helper()
	var sent []shape.Work
	for {
		batch := b.all()
		for _, w := range batch {
			b.went(w)
		}
		sent = append(sent, batch...)
		b.Closing()
		if b.Waiting() == 0 {
			return sent
		}
		if len(batch) == 0 {
			wake := b.NextWake(b.now)
			if wake.IsZero() {
				b.t.Fatalf("%d items wait and nothing will wake them", b.Waiting())
			}
			b.now = wake
		}
	}
}

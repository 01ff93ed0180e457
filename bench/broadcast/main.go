// Command broadcast measures a broadcast on the built program with the embedded database: how fast its recipients are written down, what
// memory that takes, how fast the mail goes out beside single messages in the same run, and how long mail that somebody waits for takes
// meanwhile. Everything goes to a server that takes all. The benchmark beside it measures the same inside one process, without sending.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"postrider/bench/measure"
)

const (
	// expandBound is how many recipients a second must be written down.
	expandBound = 10_000
	// peakBound is how much memory the program may hold at most, in MB, whatever the number of recipients.
	peakBound = 300
	// shareBound is which share of the rate of single messages a broadcast must reach.
	shareBound = 0.8
	// urgentBound is how long mail that somebody waits for may take meanwhile, from the request to the recipient's server, for 99 of 100.
	urgentBound = 2 * time.Second
)

type options struct {
	people, deliver, connections int
	during                       time.Duration
	profile                      string
}

func main() {
	var o options
	flag.IntVar(&o.people, "people", 100_000, "how many recipients the broadcast has")
	flag.IntVar(&o.deliver, "deliver", 0, "cancel the broadcast when so many have it; 0 delivers all")
	flag.IntVar(&o.connections, "connections", 40, "connections to the receiving server")
	flag.DurationVar(&o.during, "for", 15*time.Second, "how long single messages are handed in")
	flag.StringVar(&o.profile, "profile", "", "file for a profile of the processor while the broadcast is sent")
	measure.Main("broadcast", func(ctx context.Context) error {
		if o.deliver <= 0 || o.deliver > o.people {
			o.deliver = o.people
		}
		return run(ctx, o)
	})
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp(".", "bench-broadcast-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sink, err := measure.StartSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	home, err := measure.NewHome(ctx, dir, sink, o.connections)
	if err != nil {
		return err
	}
	defer home.Leave()
	list, err := fillList(ctx, home, o.people)
	if err != nil {
		return err
	}
	fmt.Printf("broadcast: %d recipients, %d connections to the server that takes all, %d cores shared with the load generator and the server\n\n", o.people, o.connections, runtime.NumCPU())
	single, err := measureSingle(ctx, home, sink, o)
	if err != nil {
		return err
	}
	return measureBroadcast(ctx, home, sink, o, list, single)
}

// page is what every mail says.
var page = "<h1>Hi there</h1>" + strings.Repeat("<p>News for your plan, and more of it.</p>", 100)

// measureSingle returns how many single messages of the same size a second are accepted and delivered.
func measureSingle(ctx context.Context, home *measure.Home, sink *measure.Sink, o options) (float64, error) {
	p, err := home.Serve("api,smtp,worker")
	if err != nil {
		return 0, err
	}
	defer p.Stop()
	address := strings.TrimPrefix(p.Text("http"), "http://")
	request := func(worker, n int) []byte {
		return single(address, home.Key, fmt.Sprintf("single-%d-%d@example.net", worker, n))
	}
	within, done := context.WithTimeout(ctx, o.during+5*time.Minute)
	defer done()
	sink.Reset()
	warm, err := measure.Load(ctx, address, 16, o.during/8, request)
	if err != nil {
		return 0, err
	}
	if _, err := sink.Await(within, warm.Count); err != nil {
		return 0, err
	}
	sink.Reset()
	start, cpu := time.Now(), p.CPU()
	taken, err := measure.Load(ctx, address, 16, o.during, request)
	if err != nil {
		return 0, err
	}
	if taken.Failed > 0 {
		return 0, fmt.Errorf("%d requests failed, the first with %s", taken.Failed, taken.FirstFailure)
	}
	last, err := sink.Await(within, taken.Count)
	if err != nil {
		return 0, err
	}
	rate := float64(taken.Count) / last.Sub(start).Seconds()
	fmt.Printf("single messages, POST /emails until the server has them   %8.0f /s   %.2f CPU s/1,000\n", rate, (p.CPU()-cpu).Seconds()*1000/float64(taken.Count))
	return rate, nil
}

func single(address, key, to string) []byte {
	body := fmt.Sprintf(`{"from":"Acme <hello@acme.test>","to":[%q],"subject":"Hi there","html":%q}`, to, page)
	return measure.Post("/v1/emails", address, map[string]string{"Authorization": "Bearer " + key}, []byte(body))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

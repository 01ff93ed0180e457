// Command disk measures how much room messages take once they are delivered: so many are accepted, delivered to a sink, followed by
// statistics and the log, and then the tables are weighed, on both engines.
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"postrider/bench/measure"
)

func main() {
	messages := flag.Int("messages", 100_000, "messages to weigh")
	size := flag.Int("bytes", 2000, "bytes of the body of each")
	engine := flag.String("engine", "", "sqlite or postgres; both if empty")
	measure.Main("disk", func(ctx context.Context) error {
		return measure.OnEngines(*engine, func(engine string) error { return run(ctx, engine, *messages, *size) })
	})
}

func run(ctx context.Context, engine string, messages, size int) error {
	in, err := measure.InstallOn(ctx, engine)
	if err != nil {
		return err
	}
	defer in.Close()
	scales, err := openScales(ctx, in)
	if err != nil {
		return err
	}
	defer scales.close()
	before, err := scales.weigh(ctx)
	if err != nil {
		return err
	}
	if err := deliver(ctx, in, scales, messages, size); err != nil {
		return err
	}
	after, err := scales.weigh(ctx)
	if err != nil {
		return err
	}
	report(engine, messages, size, before, after)
	return nil
}

// deliver hands the messages in, a hundred at a time, and returns once all are delivered and followed.
func deliver(ctx context.Context, in measure.Installation, scales *scales, messages, size int) error {
	sink, err := measure.StartSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	names, err := measure.Start(ctx, in.Dir, in.Program, "dev", "--data", filepath.Join(in.Dir, "names"), "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer names.Stop()
	server, err := in.Serve(ctx, "--roles", "api,worker", "--resolver", names.Text("dns"), "--smtp-port", strconv.Itoa(sink.Port))
	if err != nil {
		return err
	}
	const batch = 100
	for from := 0; from < messages; from += batch {
		var list []map[string]any
		for n := from; n < min(from+batch, messages); n++ {
			list = append(list, map[string]any{"from": "hello@acme.test", "to": fmt.Sprintf("user%d@d%d.test", n, n%1000), "subject": fmt.Sprintf("Your order %d", n), "html": body(n, size)})
		}
		if err := measure.SendBatch(ctx, server.Text("http"), in.Key, list); err != nil {
			return err
		}
	}
	if err := scales.await(ctx, messages); err != nil {
		return err
	}
	return server.Stop()
}

// body is different in every message, and can be compressed to about half, as far as an engine does that.
func body(n, size int) string {
	var b strings.Builder
	for word := uint64(n) + 1; b.Len() < size; {
		word = word*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%x ", word>>24)
	}
	return b.String()[:size]
}

func report(engine string, messages, size int, before, after []weight) {
	known := map[string]int64{}
	for _, w := range before {
		known[w.name] = w.bytes
	}
	perMillion := func(bytes int64) float64 { return float64(bytes) / float64(messages) * 1e6 / 1e9 }
	fmt.Printf("%s: %d messages of %d bytes, one recipient each, delivered; GB for a million\n", engine, messages, size)
	for _, w := range after {
		if grown := perMillion(w.bytes - known[w.name]); grown >= 0.01 {
			fmt.Printf("%-24s %8.2f\n", w.name, grown)
		}
	}
	fmt.Println()
}

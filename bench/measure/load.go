package measure

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Result is what a load has shown.
type Result struct {
	Count    int
	Failed   int
	Took     time.Duration
	P50, P99 time.Duration
	// FirstFailure is the first answer that was not 2xx.
	FirstFailure string
}

// Rate is answers per second.
func (r Result) Rate() float64 { return float64(r.Count) / r.Took.Seconds() }

// Load posts the request over and over on many connections for a while. It speaks HTTP by hand, because a full client would
// use as much of the two cores as the server it measures.
func Load(ctx context.Context, address string, connections int, during time.Duration, request func(worker, n int) []byte) (Result, error) {
	return gather(ctx, connections, during, func(ctx context.Context, worker int) (own, error) {
		return post(ctx, address, worker, request)
	})
}

// own is what one connection has seen.
type own struct {
	took   []time.Duration
	failed int
	first  string
}

// gather runs one worker per connection until the time is over, and adds up.
func gather(ctx context.Context, connections int, during time.Duration, work func(ctx context.Context, worker int) (own, error)) (Result, error) {
	ctx, done := context.WithTimeout(ctx, during)
	defer done()
	var mu sync.Mutex
	var took []time.Duration
	var result Result
	var all sync.WaitGroup
	errs := make(chan error, connections)
	start := time.Now()
	for worker := range connections {
		all.Go(func() {
			seen, err := work(ctx, worker)
			if err != nil {
				errs <- err
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, seen.took...)
			result.Failed += seen.failed
			if result.FirstFailure == "" {
				result.FirstFailure = seen.first
			}
		})
	}
	all.Wait()
	result.Took = time.Since(start)
	result.Count = len(took)
	slices.Sort(took)
	if len(took) > 0 {
		result.P50, result.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	select {
	case err := <-errs:
		return result, err
	default:
		return result, nil
	}
}

// post uses one connection until the time is over.
func post(ctx context.Context, address string, worker int, request func(worker, n int) []byte) (seen own, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return seen, err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 0; ctx.Err() == nil; n++ {
		start := time.Now()
		if _, err := conn.Write(request(worker, n)); err != nil {
			return seen, err
		}
		status, body, err := readAnswer(in)
		if err != nil {
			return seen, err
		}
		if status/100 != 2 {
			seen.failed++
			if seen.first == "" {
				seen.first = fmt.Sprintf("%d %s", status, body)
			}
			continue
		}
		seen.took = append(seen.took, time.Since(start))
	}
	return seen, nil
}

func readAnswer(in *bufio.Reader) (status int, body []byte, err error) {
	line, err := in.ReadString('\n')
	if err != nil || len(line) < 12 {
		return 0, nil, fmt.Errorf("status line %q: %v", line, err)
	}
	if status, err = strconv.Atoi(line[9:12]); err != nil {
		return 0, nil, err
	}
	length := 0
	for {
		if line, err = in.ReadString('\n'); err != nil {
			return 0, nil, err
		}
		if line == "\r\n" {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "content-length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, nil, err
			}
		}
	}
	body = make([]byte, length)
	_, err = io.ReadFull(in, body)
	return status, body, err
}

// Post writes a POST request with the given headers and body.
func Post(path, host string, headers map[string]string, body []byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, host, len(body))
	for name, value := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	return append([]byte(b.String()+"\r\n"), body...)
}

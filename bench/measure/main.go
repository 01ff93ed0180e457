package measure

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Main reads the flags, which its caller has defined, and runs a benchmark until it is done or interrupted. The program fails if it does.
func Main(name string, run func(ctx context.Context) error) {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// OnEngines runs a benchmark on a database engine, or on one after the other if none is named.
func OnEngines(engine string, run func(engine string) error) (failed error) {
	engines := []string{"sqlite", "postgres"}
	if engine != "" && !slices.Contains(engines, engine) {
		return fmt.Errorf("there is no engine %q: use one of %v", engine, engines)
	}
	for _, each := range engines {
		if engine == "" || engine == each {
			failed = errors.Join(failed, run(each))
		}
	}
	return failed
}

// Numbers are a flag with commas in between.
type Numbers []int

// Set reads the flag.
func (n *Numbers) Set(list string) error {
	*n = nil
	for text := range strings.SplitSeq(list, ",") {
		number, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		*n = append(*n, number)
	}
	return nil
}

// String writes the flag as it is given.
func (n *Numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

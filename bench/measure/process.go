// Package measure is what the benchmarks have in common: processes with their cost, load over bare connections, and tables.
package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Build compiles the program into dir, with build tags if any are given, and returns its path.
func Build(ctx context.Context, dir string, tags ...string) (string, error) {
	path := filepath.Join(dir, "postrider")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", strings.Join(tags, ","), "-o", path, "./cmd/postrider")
	build.Stderr = os.Stderr
	return path, build.Run()
}

// Process is a running program whose cost can be read.
type Process struct {
	cmd *exec.Cmd
	// Ready is what the program wrote into its ready file.
	Ready map[string]any
}

const startWithin = 30 * time.Second

// Start runs a program that announces itself with --ready-file.
func Start(ctx context.Context, dir, program string, args ...string) (*Process, error) {
	ready := filepath.Join(dir, fmt.Sprintf("ready-%d.json", time.Now().UnixNano()))
	cmd := exec.CommandContext(ctx, program, append(args, "--ready-file", ready)...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for start := time.Now(); time.Since(start) < startWithin; time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(ready)
		if err != nil {
			continue
		}
		p := &Process{cmd: cmd}
		return p, json.Unmarshal(raw, &p.Ready)
	}
	_ = cmd.Process.Kill()
	return nil, fmt.Errorf("%s was not ready within %s", program, startWithin)
}

// Spawn runs a program that announces nothing.
func Spawn(ctx context.Context, program string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	return &Process{cmd: cmd}, cmd.Start()
}

// Text returns a value of the ready file.
func (p *Process) Text(key string) string {
	text, _ := p.Ready[key].(string)
	return text
}

// Stop ends the program in good order.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// Pause takes the processor from the program until Resume.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused program go on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Kill ends the program at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// CPU returns the processor time the program has used.
func (p *Process) CPU() time.Duration { return cpuOf(p.cmd.Process.Pid, false) }

// cpuOf returns the processor time that a process has used, and on demand also that of its children that have ended.
func cpuOf(pid int, withEnded bool) (total time.Duration) {
	fields := statOf(pid)
	if len(fields) < 15 {
		return 0
	}
	counted := fields[11:13]
	if withEnded {
		counted = fields[11:15]
	}
	const ticksPerSecond = 100
	for _, field := range counted {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		total += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	return total
}

// statOf returns what the kernel tells of a process after its name: the parent is the second field, the times are the 12th and 13th, and
// those of ended children follow.
func statOf(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // the name stands in brackets and may contain spaces
}

// PeakMemory returns the most memory the program has held, in bytes.
func (p *Process) PeakMemory() int64 {
	return kilobytesIn(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmHWM:") << 10
}

// kilobytesIn reads an entry of what the kernel tells about memory.
func kilobytesIn(path, entry string) int64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), entry); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kilobytes
		}
	}
	return 0
}

// SaveProfile writes what the program tells of itself under /debug/pprof into a file; none if its name is empty.
func (p *Process) SaveProfile(kind, file string) error {
	if file == "" {
		return nil
	}
	answer, err := http.Get("http://" + p.Text("admin") + "/debug/pprof/" + kind)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, answer.Body)
	return errors.Join(err, out.Close())
}

// Metric adds up the values of a metric that has labels.
func (p *Process) Metric(ctx context.Context, name string) (sum float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Text("admin")+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name); ok && strings.HasPrefix(rest, "{") {
			value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
			if err != nil {
				return 0, err
			}
			sum += value
		}
	}
	return sum, nil
}

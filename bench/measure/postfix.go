package measure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Postfix is a Postfix of our own, with its own configuration, queue and certificate.
type Postfix struct {
	Address string
	dir     string
}

const postfixMain = `compatibility_level = 3.6
queue_directory = %[1]s/queue
data_directory = %[1]s/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = bench.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
alias_maps =
local_recipient_maps =
default_process_limit = 200
smtpd_client_connection_count_limit = 0
smtpd_peername_lookup = no
message_size_limit = 50000000
smtpd_tls_cert_file = %[1]s/certificate.pem
smtpd_tls_key_file = %[1]s/key.pem
`

const postfixMaster = `127.0.0.1:%d inet n - n - 200 smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - 200 smtp
error unix - - n - - error
retry unix - - n - - error
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
`

// HasPostfix tells whether a Postfix can be run here: it must be installed, and it only starts as root.
func HasPostfix() bool {
	_, err := os.Stat("/usr/lib/postfix/sbin/master")
	return err == nil && os.Getuid() == 0
}

// StartPostfix runs Postfix with further settings until Stop. Mail that is only to be accepted is put on hold by the setting
// Hold, so that no other part of Postfix works in the same seconds.
func StartPostfix(ctx context.Context, settings string) (*Postfix, error) {
	dir, err := os.MkdirTemp("", "bench-postfix-")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	p := &Postfix{Address: fmt.Sprintf("127.0.0.1:%d", port), dir: dir}
	script := fmt.Sprintf(`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=bench.test -days 2 -keyout %[1]s/key.pem -out %[1]s/certificate.pem &&
chmod 755 %[1]s && mkdir -p %[1]s/queue %[1]s/data && chown postfix %[1]s/data && postfix -c %[1]s check && postfix -c %[1]s start`, dir)
	for name, text := range map[string]string{"main.cf": fmt.Sprintf(postfixMain, dir) + settings, "master.cf": fmt.Sprintf(postfixMaster, port)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if out, err := exec.CommandContext(ctx, "sh", "-c", script).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start postfix: %w\n%s", err, out)
	}
	for start := time.Now(); time.Since(start) < startWithin; time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", p.Address); err == nil {
			conn.Close()
			return p, nil
		}
	}
	return nil, fmt.Errorf("postfix did not open %s", p.Address)
}

// Hold makes Postfix keep everything it accepts.
const Hold = "smtpd_client_restrictions = check_client_access static:HOLD\n"

// OfferTLS makes Postfix encrypt the sessions of those who ask for it.
const OfferTLS = "smtpd_tls_security_level = may\n"

// Stop ends Postfix and removes its queue.
func (p *Postfix) Stop() error {
	return errors.Join(exec.Command("postfix", "-c", p.dir, "stop").Run(), os.RemoveAll(p.dir))
}

// CPU returns the processor time of all processes of this Postfix, those that have ended included.
func (p *Postfix) CPU() (total time.Duration) {
	for i, pid := range p.processes() {
		total += cpuOf(pid, i == 0)
	}
	return total
}

// Memory returns what its processes hold, in bytes. What several share is counted once.
func (p *Postfix) Memory() (total int64) {
	for _, pid := range p.processes() {
		total += kilobytesIn(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:") << 10
	}
	return total
}

// processes are the master and its children.
func (p *Postfix) processes() (pids []int) {
	raw, err := os.ReadFile(filepath.Join(p.dir, "queue/pid/master.pid"))
	if err != nil {
		return nil
	}
	master, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil
	}
	pids = append(pids, master)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if fields := statOf(pid); len(fields) > 1 && fields[1] == strconv.Itoa(master) {
			pids = append(pids, pid)
		}
	}
	return pids
}

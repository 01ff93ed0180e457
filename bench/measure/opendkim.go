package measure

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// OpenDKIM is a signer for Postfix, with a key of its own.
type OpenDKIM struct {
	// Socket is where Postfix finds it. Over TCP the two would wait for each other's acknowledgements, 40 ms and more a message.
	Socket  string
	dir     string
	process *Process
}

const openDKIMConf = `Syslog no
Background no
Mode s
Domain %[2]s
Selector bench
KeyFile %[1]s/key.pem
Socket local:%[1]s/socket
UMask 0000
Canonicalization relaxed/relaxed
InternalHosts 0.0.0.0/0
RequireSafeKeys no
`

// HasOpenDKIM tells whether OpenDKIM can be run here.
func HasOpenDKIM() bool {
	_, err := exec.LookPath("opendkim")
	return err == nil
}

// StartOpenDKIM signs mail of the domain with an RSA key of 2,048 bits until Stop.
func StartOpenDKIM(ctx context.Context, domain string) (*OpenDKIM, error) {
	dir, err := os.MkdirTemp("", "bench-opendkim-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // Postfix is another user
		return nil, err
	}
	key := exec.CommandContext(ctx, "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", filepath.Join(dir, "key.pem"))
	if out, err := key.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a key: %w\n%s", err, out)
	}
	conf := filepath.Join(dir, "opendkim.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, openDKIMConf, dir, domain), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "opendkim", "-f", "-x", conf)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	o := &OpenDKIM{Socket: filepath.Join(dir, "socket"), dir: dir, process: &Process{cmd: cmd}}
	for start := time.Now(); time.Since(start) < startWithin; time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("unix", o.Socket); err == nil {
			conn.Close()
			return o, nil
		}
	}
	return nil, fmt.Errorf("opendkim did not open %s", o.Socket)
}

// CPU returns the processor time it has used.
func (o *OpenDKIM) CPU() time.Duration { return o.process.CPU() }

// Memory returns the most it has held, in bytes.
func (o *OpenDKIM) Memory() int64 { return o.process.PeakMemory() }

// Stop ends it and removes its key.
func (o *OpenDKIM) Stop() error {
	_ = o.process.Stop() // it ends by the signal, which counts as a failure
	return os.RemoveAll(o.dir)
}

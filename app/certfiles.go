package app

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"postrider/world"
)

// lookAtFilesEvery is how often the files are looked at, at most: whoever renews them need not tell us.
const lookAtFilesEvery = 10 * time.Second

// certificateFiles are a certificate and its key in files, read again when they change.
type certificateFiles struct {
	world     world.World
	cert, key string

	mu      sync.Mutex
	current *tls.Certificate // guarded by mu, as are the others
	state   [2]fileState
	looked  time.Time
}

// fileState is what changes when somebody writes a file.
type fileState struct {
	modified time.Time
	size     int64
}

func openCertificateFiles(w world.World, cert, key string) (*certificateFiles, error) {
	if cert == "" || key == "" {
		return nil, Misconfigured{fmt.Errorf("--tls-cert and --tls-key go together; only one was given (certificate %q, key %q)", cert, key)}
	}
	f := &certificateFiles{world: w, cert: cert, key: key}
	if err := f.read(); err != nil {
		return nil, Misconfigured{fmt.Errorf("--tls-cert %s, --tls-key %s: %w", cert, key, err)}
	}
	return f, nil
}

func (f *certificateFiles) read() error {
	state, err := f.look()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return err
	}
	f.current, f.state, f.looked = &pair, state, f.world.Clock.Now()
	return nil
}

func (f *certificateFiles) look() (state [2]fileState, err error) {
	for i, path := range []string{f.cert, f.key} {
		info, err := os.Stat(path)
		if err != nil {
			return state, err
		}
		state[i] = fileState{info.ModTime(), info.Size()}
	}
	return state, nil
}

// forMail returns the certificate of the files as they are, or were when they last made sense: between the writing of the one file and
// of the other they do not.
func (f *certificateFiles) forMail(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.world.Clock.Now()
	if now.Sub(f.looked) < lookAtFilesEvery {
		return f.current, nil
	}
	f.looked = now
	if state, err := f.look(); err == nil && state == f.state {
		return f.current, nil
	}
	if err := f.read(); err != nil {
		f.world.Log.Error("the changed certificate cannot be used; the old one is kept", "certificate", f.cert, "key", f.key, "error", err)
		return f.current, nil
	}
	f.world.Log.Info("certificate read again", "certificate", f.cert)
	return f.current, nil
}

func (f *certificateFiles) forWeb(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.forMail(hello)
}

func (f *certificateFiles) close() {}

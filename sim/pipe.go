package sim

import (
	"io"
	"net"
	"sync"
	"time"
)

// pipe returns the two ends of a connection in memory. Unlike net.Pipe it buffers, as a network does, so both ends may write
// before either reads. Deadlines mean nothing here: simulated time does not pass while a conversation is held.
func pipe(local, remote net.Addr) (client, server *end) {
	there, back := newStream(), newStream()
	return &end{in: back, out: there, local: local, remote: remote}, &end{in: there, out: back, local: remote, remote: local}
}

// stream carries bytes one way.
type stream struct {
	mu     sync.Mutex
	news   *sync.Cond
	bytes  []byte // guarded by mu
	closed bool   // guarded by mu
}

func newStream() *stream {
	s := &stream{}
	s.news = sync.NewCond(&s.mu)
	return s
}

// end is one end of a connection.
type end struct {
	in, out       *stream
	local, remote net.Addr
	beforeRead    func(arrived []byte) // called with what is about to be read; may panic to crash the process
}

func (e *end) Read(p []byte) (int, error) {
	e.in.mu.Lock()
	for len(e.in.bytes) == 0 && !e.in.closed {
		e.in.news.Wait()
	}
	if len(e.in.bytes) == 0 {
		e.in.mu.Unlock()
		return 0, io.EOF
	}
	n := copy(p, e.in.bytes)
	e.in.bytes = e.in.bytes[n:]
	e.in.mu.Unlock()
	if e.beforeRead != nil {
		e.beforeRead(p[:n])
	}
	return n, nil
}

func (e *end) Write(p []byte) (int, error) {
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	if e.out.closed {
		return 0, io.ErrClosedPipe
	}
	e.out.bytes = append(e.out.bytes, p...)
	e.out.news.Broadcast()
	return len(p), nil
}

// Close ends both directions; what has been written can still be read.
func (e *end) Close() error {
	for _, s := range []*stream{e.in, e.out} {
		s.mu.Lock()
		s.closed = true
		s.news.Broadcast()
		s.mu.Unlock()
	}
	return nil
}

func (e *end) LocalAddr() net.Addr              { return e.local }
func (e *end) RemoteAddr() net.Addr             { return e.remote }
func (e *end) SetDeadline(time.Time) error      { return nil }
func (e *end) SetReadDeadline(time.Time) error  { return nil }
func (e *end) SetWriteDeadline(time.Time) error { return nil }

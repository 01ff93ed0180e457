package smtp

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// Server answers SMTP clients on any number of listeners.
type Server struct {
	config Config
	doors  doors

	mu        sync.Mutex
	stopping  bool                      // guarded by mu
	listeners map[net.Listener]struct{} // guarded by mu
	conns     map[*serverConn]struct{}  // guarded by mu

	// running counts the connections in conns. It grows only under mu while stopping is false, so Shutdown can wait for it.
	running sync.WaitGroup
}

// NewServer returns a server, or an error if the settings cannot work together.
func NewServer(config Config) (*Server, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return &Server{
		config:    config,
		doors:     newDoors(config.MaxConnections, config.MaxConnectionsPerIP),
		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*serverConn]struct{}),
	}, nil
}

// Serve accepts connections until Shutdown, and then returns nil, or until ctx ends or the listener breaks, and then returns
// why. The end of ctx cuts all connections of this call at once. When Serve returns, its connections are gone and the
// listener is closed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	defer listener.Close()
	if !s.addListener(listener) {
		return nil
	}
	defer s.removeListener(listener)
	release := context.AfterFunc(ctx, func() { listener.Close() })
	defer release()

	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		conn, err := s.accept(ctx, listener)
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return ctx.Err()
		case err != nil && s.isStopping():
			return nil
		case err != nil:
			return err
		}
		conns.Go(func() { s.serveConn(ctx, conn) })
	}
}

// The pauses after a failed accept: from a blink, so that one lost connection costs nothing, to a second, so that a machine
// without file descriptors is left in peace.
const (
	acceptPauseFirst = 5 * time.Millisecond
	acceptPauseLast  = time.Second
)

// accept waits for a connection and outlasts shortages, which pass when other connections end.
func (s *Server) accept(ctx context.Context, listener net.Listener) (net.Conn, error) {
	for pause := acceptPauseFirst; ; pause = min(2*pause, acceptPauseLast) {
		conn, err := listener.Accept()
		if err == nil || !isShortage(err) {
			return conn, err
		}
		s.config.Log.Warn("smtp accept failed", "error", err, "pause_ms", pause.Milliseconds())
		over, giveUp := s.config.Clock.After(pause)
		select {
		case <-over:
		case <-ctx.Done():
			giveUp()
			return nil, ctx.Err()
		}
	}
}

func isShortage(err error) bool {
	for _, shortage := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, shortage) {
			return true
		}
	}
	return false
}

// serveConn leads one dialogue from its first to its last byte.
func (s *Server) serveConn(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	key := peerOf(conn.RemoteAddr())
	if refusal := s.doors.enter(key); refusal != nil {
		s.turnAway(conn, refusal)
		return
	}
	defer s.doors.leave(key)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release := context.AfterFunc(ctx, func() { conn.Close() })
	defer release()
	c := newServerConn(&s.config, conn, cancel)
	if !s.addConn(c) {
		s.turnAway(conn, replyStopping)
		return
	}
	defer s.removeConn(c)
	c.serve(ctx)
}

// turnAway says why and closes. The wait is short: a peer that is turned away has no right to a slow goodbye.
func (s *Server) turnAway(conn net.Conn, refusal *Reply) {
	if s.config.ImplicitTLS {
		return
	}
	conn.SetWriteDeadline(s.config.Clock.Now().Add(time.Second))
	conn.Write(refusal.appendWire(nil))
}

// Shutdown stops accepting, lets messages whose DATA was answered be finished, tells everyone else 421, and waits for the
// connections to end. When ctx ends first, it cuts the rest and returns why.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	for listener := range s.listeners {
		listener.Close()
	}
	for c := range s.conns {
		c.stop()
	}
	s.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		s.running.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.cancel()
	}
	return ctx.Err()
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

func (s *Server) addListener(listener net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping {
		s.listeners[listener] = struct{}{}
	}
	return !s.stopping
}

func (s *Server) removeListener(listener net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, listener)
}

func (s *Server) addConn(c *serverConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) removeConn(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.running.Done()
}

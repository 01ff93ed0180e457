package db

import "sync"

// waker tells goroutines of this process, and on PostgreSQL other processes, that a topic has news. A wake-up is a hint that
// saves waiting: it may come without news, and whoever waits also looks by itself from time to time.
type waker struct {
	mu          sync.Mutex
	subscribers map[string]map[chan struct{}]bool // guarded by mu
	publish     func(topic string)                // tells other processes; nil on the embedded engine
	stop        func()
}

func newWaker() *waker { return &waker{subscribers: map[string]map[chan struct{}]bool{}} }

// Subscribe returns a channel that receives after news on topic, and a function that ends the subscription. Wake-ups that
// nobody has taken yet are one.
func (d *DB) Subscribe(topic string) (<-chan struct{}, func()) { return d.waker.subscribe(topic) }

func (w *waker) subscribe(topic string) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subscribers[topic] == nil {
		w.subscribers[topic] = map[chan struct{}]bool{}
	}
	w.subscribers[topic][ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.subscribers[topic], ch)
	}
}

func (w *waker) wake(topic string) {
	w.wakeHere(topic)
	if w.publish != nil {
		w.publish(topic)
	}
}

func (w *waker) wakeHere(topic string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.subscribers[topic] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (w *waker) close() {
	if w.stop != nil {
		w.stop()
	}
}

package test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// queued is how deep the queue of the table of faults is: make faults QUEUED=1000000.
var queued = flag.Int("queued", 10_000, "how many messages wait in the queue when processes are killed")

// promiseMany hands in many emails, a hundred at a time.
func (s *shop) promiseMany(count int) {
	s.t.Helper()
	const batch, clients = 100, 4
	var next atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for from := int(next.Add(batch)) - batch; from < count; from = int(next.Add(batch)) - batch {
				if err := s.promiseBatch(from, min(from+batch, count)); err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func (s *shop) promiseBatch(from, to int) error {
	var list []map[string]any
	var recipients []string
	for n := from; n < to; n++ {
		recipients = append(recipients, fmt.Sprintf("many-%d@d%d.test", n, n%1000))
		list = append(list, map[string]any{"from": "olga@shop.test", "to": recipients[n-from], "subject": "Order", "text": "Thanks"})
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+s.address+"/v1/emails/batch", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	var made struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal(raw, &made); err != nil || len(made.Data) != len(list) {
		return fmt.Errorf("a batch was answered with %s: %.300s (%v)", answer.Status, raw, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range made.Data {
		s.promised[one.ID] = recipients[i]
	}
	return nil
}

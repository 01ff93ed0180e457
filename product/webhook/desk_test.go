package webhook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/platform/queue"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// full returns a line that has proved healthy and has more waiting than may begin at once.
func full(id string) *line {
	l := &line{item: queue.Item{ID: id}, endpoint: &Endpoint{ID: ID(id)}, window: maxWindow, taken: map[DeliveryID]bool{}}
	for i := range 2 * maxWindow {
		delivery := Delivery{ID: DeliveryID(fmt.Sprint(id, "/", i)), Webhook: ID(id)}
		l.taken[delivery.ID] = true
		l.waiting = append(l.waiting, job{delivery: delivery})
	}
	return l
}

func TestManyEndpointsThatHangLeaveRoomForOneMore(t *testing.T) {
	t.Parallel()
	d := newDesk(defaultInFlight)
	for i := range 500 {
		d.lines[ID(fmt.Sprint(i))] = full(fmt.Sprint(i))
	}
	for range 3 { // none of them ever answers
		d.begin(noon)
	}
	for id, l := range d.lines {
		if l.inFlight == 0 || l.inFlight > maxWindow {
			t.Errorf("endpoint %s has %d requests under way", id, l.inFlight)
		}
	}
	d.lines["late"] = full("late")
	if begun := d.begin(noon); len(begun) == 0 || d.inFlight > defaultInFlight {
		t.Fatalf("%d requests of a late endpoint began beside %d", len(begun), d.inFlight)
	}
}

func TestOneEndpointAloneGetsItsWholeWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(defaultInFlight)
	d.lines["a"] = full("a")
	if begun := d.begin(noon); len(begun) != maxWindow {
		t.Errorf("%d requests began", len(begun))
	}
	if _, more := d.nextOf("a", noon); more {
		t.Error("an eleventh request began")
	}
}

func TestAnEndpointThatDoesNotAnswerIsAskedLessAndLess(t *testing.T) {
	t.Parallel()
	d := newDesk(defaultInFlight)
	d.lines["a"] = full("a")
	begun := d.begin(noon)
	now := noon
	for _, j := range begun {
		d.finish(outcome{delivery: j.delivery}, now)
	}
	pauses := []time.Duration{}
	for range 5 {
		l := d.lines["a"]
		pauses = append(pauses, l.rests.Sub(now))
		if early := d.begin(l.rests.Add(-time.Millisecond)); len(early) != 0 {
			t.Fatal("a request began within the pause")
		}
		now = l.rests
		jobs := d.begin(now)
		if len(jobs) != 1 {
			t.Fatalf("%d requests after the pause", len(jobs))
		}
		d.finish(outcome{delivery: jobs[0].delivery}, now)
	}
	if last := pauses[len(pauses)-1]; last != longestPause {
		t.Errorf("pauses %v", pauses)
	}
	now = d.lines["a"].rests
	answered := d.begin(now)[0]
	d.finish(outcome{delivery: answered.delivery, attempt: Attempt{Status: 200}}, now)
	if again := d.begin(now); len(again) != 2 {
		t.Errorf("%d requests after an answer", len(again))
	}
}

func TestLargeEventsDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 256<<10)
	l := &line{window: maxWindow, taken: map[DeliveryID]bool{}}
	for round := range 3 {
		var jobs []job
		for i := range l.wants() {
			jobs = append(jobs, job{delivery: Delivery{ID: DeliveryID(fmt.Sprint(round, "/", i))}, body: body})
		}
		l.update(seen{endpoint: &Endpoint{}, jobs: jobs}, noon)
	}
	if size := len(l.waiting) * len(body); size > maxAhead || len(l.waiting) < maxWindow || len(l.taken) != len(l.waiting) {
		t.Errorf("%d bodies of together %d bytes wait in one line", len(l.waiting), size)
	}
}

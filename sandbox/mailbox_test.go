package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

func addNumbered(t *testing.T, b *mailbox, from, to int, raw []byte) {
	t.Helper()
	for i := from; i < to; i++ {
		m := &message{ID: fmt.Sprint("m", i), To: []string{"bob@example.test"}, ReceivedAt: time.Unix(int64(i), 0), Raw: raw}
		if err := b.add(m, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(b *mailbox) string {
	var list []string
	for _, e := range b.find("", 100) {
		list = append(list, e.ID)
	}
	return fmt.Sprint(list)
}

func TestTheOldestMessagesMakeRoom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		messages int
		bytes    int64
	}{"by number": {3, 1 << 30}, "by size": {1000, 5000}} {
		dir := t.TempDir()
		b, err := openMailbox(dir, test.messages, test.bytes)
		if err != nil {
			t.Fatal(err)
		}
		addNumbered(t, b, 0, 10, bytes.Repeat([]byte("x"), 1000))

		if got := ids(b); got != "[m9 m8 m7]" {
			t.Errorf("%s: %s", name, got)
		}
		if b.get("m6") != nil {
			t.Errorf("%s: m6 can still be found", name)
		}

		b.close()
		again, err := openMailbox(dir, test.messages, test.bytes)
		if err != nil || ids(again) != "[m9 m8 m7]" {
			t.Errorf("%s, opened again: %s, %v", name, ids(again), err)
		}
		again.close()
	}
}

func TestSegmentsWithoutMailAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := openMailbox(dir, 2, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	gone := &entry{}
	addNumbered(t, b, 0, 1, []byte("first"))
	*gone = entry{message: b.get("m0").message, place: b.get("m0").place}

	addNumbered(t, b, 1, 5, bytes.Repeat([]byte("x"), segmentBytes)) // each fills its segment

	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d segments for two messages, %v", len(files), err)
	}
	if _, found := b.raw(gone); found {
		t.Error("a dropped message can still be read")
	}
	if raw, found := b.raw(b.get("m3")); !found || len(raw) != segmentBytes {
		t.Errorf("m3: %d bytes", len(raw))
	}
}

func TestWhatContactsRememberIsBounded(t *testing.T) {
	t.Parallel()
	c := newContacts(2)
	start := time.Unix(0, 0)
	for i, key := range []string{"a", "b", "a", "c"} {
		c.first(key, start.Add(time.Duration(i)))
	}
	if _, known := c.when("a"); known {
		t.Error("the oldest is still known")
	}
	if at, known := c.when("b"); !known || !at.Equal(start.Add(1)) {
		t.Errorf("b: %v, %v", at, known)
	}
}

package sandbox_test

import (
	"strings"
	"testing"
)

// BenchmarkAccept measures the whole way of a message of 5 KB from MAIL to the mailbox, over one secure connection per core.
func BenchmarkAccept(b *testing.B) {
	box := openBox(b)
	raw := letter + strings.Repeat("A line of text that is as long as lines of text often are.\r\n", 80)
	b.SetBytes(int64(len(raw)))
	b.RunParallel(func(pb *testing.PB) {
		client := box.connect()
		if err := box.startTLS(client, "mx.example.test"); err != nil {
			b.Error(err)
			return
		}
		for pb.Next() {
			if reply := box.try(client, mailTo("bob@example.test"), raw); !strings.HasPrefix(reply, "250") {
				b.Error(reply)
				return
			}
		}
	})
}

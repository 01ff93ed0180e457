package smtp_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"postrider/mail/smtp"
)

// throwAway reads messages and forgets them.
func throwAway(_ context.Context, r io.Reader) *smtp.Reply {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return smtp.NewReply(451, "4.3.0", "not read")
	}
	return nil
}

var benchBody = []byte("Subject: hello\r\n\r\n" + strings.Repeat(strings.Repeat("x", 76)+"\r\n", 10_000/78))

// BenchmarkServer measures a raw client that pipelines 10 KB messages over four connections.
func BenchmarkServer(b *testing.B) {
	_, address := startServer(b, &desk{onData: throwAway}, smtp.Config{})
	request := append([]byte("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n"), benchBody...)
	request = append(request, ".\r\n"...)
	const replyBytes = len("250 2.1.0 Sender ok\r\n250 2.1.5 Recipient ok\r\n354 End data with <CR><LF>.<CR><LF>\r\n250 2.0.0 Message accepted\r\n")
	b.SetBytes(int64(len(benchBody)))
	b.ReportAllocs()
	inParallel(b, address, func(conn net.Conn, p *peer, rounds int) {
		p.send("HELO client.test\r\n")
		p.expect("250 ")
		buffer := make([]byte, replyBytes)
		for range rounds {
			conn.Write(request)
			if _, err := io.ReadFull(p.in, buffer); err != nil || !bytes.HasSuffix(buffer, []byte("accepted\r\n")) {
				b.Errorf("%q %v", buffer, err)
				return
			}
		}
	})
}

// BenchmarkClient measures whole transactions of our client with our server.
func BenchmarkClient(b *testing.B) {
	_, address := startServer(b, &desk{onData: throwAway}, smtp.Config{})
	b.SetBytes(int64(len(benchBody)))
	b.ReportAllocs()
	ctx := context.Background()
	var group sync.WaitGroup
	for range benchConnections {
		group.Go(func() {
			client := greet(b, dial(b, address))
			for range b.N/benchConnections + 1 {
				result, err := client.Send(ctx, envelope("b@mx.test"), bytes.NewReader(benchBody))
				if err != nil || !result.Final.Positive() {
					b.Errorf("%+v %v", result, err)
					return
				}
			}
		})
	}
	group.Wait()
}

const benchConnections = 4

func inParallel(b *testing.B, address string, run func(conn net.Conn, p *peer, rounds int)) {
	var group sync.WaitGroup
	for range benchConnections {
		p := connect(b, address)
		group.Go(func() { run(p.conn, p, b.N/benchConnections+1) })
	}
	group.Wait()
}

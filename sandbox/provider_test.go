package sandbox_test

import (
	"strings"
	"testing"

	"postrider/mail/smtp"
)

func TestProvidersLimitConnections(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]string{"google.test": "421 4.7.28 ", "outlook.test": "421 4.7.500 "} {
		b := openBox(t)
		var clients []*smtp.Client
		for range 5 {
			client := b.connect()
			if reply := b.try(client, mailTo("bob@"+domain), letter); !strings.HasPrefix(reply, "250 ") {
				t.Fatalf("%s: %q", domain, reply)
			}
			clients = append(clients, client)
		}

		if reply := b.send(mailTo("bob@"+domain), letter); !strings.HasPrefix(reply, want) {
			t.Errorf("%s, sixth connection: %q, want %q", domain, reply, want)
		}

		if reply := b.send(mailTo("bob@example.test"), letter); !strings.HasPrefix(reply, "250 ") {
			t.Errorf("another provider: %q", reply)
		}
		if reply := b.try(clients[0], mailTo("bob@"+domain), letter); !strings.HasPrefix(reply, "250 ") {
			t.Errorf("%s, a connection that is in: %q", domain, reply)
		}
		if got := b.messages("bob@" + domain); len(got) != 6 || got[0].Provider != domain {
			t.Errorf("%s: %d messages", domain, len(got))
		}
	}
}

func TestAConnectionThatEndsMakesRoom(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	var peers []*peer
	for range 5 {
		p := b.dial()
		p.say("EHLO client.test")
		p.say("MAIL FROM:<a@client.test>")
		p.say("RCPT TO:<bob@google.test>")
		peers = append(peers, p)
	}
	peers[0].say("QUIT")
	if !peers[0].closed() {
		t.Fatal("connection is still open")
	}

	if reply := b.send(mailTo("bob@google.test"), letter); !strings.HasPrefix(reply, "250 ") {
		t.Fatalf("%q", reply)
	}
}

func TestYahooLimitsMessagesOfAConnection(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	client := b.connect()
	for i := range 20 {
		if reply := b.try(client, mailTo("bob@yahoo.test"), letter); !strings.HasPrefix(reply, "250 ") {
			t.Fatalf("message %d: %q", i+1, reply)
		}
	}

	if reply := b.try(client, mailTo("bob@yahoo.test"), letter); !strings.HasPrefix(reply, "421 ") || !strings.Contains(reply, "[TSS04]") {
		t.Errorf("message 21: %q", reply)
	}
	if reply := b.send(mailTo("bob@yahoo.test"), letter); !strings.HasPrefix(reply, "250 ") {
		t.Errorf("a new connection: %q", reply)
	}
}

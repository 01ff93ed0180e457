package delivery_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"postrider/app/apptest"
)

// startChatty runs a server that answers a word with a text of its own, and everything else with yes.
func startChatty(t *testing.T, word, answer string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				fmt.Fprint(conn, "220 mx.peer.test\r\n")
				for lines := bufio.NewScanner(conn); lines.Scan(); {
					said := "250 Ok"
					if strings.HasPrefix(lines.Text(), word) {
						said = answer
					}
					fmt.Fprint(conn, said+"\r\n")
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// What a server says is quoted, and a long text is cut: in the middle of a character, if nobody looks.
func TestAServerThatBreaksTheRulesAtLengthIsWrittenDownInWholeCharacters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, shift := range []string{"", "."} {
			n, _ := newPeering(t, in, startChatty(t, "DATA", "250 "+shift+strings.Repeat("é", 200)))
			id := in.Send("ann@peer.test")
			n.deliver()
			made := attempts(in, id)
			if len(made) != 1 {
				t.Fatalf("%d attempts", len(made))
			}
			if said := fmt.Sprint(made[0]["response"]); !strings.HasSuffix(said, "é") {
				t.Errorf("it said %q", said)
			}
		}
	})
}

package test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Machines are network namespaces that hang on a bridge. The namespace of the test itself is another machine there, with the
// recipients, the name server, the customer's webhook and PostgreSQL on it; scripts/cluster-test makes it.

const (
	hubAddress = "10.77.0.1"
	// relayTo makes the test program a relay instead: see TestMain.
	relayTo = "POSTRIDER_TEST_RELAY"
)

// machine is where a node runs: a namespace with an address, or this one.
type machine struct {
	name    string
	address string
}

// inNamespaces tells whether scripts/cluster-test has given the test a network of its own.
func inNamespaces() bool { return os.Getenv("POSTRIDER_TEST_NAMESPACE") != "" }

// newMachine makes a namespace that reaches the ports of our loopback under its own, so that the small internet, whose servers all
// have the address 127.0.0.1, is the same from everywhere.
func newMachine(t *testing.T, number int, ports []string) machine {
	t.Helper()
	if !inNamespaces() {
		return machine{address: "127.0.0.1"}
	}
	m := machine{name: fmt.Sprintf("postrider-%d-%d", os.Getpid(), number), address: fmt.Sprintf("10.77.0.%d", 10+number)}
	link := fmt.Sprintf("veth%d", number)
	for _, line := range []string{
		"netns add " + m.name,
		"link add " + link + " type veth peer name eth0 netns " + m.name,
		"link set " + link + " master br0 up",
		"-n " + m.name + " link set lo up",
		"-n " + m.name + " addr add " + m.address + "/24 dev eth0",
		"-n " + m.name + " link set eth0 up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v %s", line, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", m.name).Run() })
	m.relay(t, ports)
	return m
}

// wrapper runs a command on the machine.
func (m machine) wrapper() []string {
	if m.name == "" {
		return nil
	}
	return []string{"ip", "netns", "exec", m.name}
}

// link takes the cable out of the machine, or puts it back.
func (m machine) link(t *testing.T, state string) {
	t.Helper()
	if out, err := exec.Command("ip", "-n", m.name, "link", "set", "eth0", state).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// relay starts a process on the machine that listens on its loopback and passes on to ours.
func (m machine) relay(t *testing.T, ports []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(m.wrapper(), self)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), relayTo+"="+strings.Join(ports, ","))
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := io.ReadFull(output, make([]byte, 1)); err != nil {
		t.Fatalf("the relay of %s did not start: %v", m.name, err)
	}
}

// bridge makes the ports of our loopback reachable from the other machines.
func bridge(t *testing.T, ports []string) {
	t.Helper()
	if !inNamespaces() {
		return
	}
	for _, port := range ports {
		if err := forward(net.JoinHostPort(hubAddress, port), net.JoinHostPort("127.0.0.1", port)); err != nil {
			t.Fatal(err)
		}
	}
}

// runRelay is the whole life of a relay on another machine.
func runRelay(ports string) {
	for port := range strings.SplitSeq(ports, ",") {
		if err := forward(net.JoinHostPort("127.0.0.1", port), net.JoinHostPort(hubAddress, port)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Print("+")
	select {}
}

// forward passes connections and datagrams on.
func forward(from, to string) error {
	listener, err := net.Listen("tcp", from)
	if err != nil {
		return err
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				server, err := net.Dial("tcp", to)
				if err != nil {
					client.Close()
					return
				}
				all := func(int, []byte) bool { return false }
				end := func() { client.Close(); server.Close() }
				go pass(0, client, server, all, end)
				pass(0, server, client, all, end)
			}()
		}
	}()
	conn, err := net.ListenPacket("udp", from)
	if err != nil {
		return err
	}
	go (&nameGate{}).serve(conn, to)
	return nil
}

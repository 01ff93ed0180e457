package test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
)

// authority is a running ACME server.
type authority struct {
	directory string
	rootsFile string
	roots     *x509.CertPool // who signs its certificates
	issued    *atomic.Int64
}

// lastHost makes addresses on the loopback network that no other test of this process uses, so that ports can be chosen freely.
var lastHost atomic.Int64

func loopback() string {
	n := lastHost.Add(1)
	return fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%64, os.Getpid()/64%256, n)
}

// startAuthority starts Pebble. It looks at ports 5080 and 5443 of the hosts that want a certificate, which is good for validity.
func startAuthority(t *testing.T, dns string, validity time.Duration) authority {
	t.Helper()
	path, err := tool("tools/go.mod", "pebble")
	if err != nil {
		t.Skipf("Pebble cannot be built here: %v", err)
	}
	dir, host := t.TempDir(), loopback()
	cert, key := selfSigned(t, dir, host)
	config := map[string]any{"pebble": map[string]any{"listenAddress": host + ":14000", "managementListenAddress": host + ":15000", "certificate": cert, "privateKey": key,
		"httpPort": 5080, "tlsPort": 5443, "keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "for tests", "validityPeriod": int(validity.Seconds())}}}}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-config", file, "-dnsserver", dns)
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := authority{directory: "https://" + host + ":14000/dir", rootsFile: cert, roots: x509.NewCertPool(), issued: &atomic.Int64{}}
	up, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		listening := sync.OnceFunc(func() { close(up) })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "ACME directory available at") {
				listening()
			}
			if strings.Contains(lines.Text(), "Issued certificate serial") {
				a.issued.Add(1)
			}
			if testing.Verbose() {
				fmt.Println(lines.Text())
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone
		_ = cmd.Wait()
	})
	select {
	case <-up:
	case <-gone:
		t.Fatal("Pebble ended")
	case <-time.After(startWithin):
		t.Fatal("Pebble did not start")
	}
	a.roots.AppendCertsFromPEM(a.fetchRoot(t, "https://"+host+":15000/roots/0"))
	return a
}

// fetchRoot waits for the port as well: Pebble says that it listens before it does.
func (a authority) fetchRoot(t *testing.T, url string) (root []byte) {
	t.Helper()
	raw, err := os.ReadFile(a.rootsFile)
	if err != nil {
		t.Fatal(err)
	}
	own := x509.NewCertPool()
	own.AppendCertsFromPEM(raw)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own}}}
	until(t, startWithin, "root of the authority", func() bool {
		answer, err := client.Get(url)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		root, err = io.ReadAll(answer.Body)
		return err == nil && bytes.Contains(root, []byte("BEGIN CERTIFICATE"))
	})
	return root
}

// selfSigned writes a certificate for an address and its key.
func selfSigned(t *testing.T, dir, host string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// shake makes a handshake with a door and returns the certificate it shows for a name.
func shake(ctx context.Context, address, name string, roots *x509.CertPool) (*x509.Certificate, error) {
	dialer := tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: roots}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// shakeMail does the same with a mail door, by STARTTLS.
func shakeMail(address, name string, roots *x509.CertPool) (*x509.Certificate, error) {
	client, err := smtp.Dial(address)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.StartTLS(&tls.Config{ServerName: name, RootCAs: roots}); err != nil {
		return nil, err
	}
	state, _ := client.TLSConnectionState()
	return state.PeerCertificates[0], nil
}

// certified is an installation whose names lead to one address, with an authority that looks there.
type certified struct {
	internet *process
	authority
	host   string // address of the first node
	shared []string
}

const serviceDomain = "mail.postrider.test"

func newCertified(t *testing.T, validity time.Duration) certified {
	t.Helper()
	c := certified{internet: dev(t), host: loopback()}
	c.authority = startAuthority(t, c.internet.DNS, validity)
	for _, name := range []string{"", "mx1.", "track.", "mta-sts."} {
		c.put(t, name+serviceDomain, "A", c.host)
	}
	c.shared = []string{"serve", "--domain", serviceDomain, "--insecure-test-network", "--resolver", c.internet.DNS, "--acme-ca", c.directory, "--acme-roots", c.rootsFile,
		"--acme-email", "ops@postrider.test", "--base-url", "https://" + serviceDomain}
	return c
}

func (c certified) put(t *testing.T, name, kind string, values ...string) {
	t.Helper()
	if status, answer, err := call("", http.MethodPut, c.internet.Sandbox+"/dns", map[string]any{"name": name, "type": kind, "values": values}); err != nil || status/100 != 2 {
		t.Fatalf("%d %v %v", status, answer, err)
	}
}

// browser reaches every name at the secure door of the first node.
func (c certified) browser() *http.Client {
	dialer := &net.Dialer{}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.roots}, ForceAttemptHTTP2: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(address)
			return dialer.DialContext(ctx, network, net.JoinHostPort(c.host, map[string]string{"443": "5443", "80": "5080"}[port]))
		}}}
}

func TestCertificatesComeByThemselvesAndAreShared(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	c := newCertified(t, 90*24*time.Hour)
	database := []string{"--database-url", url, "--secret", "a secret that all nodes of this test share"}
	node := func(host string) *process {
		return start(t, append(append(append([]string{}, c.shared...), database...), "--data", t.TempDir(), "--http", host+":5080", "--https", host+":5443", "--mx", host+":0")...)
	}
	first := node(c.host)

	// The installation's own names, without anybody asking.
	until(t, time.Minute, "certificates of the installation", func() bool {
		_, err := shakeMail(first.MX, "mx1."+serviceDomain, c.roots)
		_, errWeb := shake(t.Context(), c.host+":5443", serviceDomain, c.roots)
		return err == nil && errWeb == nil
	})
	browser := c.browser()
	answer, err := browser.Get("https://" + serviceDomain + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 || answer.Header.Get("Strict-Transport-Security") == "" {
		t.Fatalf("%+v %v", answer, err)
	}
	answer, err = browser.Get("http://" + serviceDomain + "/v1/emails?limit=1")
	if err != nil || answer.StatusCode != http.StatusPermanentRedirect || answer.Header.Get("Location") != "https://"+serviceDomain+"/v1/emails?limit=1" {
		t.Errorf("%+v %v", answer, err)
	}
	answer, err = browser.Get("https://mta-sts." + serviceDomain + "/.well-known/mta-sts.txt")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%+v %v", answer, err)
	}
	if policy, _ := io.ReadAll(answer.Body); !strings.Contains(string(policy), "mode: enforce\r\nmx: mx1."+serviceDomain) {
		t.Errorf("%q", policy)
	}

	// A customer's tracking host: refused as long as the domain is not proven, then got by the first handshake.
	tracking := "track.shop.test"
	if _, err := shake(t.Context(), c.host+":5443", tracking, c.roots); err == nil {
		t.Error("a foreign name was given a certificate")
	}
	c.verify(t, browser, database, "shop.test")
	issued := c.issued.Load()
	got, err := shake(t.Context(), c.host+":5443", tracking, c.roots)
	if err != nil || got.VerifyHostname(tracking) != nil {
		t.Fatalf("first handshake: %v", err)
	}
	if c.issued.Load() != issued+1 {
		t.Errorf("%d certificates for one name", c.issued.Load()-issued)
	}
	for _, foreign := range []string{"other.shop.test", "track.elsewhere.test"} {
		c.put(t, foreign, "A", c.host) // the authority would find us there
		if _, err := shake(t.Context(), c.host+":5443", foreign, c.roots); err == nil {
			t.Errorf("%s was given a certificate", foreign)
		}
	}

	// The second node shows the same ones, and asks nobody.
	issued = c.issued.Load()
	host := loopback()
	second := node(host)
	reused, err := shake(t.Context(), host+":5443", tracking, c.roots)
	if err != nil || reused.SerialNumber.Cmp(got.SerialNumber) != 0 {
		t.Errorf("the second node: %v", err)
	}
	until(t, time.Minute, "certificate of the second node's mail door", func() bool {
		_, err := shakeMail(second.MX, "mx1."+serviceDomain, c.roots)
		return err == nil
	})
	if c.issued.Load() != issued {
		t.Errorf("the second node got %d certificates", c.issued.Load()-issued)
	}

	// The authority looks at the first node for what the second one asks for.
	c.verify(t, browser, database, "store.test")
	if _, err := shake(t.Context(), host+":5443", "track.store.test", c.roots); err != nil {
		t.Errorf("asked for by the second node, looked at on the first: %v", err)
	}
}

// verify makes a workspace with a proven domain.
func (c certified) verify(t *testing.T, browser *http.Client, database []string, domain string) {
	t.Helper()
	stdout, stderr, err := run(t, append([]string{"workspace", "create", "--data", t.TempDir(), "--name", "Shop", "--owner-email", "olga@" + domain,
		"--owner-password", "correct horse battery", "--json"}, database...)...)
	var created struct {
		APIKey string `json:"api_key"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	post := func(path, body string) (answer map[string]any) {
		request, err := http.NewRequest(http.MethodPost, "https://"+serviceDomain+"/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+created.APIKey)
		request.Header.Set("Content-Type", "application/json")
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	registered := post("/domains", `{"domain":"`+domain+`"}`)
	publish(t, c.internet, registered)
	if verified := post("/domains/"+fmt.Sprint(registered["id"])+"/verify", `{}`); verified["verified"] != true {
		t.Fatal(verified)
	}
}

func TestCertificatesAreRenewedWithoutARestart(t *testing.T) {
	t.Parallel()
	c := newCertified(t, time.Minute)
	p := start(t, append(append([]string{}, c.shared...), "--data", t.TempDir(), "--http", c.host+":5080", "--https", c.host+":5443", "--mx", c.host+":0",
		"--acme-renew-ratio", "0.97", "--acme-look-every", "500ms")...)
	var first *x509.Certificate
	until(t, time.Minute, "first certificate", func() bool {
		var err error
		first, err = shakeMail(p.MX, "mx1."+serviceDomain, c.roots)
		return err == nil
	})
	until(t, time.Minute, "renewed certificate", func() bool {
		now, err := shakeMail(p.MX, "mx1."+serviceDomain, c.roots)
		return err == nil && now.SerialNumber.Cmp(first.SerialNumber) != 0 && now.NotAfter.After(first.NotAfter)
	})
}

func TestCertificateFilesAreReadAgainWhenTheyChange(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), filepath.Join(t.TempDir(), "clock")
	cert, key := selfSigned(t, dir, "mx1."+serviceDomain)
	p := startWith(t, []string{"env", "POSTRIDER_CLOCK_FILE=" + clock}, "serve", "--data", t.TempDir(), "--domain", serviceDomain, "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--mx", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key,
		"--insecure-test-network", "--insecure-test-clock")
	serial := func() *big.Int {
		client, err := smtp.Dial(p.MX)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.StartTLS(&tls.Config{InsecureSkipVerify: true}); err != nil {
			t.Fatal(err)
		}
		state, _ := client.TLSConnectionState()
		return state.PeerCertificates[0].SerialNumber
	}
	before := serial()
	selfSigned(t, dir, "mx1."+serviceDomain)
	if err := os.WriteFile(clock, []byte("1m"), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, startWithin, "new certificate", func() bool { return serial().Cmp(before) != 0 })
	if err := os.WriteFile(cert, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(clock, []byte("2m"), 0o600); err != nil {
		t.Fatal(err)
	}
	serial() // whatever stands in the files, the door answers
}

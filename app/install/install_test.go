package install_test

import (
	"bytes"
	"errors"
	"flag"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/app/install"
)

var update = flag.Bool("update", false, "rewrite deploy/postrider.service")

func site() install.Site {
	return install.Site{Hostname: "mail.example.org", Domain: "mail.example.org", Hello: "mx1.mail.example.org",
		Addresses: []netip.Addr{netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8::7")}}
}

func TestTheRecordsOfAnInstallationAreReadyToCopy(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, r := range install.Records(site()) {
		lines = append(lines, r.String())
		if r.Purpose == "" {
			t.Errorf("what is %s for?", r)
		}
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"mail.example.org. A 203.0.113.7\nmail.example.org. AAAA 2001:db8::7",
		"mx1.mail.example.org. A 203.0.113.7",
		"track.mail.example.org. AAAA 2001:db8::7",
		`spf.mail.example.org. TXT "v=spf1 ip4:203.0.113.7 ip6:2001:db8::7 -all"`,
		`bounces.mail.example.org. TXT "v=spf1 ip4:203.0.113.7 ip6:2001:db8::7 -all"`,
		"bounces.mail.example.org. MX 10 mx1.mail.example.org.",
		"mail.example.org. MX 10 mx1.mail.example.org.",
		`_mta-sts.mail.example.org. TXT "v=STSv1; id=1"`,
		`_smtp._tls.mail.example.org. TXT "v=TLSRPTv1; rua=mailto:tlsrpt@mail.example.org"`,
		"7.113.0.203.in-addr.arpa. PTR mx1.mail.example.org.",
		"7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. PTR mx1.mail.example.org.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, all)
		}
	}
}

// The sandbox is the installation whose records are as its code needs them.
func TestRecordsAreFoundWhereTheyArePublished(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	here := install.Site{Hostname: "mail.postrider.test", Domain: "mail.postrider.test", Hello: "mx1.mail.postrider.test", Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	for _, r := range install.Records(here) {
		if l := install.Look(t.Context(), in.App.World.Resolver, r); r.Required && l.State != install.Published && r.Name != here.Hostname {
			t.Errorf("%s: %+v", r, l)
		}
	}
	here.Addresses = []netip.Addr{netip.MustParseAddr("203.0.113.7")}
	for _, r := range install.Records(here) {
		if l := install.Look(t.Context(), in.App.World.Resolver, r); (r.Type == "PTR" || r.Name == "spf.mail.postrider.test") && l.State == install.Published {
			t.Errorf("%s was found for another address: %+v", r, l)
		}
	}
}

func files() install.Files {
	return install.Files{Site: site(), Program: "/usr/local/bin/postrider", Config: "/etc/postrider/postrider.toml", Data: "/var/lib/postrider", User: "postrider"}
}

func TestTheUnitInDeployIsTheOneThatSetupWrites(t *testing.T) {
	t.Parallel()
	unit, err := files().Unit()
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../deploy/postrider.service"
	if *update {
		if err := os.WriteFile(path, unit, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shipped, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(shipped, unit) {
		t.Errorf("deploy/postrider.service is not what setup writes; run the test with -update (%v)", err)
	}
	for _, line := range []string{"ProtectSystem=strict", "NoNewPrivileges=yes", "AmbientCapabilities=CAP_NET_BIND_SERVICE", "StateDirectory=postrider\n", "User=postrider"} {
		if !strings.Contains(string(unit), line) {
			t.Errorf("%s is missing", line)
		}
	}
}

func TestSystemdUnderstandsTheUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	f := files()
	f.Program, f.User, f.Data = "/bin/true", "root", t.TempDir() // what the machine of the test has
	unit, err := f.Unit()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "postrider.service")
	if err := os.WriteFile(path, unit, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), path) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFileOfAnotherIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "etc", "postrider.toml")
	if written, err := install.Write(path, []byte("a = 1\n"), 0o640); err != nil || !written {
		t.Fatal(written, err)
	}
	if written, err := install.Write(path, []byte("a = 1\n"), 0o640); err != nil || written {
		t.Errorf("written again: %v %v", written, err)
	}
	if err := install.Keep(path, []byte("a = 1\n")); err != nil {
		t.Error(err)
	}
	if err := install.Keep(path, []byte("a = 2\n")); !errors.Is(err, install.ErrExists) {
		t.Errorf("%v", err)
	}
}

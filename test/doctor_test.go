package test

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

type finding struct{ Check, Status, Message, Mend string }

// examine runs the doctor against the sandbox's internet.
func examine(t *testing.T, p *process, args ...string) (ok bool, findings map[string][]finding) {
	t.Helper()
	_, port, err := net.SplitHostPort(p.SandboxSMTP)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if _, errs, err := run(t, "migrate", "--data", data); err != nil {
		t.Fatal(err, errs)
	}
	out, errs, err := run(t, append([]string{"doctor", "--json", "--data", data, "--domain", "mail.postrider.test", "--resolver", p.DNS, "--smtp-port", port,
		"--probe", "example.net"}, args...)...)
	var report struct {
		OK       bool
		Findings []finding
	}
	if json.Unmarshal([]byte(out), &report) != nil {
		t.Fatalf("%v %s\n%s", err, errs, out)
	}
	if report.OK != (err == nil) {
		t.Errorf("ok is %v but the command ended with %v", report.OK, err)
	}
	findings = map[string][]finding{}
	for _, f := range report.Findings {
		findings[f.Check] = append(findings[f.Check], f)
		if f.Status != "ok" && f.Mend == "" && f.Status == "failure" {
			t.Errorf("%s: what to do about it? %s", f.Check, f.Message)
		}
	}
	return report.OK, findings
}

func TestTheDoctorFindsWhatKeepsMailFromArriving(t *testing.T) {
	t.Parallel()
	p := dev(t)
	put := func(name, kind string, values ...string) {
		if status, answer, err := call("", http.MethodPut, p.Sandbox+"/dns", map[string]any{"name": name, "type": kind, "values": values}); err != nil || status/100 != 2 {
			t.Fatalf("%d %v %v", status, answer, err)
		}
	}
	put("mx1.mail.postrider.test", "A", "127.0.0.1")
	put("1.0.0.127.in-addr.arpa", "PTR", "elsewhere.example.net")
	put("spf.mail.postrider.test", "TXT", "v=spf1 ip4:192.0.2.1 -all")
	ok, found := examine(t, p)
	if ok {
		t.Error("found nothing wrong")
	}
	for check, want := range map[string][2]string{"reverse name": {"warning", "127.0.0.1 resolves back to elsewhere.example.net"},
		"spf": {"failure", "does not pass mail from 127.0.0.1"}} {
		if f := found[check]; len(f) != 1 || f[0].Status != want[0] || !strings.Contains(f[0].Message, want[1]) || f[0].Mend == "" {
			t.Errorf("%s: %+v", check, f)
		}
	}
	for _, check := range []string{"disk", "database", "name", "port"} {
		if f := found[check]; len(f) != 1 || f[0].Status != "ok" {
			t.Errorf("%s: %+v", check, f)
		}
	}
	put("1.0.0.127.in-addr.arpa", "PTR", "mx1.mail.postrider.test")
	put("spf.mail.postrider.test", "TXT", "v=spf1 ip4:127.0.0.0/8 -all")
	if ok, found := examine(t, p); !ok {
		t.Errorf("mended, and still: %+v", found)
	}
	if _, found := examine(t, p, "--smtp-port", "1"); found["port"][0].Status != "failure" {
		t.Errorf("port: %+v", found["port"])
	}
}

package arc_test

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/mail/arc"
	"postrider/mail/dkim"
)

// mailauth is a verifier and sealer written by others, in a process of its own.
type mailauth struct {
	t       *testing.T
	encoder *json.Encoder
	answers *bufio.Reader
}

type request struct {
	Message []byte            `json:"message"`
	Records map[string]string `json:"records,omitempty"`
	Seal    map[string]any    `json:"seal,omitempty"`
}

type response struct {
	ARC     string `json:"arc"`
	Comment string `json:"comment"`
	Fields  []byte `json:"fields"`
	Error   string `json:"error"`
}

func startMailauth(t *testing.T) *mailauth {
	t.Helper()
	manifest, err := filepath.Abs("../../test/clients/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(manifest), "node_modules/mailauth")); err != nil {
		t.Skip("mailauth is not installed; scripts/setup installs it where it may")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/mailauth.mjs", manifest)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &mailauth{t: t, encoder: json.NewEncoder(in), answers: bufio.NewReader(out)}
}

func (m *mailauth) ask(r request) response {
	m.t.Helper()
	if err := m.encoder.Encode(r); err != nil {
		m.t.Fatal(err)
	}
	line, err := m.answers.ReadBytes('\n')
	if err != nil {
		m.t.Fatal(err)
	}
	var answer response
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != "" {
		m.t.Fatalf("%v: %s", err, line)
	}
	return answer
}

func pemOf(t *testing.T, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// mailauth 4.13 verifies Ed25519 seals over the text instead of its digest (RFC 8463 §3), so that not even its own pass. RSA is
// what everybody seals with.
func TestMailauthAndWeAgree(t *testing.T) {
	t.Parallel()
	s := newSealers(t)
	stranger := startMailauth(t)
	records := map[string]string{"arc._domainkey.rsa.test": dkim.PublicRecord(s.keys["rsa.test"].Public())}
	theirSeal := func(raw, cv string) string {
		// Without a time mailauth asks its clock twice, to sign and to write, and a second may begin in between.
		now := time.Now().UTC().Format(time.RFC3339)
		answer := stranger.ask(request{Message: []byte(raw), Seal: map[string]any{"signingDomain": "rsa.test", "selector": "arc",
			"privateKey": pemOf(t, s.keys["rsa.test"]), "authResults": "mx.them.test; spf=pass smtp.mailfrom=ann@example.test", "cv": cv, "signTime": now}})
		return string(answer.Fields) + raw
	}
	check := func(name, raw string, want arc.Result) {
		t.Helper()
		if answer := stranger.ask(request{Message: []byte(raw), Records: records}); answer.ARC != string(want) {
			t.Errorf("%s: mailauth says %s (%s), want %s", name, answer.ARC, answer.Comment, want)
		}
		if chain := s.verify(t, raw); chain.Result != want {
			t.Errorf("%s: we say %s (%s), want %s", name, chain.Result, chain.Reason, want)
		}
	}
	bodies := map[string]string{
		"plain":        original,
		"no body":      original[:strings.Index(original, "\r\n\r\n")+4],
		"blank lines":  original + "\r\n \t\r\n\r\n",
		"eight bits":   original + "Gr\xc3\xbc\xc3\x9fe\r\n",
		"long line":    original + strings.Repeat("x", 5000) + "\r\n",
		"repeated":     "Subject: second\r\nTo: other@example.test\r\n" + original,
		"many folds":   strings.Replace(original, "Subject: Hello", "Subject:\r\n\t a\r\n  b\t\r\n c", 1),
		"no last line": strings.TrimSuffix(original, "\r\n\r\n") + "\r\n",
	}
	for name, raw := range bodies {
		check(name+", not sealed", raw, arc.None)
		ours := s.pass(t, "rsa.test", raw)
		check(name+", by us", ours, arc.Pass)
		check(name+", by us twice", s.pass(t, "rsa.test", ours), arc.Pass)
		check(name+", by us, then them", theirSeal(ours, "pass"), arc.Pass)
		theirs := theirSeal(raw, "none")
		check(name+", by them", theirs, arc.Pass)
		check(name+", by them, then us", s.pass(t, "rsa.test", theirs), arc.Pass)
	}
	sealed := s.pass(t, "rsa.test", s.pass(t, "rsa.test", original))
	for name, forged := range map[string]string{
		"body":          strings.Replace(sealed, "Hello  you", "Hello me", 1),
		"old results":   strings.Replace(sealed, "ARC-Authentication-Results: i=1; mx.rsa.test", "ARC-Authentication-Results: i=1; mx.other.test", 1),
		"old seal":      strings.Replace(sealed, "cv=none", "cv=pass", 1),
		"missing field": strings.Replace(sealed, "ARC-Authentication-Results: i=1", "X-Authentication-Results: i=1", 1),
		"own twice":     sealed[:bytes.IndexByte([]byte(sealed), '\n')+1] + sealed,
	} {
		if forged == sealed {
			t.Fatalf("%s changes nothing", name)
		}
		check(name, forged, arc.Fail)
	}
}

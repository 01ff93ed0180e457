package dkim_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"postrider/mail/dkim"
)

func TestRecordsMatchTheirKeyAndNoOther(t *testing.T) {
	t.Parallel()
	all := keys(t)
	for kind, key := range all {
		txt := dkim.PublicRecord(key.Public())
		if !strings.HasPrefix(txt, "v=DKIM1; k="+kind+"; p=") {
			t.Errorf("record %q", txt)
		}
		record, err := dkim.ParseRecord(txt)
		if err != nil {
			t.Fatal(err)
		}
		for other, key := range all {
			if record.Matches(key.Public()) != (kind == other) {
				t.Errorf("record of %s and key of %s", kind, other)
			}
		}
	}
	record, err := dkim.ParseRecord(dkim.PublicRecord(keys(t)["rsa"].Public()))
	if err != nil || record.Matches(all["rsa"].Public()) {
		t.Errorf("a record of another RSA key matches (%v)", err)
	}
}

func TestRecordsAreReadAsPeoplePasteThem(t *testing.T) {
	t.Parallel()
	key := keys(t)["rsa"]
	p := strings.TrimPrefix(dkim.PublicRecord(key.Public()), "v=DKIM1; k=rsa; p=")
	bare := base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PublicKey(key.Public().(*rsa.PublicKey)))
	for _, txt := range []string{
		"v=DKIM1;k=rsa;p=" + p,
		"v=DKIM1; p=" + p + ";",
		"p=" + p,
		"k=rsa; p=" + p,
		" v = DKIM1 ; k = RSA ; t=s:y ; p = " + p + " ; ",
		"v=DKIM1; h=sha1:SHA256; s=email; n=some words; x-new=1; p=" + p,
		"v=DKIM1; p=" + p[:100] + " " + p[100:200] + "\t\r\n " + p[200:],
		"v=DKIM1; p=" + strings.TrimRight(p, "="),
		"v=DKIM1; p=" + bare,
	} {
		record, err := dkim.ParseRecord(txt)
		if err != nil || !record.Matches(key.Public()) {
			t.Errorf("ParseRecord(%.60q): %v, does not match", txt, err)
		}
	}
	for _, txt := range []string{"v=DKIM1; p=", "v=DKIM1; k=ed25519; p=" + p, "v=DKIM1; h=sha1; p=" + p} {
		record, err := dkim.ParseRecord(txt)
		if err != nil || record.Matches(key.Public()) {
			t.Errorf("ParseRecord(%.60q): %v, matches", txt, err)
		}
	}
	for _, txt := range []string{
		"", ";", "v=DKIM1", "v=DKIM2; p=" + p, "v=spf1 include:x.test ~all", "k=rsa; v=DKIM1; p=" + p, "v=DKIM1; p=***",
		"v=DKIM1; p=" + p + "; p=" + p, "v=DKIM1; rubbish; p=" + p, "p=" + strings.Repeat("A", 5000),
	} {
		if record, err := dkim.ParseRecord(txt); !errors.Is(err, dkim.ErrRecord) {
			t.Errorf("ParseRecord(%.60q) = %+v, %v; want ErrRecord", txt, record, err)
		}
	}
}

func TestRecordFlagsAreKept(t *testing.T) {
	t.Parallel()
	record, err := dkim.ParseRecord("v=DKIM1; t=Y; h=sha256; p=")
	if err != nil || !record.Testing || len(record.Hashes) != 1 || record.Key != nil || record.KeyType != "rsa" {
		t.Errorf("%+v, %v", record, err)
	}
}

func TestPrivateKeysSurviveStorage(t *testing.T) {
	t.Parallel()
	for kind, key := range keys(t) {
		der, err := dkim.MarshalPrivate(key)
		if err != nil {
			t.Fatal(err)
		}
		back, err := dkim.ParsePrivate(der)
		if err != nil || dkim.PublicRecord(back.Public()) != dkim.PublicRecord(key.Public()) {
			t.Errorf("%s: %v", kind, err)
		}
		der[len(der)/2] ^= 1
		if broken, err := dkim.ParsePrivate(der[:len(der)-1]); !errors.Is(err, dkim.ErrKey) {
			t.Errorf("%s: half a key gives %v, %v", kind, broken, err)
		}
	}
}

func TestEd25519KeysDependOnTheirRandomnessOnly(t *testing.T) {
	t.Parallel()
	source := func() *bytes.Reader { return bytes.NewReader(bytes.Repeat([]byte{1, 2}, 16)) }
	first, err := dkim.GenerateEd25519(source())
	if err != nil {
		t.Fatal(err)
	}
	second, err := dkim.GenerateEd25519(source())
	if err != nil || !first.Equal(second) {
		t.Errorf("keys differ (%v)", err)
	}
	if _, err := dkim.GenerateEd25519(bytes.NewReader(nil)); err == nil {
		t.Error("a key was made of nothing")
	}
}

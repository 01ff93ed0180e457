package dkim_test

import (
	"errors"
	"strings"
	"testing"

	"postrider/mail/dkim"
	"postrider/mail/message"
)

// Records of strangers are keys or nothing.
func FuzzParseRecord(f *testing.F) {
	for _, seed := range []string{"", "v=DKIM1; k=rsa; p=", "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "p=AAAA;p=BBBB", "v=DKIM2; p=x", "k=rsa; h=sha1:sha256; s=email; t=y:s; n=a; p=MIGf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if record, err := dkim.ParseRecord(text); err != nil && record.Key != nil {
			t.Fatalf("%q: a key and %v", text, err)
		}
	})
}

// A signature that was read names a key to look for.
func FuzzParseSignature(f *testing.F) {
	for _, seed := range []string{"v=1; a=rsa-sha256; d=example.net; s=x; h=from:to; bh=AAAA; b=AAAA", "v=1;a=ed25519-sha256;c=relaxed/simple;d=a.test;s=b;h=from;bh=;b=;l=1;t=1;x=2", "a=b=c", ";", "v=1; v=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s, err := dkim.ParseSignature(message.Field{Name: "DKIM-Signature", Value: value, Raw: []byte("DKIM-Signature: " + value + "\r\n")})
		if err != nil {
			if !errors.Is(err, dkim.ErrSyntax) && !errors.Is(err, dkim.ErrUnusable) {
				t.Fatalf("%q: %v", value, err)
			}
			return
		}
		if s.Domain == "" || s.Selector == "" || strings.ContainsAny(s.Domain+s.Selector, " \r\n;") {
			t.Fatalf("%q: key of %q at %q", value, s.Selector, s.Domain)
		}
	})
}

package apikey

import (
	"regexp"
	"strings"
	"testing"
)

// The form of a key is what secret scanners look for; a text of another form is no key.
func FuzzKeysHaveTheirForm(f *testing.F) {
	body := "pr_live_0123456789_" + strings.Repeat("a", secretLength)
	form := regexp.MustCompile(`^pr_(live|test)_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$`)
	for _, seed := range []string{"", "pr_live_", body + checksum(body), body + "AAAAAA", strings.Repeat("\xff", tokenLength), "pr_test" + body[7:] + checksum(body)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, _, ok := readToken(text)
		if ok && (!form.MatchString(text) || !strings.Contains(text, "_"+id+"_")) {
			t.Fatalf("%q was taken for a key", text)
		}
		if parseable, ok := parseNetwork(text); ok && !parseable.IsValid() {
			t.Fatalf("%q was taken for a network", text)
		}
	})
}

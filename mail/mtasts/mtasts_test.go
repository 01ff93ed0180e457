package mtasts_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"postrider/mail/mtasts"
)

func TestPoliciesAreReadAsTheStandardWritesThem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want mtasts.Policy
	}{
		"of the standard": {"version: STSv1\nmode: enforce\nmx: mail.example.com\nmx: *.example.net\nmx: backupmx.example.com\nmax_age: 604800\n",
			mtasts.Policy{Mode: mtasts.Enforce, MX: []string{"mail.example.com", "*.example.net", "backupmx.example.com"}, MaxAgeSeconds: 604800}},
		"lines of DOS": {"version: STSv1\r\nmode: testing\r\nmx: MX.Example.com\r\nmax_age: 86400\r\n",
			mtasts.Policy{Mode: mtasts.Testing, MX: []string{"mx.example.com"}, MaxAgeSeconds: 86400}},
		"no last line end, spaces": {"version:STSv1  \nmode:   none\nmax_age: 86400",
			mtasts.Policy{Mode: mtasts.None, MaxAgeSeconds: 86400}},
		"empty lines at the end": {"version: STSv1\nmode: none\nmax_age: 86400\n\n \r\n",
			mtasts.Policy{Mode: mtasts.None, MaxAgeSeconds: 86400}},
		"unknown fields": {"version: STSv1\nmode: none\nmax_age: 86400\ncolour: light blue\n",
			mtasts.Policy{Mode: mtasts.None, MaxAgeSeconds: 86400}},
		"the first of two counts": {"version: STSv1\nmode: enforce\nmode: none\nmx: a.test\nmax_age: 86400\nmax_age: 99999\n",
			mtasts.Policy{Mode: mtasts.Enforce, MX: []string{"a.test"}, MaxAgeSeconds: 86400}},
		"too young": {"version: STSv1\nmode: none\nmax_age: 0\n", mtasts.Policy{Mode: mtasts.None, MaxAgeSeconds: 300}},
		"too old":   {"version: STSv1\nmode: none\nmax_age: 99999999\n", mtasts.Policy{Mode: mtasts.None, MaxAgeSeconds: 31557600}},
	} {
		got, err := mtasts.ParsePolicy([]byte(test.text))
		if err != nil || !cmp.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWhatIsNoPolicyIsRefused(t *testing.T) {
	t.Parallel()
	head := "version: STSv1\nmode: enforce\nmax_age: 86400\n"
	for name, text := range map[string]string{
		"nothing":              "",
		"a page":               "<!doctype html><html></html>",
		"no version":           "mode: none\nmax_age: 86400\n",
		"other version":        "version: STSv2\nmode: none\nmax_age: 86400\n",
		"no mode":              "version: STSv1\nmax_age: 86400\n",
		"unknown mode":         "version: STSv1\nmode: enforced\nmx: a.test\nmax_age: 86400\n",
		"no age":               "version: STSv1\nmode: none\n",
		"negative age":         "version: STSv1\nmode: none\nmax_age: -1\n",
		"endless age":          "version: STSv1\nmode: none\nmax_age: 99999999999999999999\n",
		"enforced for nobody":  head,
		"wildcard in the name": head + "mx: mail.*.test\n",
		"wildcard alone":       head + "mx: *\n",
		"part of a label":      head + "mx: mx*.test\n",
		"unicode":              head + "mx: bücher.test\n",
		"too long":             head + "mx: a.test\nnote: " + strings.Repeat("x", mtasts.MaxPolicyBytes) + "\n",
	} {
		if got, err := mtasts.ParsePolicy([]byte(text)); !errors.Is(err, mtasts.ErrPolicy) || !cmp.Equal(got, mtasts.Policy{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestTheAnnouncementIsFoundAmongOtherTexts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		id    string
		err   error
	}{
		"alone":            {[]string{"v=STSv1; id=20160831085700Z;"}, "20160831085700Z", nil},
		"among others":     {[]string{"hello", "v=spf1 -all", "v=STSv1;id=a", ""}, "a", nil},
		"with more fields": {[]string{"v=STSv1; x=y; id=b2 ; z=1"}, "b2", nil},
		"none":             {nil, "", mtasts.ErrNoRecord},
		"other version":    {[]string{"v=STSv2; id=a"}, "", mtasts.ErrNoRecord},
		"two":              {[]string{"v=STSv1; id=a", "v=STSv1; id=b"}, "", mtasts.ErrRecord},
		"no id":            {[]string{"v=STSv1; x=y"}, "", mtasts.ErrRecord},
		"long id":          {[]string{"v=STSv1; id=" + strings.Repeat("a", 33)}, "", mtasts.ErrRecord},
		"odd id":           {[]string{"v=STSv1; id=a-b"}, "", mtasts.ErrRecord},
	} {
		if id, err := mtasts.ParseRecord(test.texts); id != test.id || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

func TestAWildcardStandsForExactlyOneLabel(t *testing.T) {
	t.Parallel()
	p := mtasts.Policy{Mode: mtasts.Enforce, MX: []string{"mail.example.com", "*.example.net"}}
	for host, want := range map[string]bool{
		"mail.example.com":   true,
		"MAIL.Example.com.":  true,
		"x.mail.example.com": false,
		"mx1.example.net":    true,
		"example.net":        false,
		"a.b.example.net":    false,
		"mx1.example.net.x":  false,
		"badexample.net":     false,
		"com":                false,
		"":                   false,
	} {
		if got := p.Allows(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
	if (mtasts.Policy{}).Allows("") {
		t.Error("no policy allows a server without a name")
	}
}

func TestAPolicyIsTheSameAfterItWasWrittenAndRead(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`(\*\.)?[a-z][a-z0-9]{0,8}(\.[a-z][a-z0-9]{0,8}){1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		p := mtasts.Policy{
			Mode:          rapid.SampledFrom([]mtasts.Mode{mtasts.Enforce, mtasts.Testing, mtasts.None}).Draw(t, "mode"),
			MX:            rapid.SliceOfN(name, 1, 5).Draw(t, "mx"),
			MaxAgeSeconds: rapid.Int64Range(300, 31557600).Draw(t, "age"),
		}
		got, err := mtasts.ParsePolicy([]byte(strings.Join(p.Lines(), "\n")))
		if err != nil || !cmp.Equal(got, p) {
			t.Fatalf("%+v became %+v, %v", p, got, err)
		}
	})
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte("version: STSv1\nmode: enforce\nmx: *.example.net\nmax_age: 604800\n"))
	f.Add([]byte("version: STSv1\r\nmode: none\r\nmax_age: 1\r\n\xff: x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := mtasts.ParsePolicy(text)
		if err != nil {
			return
		}
		again, err := mtasts.ParsePolicy([]byte(strings.Join(p.Lines(), "\n")))
		if err != nil || !cmp.Equal(p, again) || p.MaxAgeSeconds < 300 || p.MaxAgeSeconds > 31557600 {
			t.Fatalf("%q: %+v, then %+v, %v", text, p, again, err)
		}
		if p.Mode != mtasts.None && len(p.MX) == 0 || slices.Contains(p.MX, "") {
			t.Fatalf("%q: %+v", text, p)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add("v=STSv1; id=1", "v=spf1")
	f.Add("v=STSv1;\tid=a;x=\x80", "v=STSv1;")
	f.Fuzz(func(t *testing.T, one, two string) {
		id, err := mtasts.ParseRecord([]string{one, two})
		if (id == "") != (err != nil) || len(id) > 32 {
			t.Fatalf("%q, %v", id, err)
		}
		if again, _ := mtasts.ParseRecord([]string{fmt.Sprintf("v=STSv1; id=%s", id)}); again != id {
			t.Fatalf("%q became %q", id, again)
		}
	})
}

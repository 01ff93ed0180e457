package tlsrpt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/tlsrpt"
)

func addresses(d tlsrpt.Destinations) []string {
	var all []string
	for _, a := range d.Mail {
		all = append(all, a.Addr())
	}
	return append(all, d.HTTPS...)
}

func TestReportsGoWhereTheRecordSays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		want  []string
	}{
		"mail":             {[]string{"v=TLSRPTv1;rua=mailto:reports@example.com"}, []string{"reports@example.com"}},
		"web":              {[]string{"v=TLSRPTv1; rua=https://reporting.example.com/v1/tlsrpt"}, []string{"https://reporting.example.com/v1/tlsrpt"}},
		"both":             {[]string{"x", "v=TLSRPTv1; rua=https://a.test/, mailto:b@a.test;"}, []string{"b@a.test", "https://a.test/"}},
		"twice":            {[]string{"v=TLSRPTv1; rua=mailto:a@a.test; rua=mailto:b@a.test"}, []string{"a@a.test", "b@a.test"}},
		"encoded":          {[]string{"v=TLSRPTv1; rua=mailto:a%21b@a.test"}, []string{"a!b@a.test"}},
		"upper case":       {[]string{"v=TLSRPTv1; rua=MAILTO:a@A.test"}, []string{"a@a.test"}},
		"subject ignored":  {[]string{"v=TLSRPTv1; rua=mailto:a@a.test?bcc=b@b.test"}, []string{"a@a.test"}},
		"what we can use":  {[]string{"v=TLSRPTv1; rua=ftp://a.test/x,mailto:a@a.test"}, []string{"a@a.test"}},
		"the first five":   {[]string{"v=TLSRPTv1; rua=" + strings.Repeat("mailto:a@a.test,", 9) + "mailto:z@a.test"}, slices.Repeat([]string{"a@a.test"}, 5)},
		"without password": {[]string{"v=TLSRPTv1; rua=https://u:p@a.test/,https://b.test/"}, []string{"https://b.test/"}},
	} {
		d, err := tlsrpt.ParseRecord(test.texts)
		if err != nil || !cmp.Equal(addresses(d), test.want) {
			t.Errorf("%s: %q, %v", name, addresses(d), err)
		}
	}
}

func TestWithoutAUsableRecordThereIsNoReport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		want  error
	}{
		"none":           {nil, tlsrpt.ErrNoRecord},
		"another":        {[]string{"v=spf1 -all", "v=TLSRPTv2; rua=mailto:a@a.test"}, tlsrpt.ErrNoRecord},
		"two":            {[]string{"v=TLSRPTv1; rua=mailto:a@a.test", "v=TLSRPTv1; rua=mailto:b@a.test"}, tlsrpt.ErrRecord},
		"no address":     {[]string{"v=TLSRPTv1; x=y"}, tlsrpt.ErrRecord},
		"empty address":  {[]string{"v=TLSRPTv1; rua="}, tlsrpt.ErrRecord},
		"clear text":     {[]string{"v=TLSRPTv1; rua=http://a.test/"}, tlsrpt.ErrRecord},
		"new line":       {[]string{"v=TLSRPTv1; rua=mailto:a%0d%0aBcc:b@a.test"}, tlsrpt.ErrRecord},
		"several people": {[]string{"v=TLSRPTv1; rua=mailto:a@a.test%2Cb@a.test"}, tlsrpt.ErrRecord},
		"a name":         {[]string{"v=TLSRPTv1; rua=mailto:X%20%3Ca@a.test%3E"}, tlsrpt.ErrRecord},
		"unicode":        {[]string{"v=TLSRPTv1; rua=mailto:b%C3%BCro@a.test"}, tlsrpt.ErrRecord},
		"no host":        {[]string{"v=TLSRPTv1; rua=https:///x"}, tlsrpt.ErrRecord},
	} {
		if d, err := tlsrpt.ParseRecord(test.texts); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add("v=TLSRPTv1; rua=mailto:a@a.test,https://a.test/x?y", "v=spf1")
	f.Add("v=TLSRPTv1;rua=mailto:%0d%0a@x;rua=https://[::1]:25/", "")
	f.Fuzz(func(t *testing.T, one, two string) {
		d, err := tlsrpt.ParseRecord([]string{one, two})
		found := addresses(d)
		if (len(found) == 0) != (err != nil) || len(found) > 5 || strings.ContainsAny(strings.Join(found, ""), "\r\n") {
			t.Fatalf("%q: %q, %v", one, found, err)
		}
		for _, place := range d.HTTPS {
			if !strings.HasPrefix(place, "https://") {
				t.Fatalf("%q: %q", one, place)
			}
		}
	})
}

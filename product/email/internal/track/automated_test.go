package track_test

import (
	"net/netip"
	"testing"
	"time"

	"postrider/product/email/internal/track"
)

const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
)

func TestProgramsAreToldFromPeople(t *testing.T) {
	t.Parallel()
	type visit struct {
		agent, ip, purpose string
		click              bool
		since              time.Duration
	}
	const late = time.Hour
	for want, visits := range map[track.Reason][]visit{
		"": {
			{agent: firefox, since: late}, {agent: iphone, click: true, since: late}, {agent: firefox, since: 2 * time.Second},
			{agent: "Mozilla/5.0 (Linux; Android 10; CUBOT NOTE 20) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36", since: late},
			{agent: "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17; Pro)", since: late}, {agent: firefox, ip: "2001:db8::1", since: late},
		},
		track.ImageProxy: {
			{agent: "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)", since: late},
			{agent: "Mozilla/5.0", ip: "66.249.84.1", since: late}, {agent: firefox, ip: "::ffff:66.249.84.1", since: late},
			{agent: "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", since: late},
			{agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0", since: late},
		},
		track.PrivacyProxy: {{agent: "Mozilla/5.0", since: late}, {agent: " mozilla/5.0 ", ip: "104.28.1.1", since: 0}},
		track.SecurityScanner: {
			{agent: "", since: late}, {agent: "Barracuda Sentinel (EE)", click: true, since: late}, {agent: "curl/8.9.1", since: late},
			{agent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", click: true, since: late},
			{agent: firefox, purpose: "prefetch;prerender", click: true, since: late}, {agent: firefox, purpose: "Preview", since: late},
			{agent: firefox, ip: "40.93.1.1", click: true, since: late}, {agent: firefox, ip: "66.249.84.1", click: true, since: late},
		},
		track.TooFast: {{agent: firefox, since: 1999 * time.Millisecond}, {agent: iphone, click: true, since: -1}},
	} {
		for _, v := range visits {
			ip := netip.Addr{}
			if v.ip != "" {
				ip = netip.MustParseAddr(v.ip)
			}
			got := track.Visit{Click: v.click, UserAgent: v.agent, IP: ip, Purpose: v.purpose, Since: v.since}.Automated()
			if got != want {
				t.Errorf("%+v is %q, want %q", v, got, want)
			}
		}
	}
}

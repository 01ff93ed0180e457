package track

import "net/netip"

// What is known of the programs that open mail, and where from. Programs that lie about themselves and come from anywhere are
// not found by such a table; they are found by their haste, or not at all.

type agentMark struct {
	mark   string // in lower case
	reason Reason
}

// agents are pieces of the User-Agent header.
var agents = []agentMark{
	// "(via ggpht.com GoogleImageProxy)": scientiamobile.com/what-is-google-image-proxy.
	{"googleimageproxy", ImageProxy},
	{"ggpht.com", ImageProxy},
	// "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html": the help page it names.
	{"yahoomailproxy", ImageProxy},
	// Gmail's own prefetch, while a mailbox is open in a browser: bird.com/blog/gmail-prefetching-images.
	{"edge/12.246 mozilla/5.0", ImageProxy},
	// Previews in chats and on social networks, which name themselves: api.slack.com/robots, developers.facebook.com (Meta web
	// crawlers), braze.com documentation on bot filtering.
	{"slack-imgproxy", ImageProxy},
	{"slackbot", SecurityScanner},
	{"facebookexternalhit", SecurityScanner},
	{"whatsapp/", SecurityScanner},
	{"skypeuripreview", SecurityScanner},
	{"bingpreview", SecurityScanner},
	{"google-safety", SecurityScanner},
	{"googlemessages/", SecurityScanner},
	// Mail security, as far as it names itself: "Barracuda Sentinel (EE)" (braze.com, as above); the others are what senders of mail
	// have collected and share, without a word of the vendors.
	{"barracuda", SecurityScanner},
	{"proofpoint", SecurityScanner},
	{"mimecast", SecurityScanner},
	{"safelinks", SecurityScanner},
	{"microsoft office existence discovery", SecurityScanner},
	{"urlscan", SecurityScanner},
	{"virustotal", SecurityScanner},
	// Crawlers, by the custom of naming oneself a bot.
	{"bot/", SecurityScanner},
	{"bot;", SecurityScanner},
	{"bot)", SecurityScanner},
	{"bot ", SecurityScanner},
	{"-bot", SecurityScanner},
	{"crawler", SecurityScanner},
	{"spider", SecurityScanner},
	{"scanner", SecurityScanner},
	// Browsers without a person, and libraries of programming languages, which name themselves unless told otherwise.
	{"headlesschrome", SecurityScanner},
	{"phantomjs", SecurityScanner},
	{"curl/", SecurityScanner},
	{"wget/", SecurityScanner},
	{"python-requests", SecurityScanner},
	{"python-urllib", SecurityScanner},
	{"aiohttp/", SecurityScanner},
	{"go-http-client", SecurityScanner},
	{"apache-httpclient", SecurityScanner},
	{"libwww-perl", SecurityScanner},
	{"node-fetch", SecurityScanner},
	{"axios/", SecurityScanner},
	{"lua-resty-http", SecurityScanner},
}

// notBots is a maker of telephones whose name ends like that of a program.
const notBots = "cubot"

// wholeAgents are User-Agent headers that are nothing but this.
var wholeAgents = map[string]Reason{
	// Apple's privacy protection asks without a word about the device: Apple, "About Mail Privacy Protection"; the bare header is
	// what all senders see of it.
	"mozilla/5.0": PrivacyProxy,
	"":            SecurityScanner, // every mail program and browser names itself
}

type network struct {
	prefix netip.Prefix
	reason Reason
}

// networks are where programs come from that do not name themselves.
var networks = []network{
	// Servers of Gmail, among them its proxies for pictures (DNS: the older half of _netblocks.google.com).
	{netip.MustParsePrefix("66.249.80.0/20"), ImageProxy},
	{netip.MustParsePrefix("66.102.0.0/20"), ImageProxy},
	{netip.MustParsePrefix("64.233.160.0/19"), ImageProxy},
	{netip.MustParsePrefix("74.125.0.0/16"), ImageProxy},
	{netip.MustParsePrefix("72.14.192.0/18"), ImageProxy},
	// Exchange Online Protection (learn.microsoft.com, Microsoft 365 URLs and IP address ranges, Exchange Online): servers that
	// filter mail; no person surfs from there.
	{netip.MustParsePrefix("40.92.0.0/15"), SecurityScanner},
	{netip.MustParsePrefix("40.107.0.0/16"), SecurityScanner},
	{netip.MustParsePrefix("52.100.0.0/14"), SecurityScanner},
	{netip.MustParsePrefix("104.47.0.0/17"), SecurityScanner},
	{netip.MustParsePrefix("2a01:111:f400::/48"), SecurityScanner},
	{netip.MustParsePrefix("2a01:111:f403::/48"), SecurityScanner},
}

package spam

import (
	"path"
	"strings"
)

var (
	adviceLinkText  = advice{"show_true_link", "Let the text of each link name the page it leads to, or use words instead of an address."}
	adviceLinkHost  = advice{"use_own_domain", "Link to pages on your own domain, by name and without port, user name or password."}
	adviceShortener = advice{"use_full_links", "Link to the page itself instead of to a shortener or a redirect."}
	adviceFewLinks  = advice{"reduce_links", "Keep the few links that matter, on few domains."}
	adviceHTTPS     = advice{"use_https", "Use https in every link."}
	adviceLinkKind  = advice{"use_web_links", "Use only web, mail and telephone links."}
	adviceDownload  = advice{"remove_download", "Link to a page about the program instead of to the program itself."}
	adviceDeadLink  = advice{"fix_links", "Give every link an address that readers can reach."}
)

const (
	// maxDomains is how many registered domains an honest mailing links to: itself, its tracker, and all social networks.
	maxDomains = 15
	maxAnchors = 120
)

var linkRules = []rule{
	linkRule("LINK_TEXT_OTHER_ADDRESS", Critical, 3, "A link shows the address of one site and leads to another.", adviceLinkText,
		func(l link) bool { return strings.Contains(l.shown, "://") && showsOther(l) }),
	linkRule("LINK_TEXT_OTHER_DOMAIN", Warning, 1.2, "A link shows one domain and leads to another.", adviceLinkText,
		func(l link) bool { return !strings.Contains(l.shown, "://") && showsOther(l) }),
	linkRule("LINK_IP_ADDRESS", Critical, 2.5, "A link leads to a number instead of a name.", adviceLinkHost,
		func(l link) bool { return l.web() && isAddress(l.host) && !isLocal(l.host) }),
	linkRule("LINK_LOOK_ALIKE", Critical, 2.5, "The domain of a link mixes alphabets to look like another domain.", adviceLinkHost,
		func(l link) bool { return l.web() && isLookAlikeHost(l.host) }),
	linkRule("LINK_PUNYCODE", Info, 0.4, "The domain of a link is not in plain Latin letters.", adviceLinkHost,
		func(l link) bool { return l.web() && strings.Contains("."+l.host, ".xn--") }),
	linkRule("LINK_NESTED_DOMAIN", Critical, 2.2, "The domain of a link has another domain inside its name.", adviceLinkHost,
		func(l link) bool { return l.web() && nestsDomain(l.host) }),
	linkRule("LINK_CREDENTIALS", Critical, 2.5, "A link has a user name before its domain.", adviceLinkHost,
		func(l link) bool { return l.web() && l.credentials }),
	linkRule("LINK_PORT", Warning, 1, "A link leads to an unusual port.", adviceLinkHost,
		func(l link) bool {
			return l.web() && l.port != "" && l.port != "80" && l.port != "443" && !isLocal(l.host)
		}),
	linkRule("LINK_SHORTENER", Warning, 1.3, "A link hides behind a shortener.", adviceShortener,
		func(l link) bool { return l.web() && shorteners[strings.TrimPrefix(l.host, "www.")] }),
	linkRule("LINK_OPEN_REDIRECT", Warning, 1.8, "A link hides behind the redirect of another site.", adviceShortener,
		func(l link) bool { return l.web() && isRedirect(l) }),
	linkRule("LINK_SCRIPT", Critical, 3, "A link runs a script.", adviceLinkKind,
		func(l link) bool { return l.scheme == "javascript" || l.scheme == "vbscript" }),
	linkRule("LINK_DATA", Critical, 2.5, "A link carries a page inside itself.", adviceLinkKind,
		func(l link) bool { return l.scheme == "data" || l.scheme == "blob" || l.scheme == "file" }),
	linkRule("LINK_PROGRAM", Critical, 2.5, "A link leads to a program or an archive.", adviceDownload,
		func(l link) bool { return l.web() && programs[strings.ToLower(path.Ext(pathOnly(l.path)))] }),
	linkRule("LINK_LOCAL", Warning, 1, "A link leads to a machine that readers cannot reach.", adviceDeadLink,
		func(l link) bool { return l.web() && isLocal(l.host) }),
	linkRule("LINK_EMPTY", Info, 0.3, "A link leads nowhere.", adviceDeadLink,
		func(l link) bool { return l.empty && l.shown != "" }),
	linkRule("LINK_HTTP", Info, 0.5, "A link is not encrypted.", adviceHTTPS,
		func(l link) bool { return l.scheme == "http" }),
	{
		id: "LINK_CHEAP_DOMAIN", severity: Warning, score: 0.9,
		description: "A link leads to a top-level domain that is known for spam.",
		advice:      adviceLinkHost,
		when: func(f *facts) bool {
			return f.anyLink(func(l link) bool {
				return l.web() && cheapDomains[l.host[strings.LastIndexByte(l.host, '.')+1:]] && !sameOwner(l.host, f.sender.Domain)
			})
		},
	},
	{
		id: "LINK_MANY_DOMAINS", severity: Warning, score: 1,
		description: "The links lead to many different domains.",
		advice:      adviceFewLinks,
		when: func(f *facts) bool {
			domains := map[string]bool{}
			for _, l := range f.links {
				if l.web() {
					domains[registered(l.host)] = true
				}
			}
			return len(domains) > maxDomains
		},
	},
	{
		id: "LINK_TOO_MANY", severity: Warning, score: 1,
		description: "There are more than 120 links.",
		advice:      adviceFewLinks,
		when:        func(f *facts) bool { return f.linkCount > maxAnchors },
	},
}

// linkRule makes a rule that applies if the claim is true of a link.
func linkRule(id string, severity Severity, score float64, description string, a advice, claim func(link) bool) rule {
	return rule{
		id: id, severity: severity, score: score, description: description, advice: a,
		when: func(f *facts) bool { return f.anyLink(claim) },
	}
}

// showsOther tells whether the text of a link is an address on another registered domain than the one it leads to.
func showsOther(l link) bool {
	if !l.web() {
		return false
	}
	shown := shownHost(l.shown)
	return shown != "" && !sameOwner(shown, l.host)
}

// shownHost returns the host that a text names, or nothing if it is not a lone address.
func shownHost(text string) string {
	text = strings.TrimRight(text, endsSentence)
	if text == "" || strings.ContainsAny(text, " \n\t\u00a0@") {
		return ""
	}
	if strings.Contains(text, "://") {
		return readLink(anchor{href: text}).host
	}
	host := readLink(anchor{href: "//" + text}).host
	if strings.HasPrefix(host, "www.") {
		return host
	}
	// Names of files ("readme.md") look like domains, so only endings that hardly mean anything else count.
	dot := strings.LastIndexByte(host, '.')
	if dot < 1 || !commonDomains[host[dot+1:]] {
		return ""
	}
	return host
}

// nestsDomain tells whether a host reads like another one: paypal.com.account.example.net.
func nestsDomain(host string) bool {
	before := strings.TrimSuffix(strings.TrimSuffix(inASCII(host), registered(host)), ".")
	labels := strings.Split(before, ".")
	for i, label := range labels {
		if i > 0 && (label == "com" || label == "org" || label == "net") {
			return true
		}
	}
	return false
}

// isRedirect knows the pages of well-known sites that lead on to anywhere.
func isRedirect(l link) bool {
	owner, _, _ := strings.Cut(registered(l.host), ".")
	start, found := redirects[owner]
	return found && strings.HasPrefix(l.path, start) && (strings.Contains(l.path, "http") || strings.Contains(l.path, "="))
}

func isLocal(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".internal") || host == "::1" || strings.HasPrefix(host, "127.") && isAddress(host)
}

func pathOnly(p string) string {
	if i := strings.IndexAny(p, "?#"); i >= 0 {
		return p[:i]
	}
	return p
}

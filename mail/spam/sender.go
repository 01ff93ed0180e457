package spam

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"postrider/mail/address"
)

var (
	adviceFrom     = advice{"fix_from", "Send from a plain address on your own domain, such as Acme <hello@acme.com>."}
	adviceFromName = advice{"fix_from_name", "Use your own name or that of your company as the sender's name, without an address in it."}
	adviceReplyTo  = advice{"fix_reply_to", "Let replies go to an address on the domain you send from."}
	adviceReply    = advice{"accept_replies", "Send from an address that takes replies."}
)

var senderRules = []rule{
	{
		id: "FROM_INVALID", severity: Critical, score: 2,
		description: "The From is not a valid address.",
		advice:      adviceFrom,
		when:        func(f *facts) bool { return f.sender.Domain == "" },
	},
	{
		id: "FROM_NAME_ADDRESS", severity: Critical, score: 3,
		description: "The sender's name shows an address that is not the sender's.",
		advice:      adviceFromName,
		when:        func(f *facts) bool { return namesForeignHost(f, true) },
	},
	{
		id: "FROM_NAME_DOMAIN", severity: Warning, score: 1.5,
		description: "The sender's name shows a domain that is not the sender's.",
		advice:      adviceFromName,
		when:        func(f *facts) bool { return namesForeignHost(f, false) },
	},
	{
		id: "FROM_NAME_BRAND", severity: Critical, score: 2.2,
		description: "The sender's name is that of a company with another domain.",
		advice:      adviceFromName,
		when:        borrowsBrand,
	},
	{
		id: "FROM_NAME_LOOK_ALIKE", severity: Critical, score: 2.5,
		description: "The sender's name mixes letters of several alphabets or hides characters.",
		advice:      adviceFromName,
		when: func(f *facts) bool {
			name := readProse(f.sender.Name)
			return name.disguised+name.joiners+name.overrides+name.fancy > 0
		},
	},
	{
		id: "FROM_NAME_MISSING", severity: Info, score: 0.2,
		description: "The sender has no name.",
		advice:      adviceFromName,
		when:        func(f *facts) bool { return f.sender.Domain != "" && f.sender.Name == "" },
	},
	{
		id: "FROM_FREE_MAIL", severity: Critical, score: 2,
		description: "The sender's address is at a mailbox provider that does not let others send for it.",
		advice:      adviceFrom,
		when:        func(f *facts) bool { return freeMail[f.sender.Domain] && !freeMail[f.Authentication.Domain] },
	},
	{
		id: "FROM_NO_REPLY", severity: Info, score: 0.1,
		description: "The sender's address says that it takes no replies.",
		advice:      adviceReply,
		when: func(f *facts) bool {
			local := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(f.sender.Local))
			return strings.HasPrefix(local, "noreply") || strings.HasPrefix(local, "donotreply") || strings.HasPrefix(local, "nichtantworten")
		},
	},
	{
		id: "FROM_RANDOM", severity: Warning, score: 1,
		description: "The sender's address looks made up by a machine.",
		advice:      adviceFrom,
		when:        func(f *facts) bool { return looksRandom(f.sender.Local) },
	},
	{
		id: "FROM_CHEAP_DOMAIN", severity: Info, score: 0.5,
		description: "The sender's top-level domain is known for spam.",
		advice:      adviceFrom,
		when: func(f *facts) bool {
			return cheapDomains[f.sender.Domain[strings.LastIndexByte(f.sender.Domain, '.')+1:]]
		},
	},
	{
		id: "REPLY_TO_OTHER_DOMAIN", severity: Warning, score: 0.8,
		description: "Replies go to another domain than that of the sender.",
		advice:      adviceReplyTo,
		when:        repliesElsewhere,
	},
	{
		id: "REPLY_TO_FREE_MAIL", severity: Warning, score: 1.5,
		description: "Replies to a company's message go to a free mailbox.",
		advice:      adviceReplyTo,
		when: func(f *facts) bool {
			return repliesElsewhere(f) && freeMail[f.replyTo.Domain] && !freeMail[f.sender.Domain]
		},
	},
}

// namesForeignHost tells whether the name of the sender has an address (or, without one, a bare domain) of somebody else in it.
func namesForeignHost(f *facts, withLocal bool) bool {
	shown := norm.NFKC.String(f.sender.Name) // a wide @ sign is read as one
	for word := range strings.FieldsFuncSeq(shown, func(r rune) bool { return strings.ContainsRune(" \t,;:()<>[]\"'|/", r) }) {
		local, host, isAddress := strings.Cut(strings.ToLower(strings.Trim(word, ".")), "@")
		if isAddress != withLocal {
			continue
		}
		if !isAddress {
			host = shownHost(local)
		}
		domain, err := address.ParseDomain(host)
		if err == nil && !sameOwner(domain, f.sender.Domain) {
			return true
		}
	}
	return false
}

// borrowsBrand looks for names that frauds use. A partner may name a brand beside its own name ("Acme via DocuSign"), which the
// word "via" gives away.
func borrowsBrand(f *facts) bool {
	owner := registered(f.sender.Domain)
	words := strings.FieldsFunc(strings.ToLower(f.sender.Name), func(r rune) bool { return !isWordy(r) })
	for i, word := range words {
		holder, known := brands[word]
		if known && !strings.Contains(owner, holder) && (i == 0 || words[i-1] != "via") {
			return true
		}
	}
	return false
}

// looksRandom tells whether a local part is of a kind that nobody could say over the telephone.
func looksRandom(local string) bool {
	digits, consonants, changes := 0, 0, 0
	run := 0
	wasDigit := false
	for i, r := range strings.ToLower(local) {
		isDigit := r >= '0' && r <= '9'
		if isDigit {
			digits++
		}
		if i > 0 && isDigit != wasDigit {
			changes++
		}
		wasDigit = isDigit
		if r >= 'a' && r <= 'z' && !strings.ContainsRune("aeiouy", r) {
			run++
			consonants = max(consonants, run)
		} else {
			run = 0
		}
	}
	return len(local) >= 8 && (digits >= 4 && changes >= 4 || consonants >= 7)
}

func repliesElsewhere(f *facts) bool {
	return f.replyTo.Domain != "" && f.sender.Domain != "" && !sameOwner(f.replyTo.Domain, f.sender.Domain)
}

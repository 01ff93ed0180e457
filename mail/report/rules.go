package report

import "strings"

// rule recognises what servers say. Texts are in lower case.
type rule struct {
	// codes limits the rule to enhanced codes without their class digit: "7.1", or "7." for all of a subject, or "" for a reply
	// without a telling code. No codes at all means any.
	codes []string
	// says are phrases of which one must occur.
	says    []string
	verdict Verdict
}

// vague are the codes of replies that tell nothing by themselves, so that the words decide.
var vague = []string{"", "0.0", "1.0", "2.0", "3.0", "4.0", "5.0", "7.0", "7.1"}

// unwanted are the codes under which servers complain about a sender.
var unwanted = []string{"", "0.0", "3.0", "4.0", "5.", "6.", "7.0", "7.1"}

// permanentRules apply to 5xx replies; the first that fits wins.
var permanentRules = []rule{
	// Microsoft: the domain knows its recipients, and this is none.
	{codes: []string{"4.1"}, says: []string{"as(201806281)"}, verdict: verdict(Hard, RecipientRejected)},
	{codes: []string{"1.10"}, says: []string{"recipientnotfound", "recipient not found"}, verdict: verdict(Hard, NoMailbox)},
	// Microsoft numbers its block lists.
	{codes: []string{"7."}, says: []string{"banned sending ip", "banned sender", "s3140", "s3150", "blocked sender"}, verdict: verdict(Block, Reputation)},
	// Google: a mailbox that is flooded, and files that it takes for dangerous.
	{codes: []string{"2.1"}, says: []string{"at a rate that", "too quickly"}, verdict: verdict(Soft, RateLimited)},
	{codes: []string{"2.1"}, says: []string{"over quota", "quota exceeded", "out of storage"}, verdict: verdict(Soft, MailboxFull)},
	{codes: []string{"2.1"}, says: []string{"ip address is blocked"}, verdict: verdict(Block, Reputation)},
	{codes: []string{"7.0"}, says: []string{"presents a potential security issue"}, verdict: verdict(Block, AttachmentRejected)},
	// Outlook.com says "mailbox unavailable" for a recipient it does not know, with or without 5.5.0.
	{codes: []string{"", "5.0", "0.0", "1.0"}, says: []string{"mailbox unavailable"}, verdict: verdict(Hard, NoMailbox)},
	{codes: append([]string{"6."}, vague...), says: []string{"virus", "malware", "infected"}, verdict: verdict(Block, AttachmentRejected)},
	{codes: append([]string{"6."}, vague...), says: []string{"attachment", "executable file", "file type"}, verdict: verdict(Block, AttachmentRejected)},
	{codes: []string{"", "0.0", "7.0", "7.1"}, says: []string{
		"dmarc", "spf check", "spf fail", "spf validation", "fails spf", "failed spf", "dkim", "unauthenticated", "not authenticated sender",
		"reverse dns", "rdns", "ptr record", "reverse hostname", "sender policy framework",
	}, verdict: verdict(Block, Authentication)},
	{codes: vague, says: []string{"too many", "rate limit", "throttl"}, verdict: verdict(Soft, RateLimited)},
	{codes: vague, says: []string{
		"user unknown", "unknown user", "no such user", "no such recipient", "no such mailbox", "no such address", "unknown recipient",
		"recipient unknown", "unknown mailbox", "mailbox not found", "user not found", "recipient not found", "no mailbox here",
		"mailbox does not exist", "user does not exist", "account does not exist", "recipient does not exist",
		"account that you tried to reach does not exist", "user doesn't have a", "not a known user", "not a valid mailbox",
		"invalid recipient", "invalid mailbox", "unknown address", "address unknown", "not a valid recipient", "unrouteable address",
		"invalid user",
	}, verdict: verdict(Hard, NoMailbox)},
	{codes: vague, says: []string{
		"account has been disabled", "account is disabled", "mailbox disabled", "mailbox is disabled", "account disabled",
		"account inactive", "mailbox is inactive", "inactive user", "account has been suspended", "account is suspended",
		"account blocked", "account is blocked", "account has been blocked", "mailbox blocked", "mailbox is blocked",
	}, verdict: verdict(Hard, MailboxDisabled)},
	{codes: vague, says: []string{
		"over quota", "overquota", "quota exceeded", "exceeded its quota", "exceeded storage", "mailbox full", "mailbox is full",
		"out of storage", "not enough storage", "inbox is full", "mailbox size limit", "mailbox limit exceeded", "quota violation", "storage limit",
		"disk is full", "disk full",
	}, verdict: verdict(Soft, MailboxFull)},
	{codes: vague, says: []string{"greylist", "graylist"}, verdict: verdict(Soft, Greylisted)},
	{codes: vague, says: []string{"temporar", "try again later", "try later"}, verdict: verdict(Soft, ServerError)},
	{codes: vague, says: []string{
		"message too large", "message too big", "message size exceeds", "exceeds size limit", "exceeds maximum", "exceeded max",
		"size limit", "message is too large",
	}, verdict: verdict(Block, TooLarge)},
	{codes: unwanted, says: []string{
		"spamhaus", "spamcop", "barracuda", "sorbs", "dnsbl", " rbl", "(rbl", "blocklist", "block list", "blacklist", "blocked using", "reputation",
		"spam", "unsolicited", "junk", "bulk mail", "abuse", "poor sender", "local policy", "policy", "policies", "complaint",
		"black list", "is listed", "blocked", "your ip", "ip not allowed",
	}, verdict: verdict(Block, Reputation)},
	// What is said of the sender, or of who may send, says nothing of the recipient.
	{codes: vague, says: []string{
		"relaying", "relay not", "not relay", "relay access", "to relay", "authentication required", "smtp auth", "authenticate", "not authorized",
		"not allowed to send", "sender rejected", "sender address rejected", "sender denied", "sender verify failed",
		"sender confirmation", "helo", "ehlo", "access denied", "prohibit",
	}, verdict: verdict(Block, Policy)},
}

// temporaryRules apply to 4xx replies and to silence.
var temporaryRules = []rule{
	{says: []string{"greylist", "graylist", "grey list", "gray list", "grey-list", "gray-list", "greylisting"}, verdict: verdict(Soft, Greylisted)},
	{says: []string{
		"too many", "rate limit", "ratelimit", "rate-limit", "too quickly", "too fast", "throttl", "unusual rate", "sending limit", "exceeded the limit",
	}, verdict: verdict(Soft, RateLimited)},
	{codes: vague, says: []string{"over quota", "overquota", "quota exceeded", "mailbox full", "mailbox is full", "out of storage"}, verdict: verdict(Soft, MailboxFull)},
}

func matchRules(rules []rule, subject, detail, text string) (Verdict, bool) {
	for _, r := range rules {
		if r.fits(subject, detail) && r.speaks(text) {
			return r.verdict, true
		}
	}
	return Verdict{}, false
}

func (r rule) fits(subject, detail string) bool {
	if len(r.codes) == 0 {
		return true
	}
	code := subject
	if subject != "" {
		code += "." + detail
	}
	for _, c := range r.codes {
		if c == code || strings.HasSuffix(c, ".") && c == subject+"." {
			return true
		}
	}
	return false
}

func (r rule) speaks(text string) bool {
	for _, phrase := range r.says {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

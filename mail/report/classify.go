package report

import (
	"strings"

	"postrider/mail/smtp"
)

// maxText bounds how much of a reply is looked at; what matters is said first.
const maxText = 4 << 10

// Classify tells what a reply of failure means. It asks, in this order, what providers are known to say, the enhanced code, the
// basic code, and the stage. A 4xx reply is always soft: the server itself says that it may pass.
func Classify(r Reply) Verdict {
	text := strings.ToLower(r.Text[:min(len(r.Text), maxText)])
	code := r.Enhanced
	if code == "" {
		code = ParseEnhanced(r.Text)
	}
	severity := r.Code / 100
	if severity != 4 && severity != 5 {
		severity = severityOf(code)
	}
	subject, detail := splitEnhanced(code)
	if severity == 5 {
		return aboutRecipient(permanent(r, subject, detail, text), r.Stage)
	}
	if v, ok := matchRules(temporaryRules, subject, detail, text); ok {
		return v
	}
	return temporary(r.Code, subject, detail)
}

func permanent(r Reply, subject, detail, text string) Verdict {
	if v, ok := matchRules(permanentRules, subject, detail, text); ok {
		return v
	}
	if v, ok := permanentByEnhanced(subject, detail); ok {
		return v
	}
	return permanentByCode(r.Code, r.Stage)
}

// aboutRecipient keeps what a server says before it has heard of the recipient from being held against the recipient, whatever
// code it uses: a server that greets with a refusal may be fine tomorrow, and one that dislikes the sender says nothing else.
func aboutRecipient(v Verdict, stage smtp.Stage) Verdict {
	if v.Class != Hard {
		return v
	}
	switch stage {
	case smtp.StageBanner, smtp.StageEHLO, smtp.StageStartTLS:
		return verdict(Soft, ServerError)
	case smtp.StageMailFrom:
		return verdict(Block, Policy)
	}
	return v
}

// severityOf returns the class digit of an enhanced code. Silence is temporary.
func severityOf(enhanced string) int {
	if strings.HasPrefix(enhanced, "5.") {
		return 5
	}
	return 4
}

func permanentByEnhanced(subject, detail string) (Verdict, bool) {
	switch subject + "." + detail {
	case "1.1":
		return verdict(Hard, NoMailbox), true
	case "1.2", "4.4", "4.310": // 4.310 is Microsoft's for a domain without records
		return verdict(Hard, NoDomain), true
	case "1.3", "1.6", "1.10":
		return verdict(Hard, BadAddress), true
	case "1.7", "1.8": // the sender's address, which is not the recipient's fault
		return verdict(Block, Policy), true
	case "2.1":
		return verdict(Hard, MailboxDisabled), true
	case "2.2":
		return verdict(Soft, MailboxFull), true
	case "2.3", "3.4":
		return verdict(Block, TooLarge), true
	case "4.1":
		return verdict(Block, RecipientRejected), true
	case "4.6", "4.14": // a loop between servers, which no further try ends; 4.14 is Microsoft's
		return verdict(Block, ServerError), true
	case "4.7", "4.300", "4.316": // 4.300 and 4.316 are Microsoft's for giving up
		return verdict(Soft, Expired), true
	case "7.20", "7.21", "7.22", "7.23", "7.24", "7.25", "7.26", "7.27", "7.29", "7.509", "7.515": // RFC 7372, Microsoft
		return verdict(Block, Authentication), true
	case "7.28": // a flood, says Google
		return verdict(Block, Reputation), true
	}
	switch subject {
	case "3":
		return verdict(Soft, ServerError), true
	case "5":
		return verdict(Block, Protocol), true
	case "6":
		return verdict(Block, ContentRejected), true
	case "7":
		return verdict(Block, Policy), true
	}
	return Verdict{}, false
}

func permanentByCode(code int, stage smtp.Stage) Verdict {
	if code == 552 { // RFC 5321 §4.2.3: exceeded storage allocation, which in practice is the size of the message
		return verdict(Block, TooLarge)
	}
	if stage == smtp.StageRcptTo {
		return verdict(Hard, Unknown)
	}
	return verdict(Block, Unknown)
}

func temporary(code int, subject, detail string) Verdict {
	switch subject + "." + detail {
	case "1.2": // a domain that is missing now
		return verdict(Soft, NoDomain)
	case "2.1":
		return verdict(Soft, MailboxDisabled)
	case "2.2":
		return verdict(Soft, MailboxFull)
	case "4.7":
		return verdict(Soft, Expired)
	case "7.1":
		if code == 450 { // what greylisting servers say even when they do not say the word
			return verdict(Soft, Greylisted)
		}
	}
	switch subject {
	case "3":
		return verdict(Soft, ServerBusy)
	case "4":
		return verdict(Soft, Network)
	case "7":
		return verdict(Soft, RateLimited)
	}
	switch code {
	case 0:
		return verdict(Soft, Network)
	case 421, 451:
		return verdict(Soft, ServerBusy)
	}
	return verdict(Soft, Unknown)
}

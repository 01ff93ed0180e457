package report

import "strings"

// Marks of reports and answers, in lower case.
var (
	// daemons are the names under which mail servers write.
	daemons = []string{"mailer-daemon", "mailerdaemon", "mail-daemon", "mail.daemon", "maildaemon", "mdaemon", "postmaster", "mailer_daemon",
		"microsoftexchange", "bounce-notification", "mail delivery sub", "mail delivery system"}

	bounceSubjects = []string{
		"undeliver", "undelivered mail", "delivery status notification", "failure notice", "mail delivery failed", "delivery failure",
		"delivery failed", "returned mail", "mail delivery failure", "delivery has failed", "could not be delivered", "nondeliverable",
		"non-deliverable", "non delivery", "message not delivered", "mail could not be", "returned to sender", "delivery report",
		"delivery notification", "mail system error", "unable to deliver", "failed mail", "mail failure", "message status - undeliverable",
		"delayed mail", "message delayed", "delivery delay", "warning: could not send", "unzustellbar", "nicht zugestellt",
		"zustellung fehlgeschlagen", "non remis", "échec de la remise", "non distribuable", "no se puede entregar", "no entregado",
		"mancato recapito", "não entregue", "onbestelbaar", "недоставленное", "не доставлено", "配信不能", "退信", "undelivrable",
	}

	bouncePhrases = []string{
		"could not be delivered", "couldn't be delivered", "was not delivered", "wasn't delivered", "unable to deliver", "not able to deliver",
		"wasn't able to deliver", "cannot deliver", "can't be delivered", "cannot be delivered", "delivery to the following recipient",
		"undeliverable", "permanent error", "permanent fatal error", "delivery failed", "failed to deliver", "message was undeliverable",
		"user unknown", "unknown user", "no such user", "mailbox unavailable", "mailbox not found", "mailbox is full", "over quota",
		"address rejected", "does not exist", "doesn't exist", "not listed in domino directory", "konnte nicht zugestellt werden",
		"n'a pas pu être remis", "no se pudo entregar", "has been delayed", "could not be sent",
	}

	// delayPhrases tell that the server will go on trying.
	delayPhrases = []string{
		"delivery status notification (delay)", "delayed mail", "message delayed", "delivery delay", "warning: could not send",
		"warning: message", "will continue to be attempted", "will be retried", "will keep trying", "will continue trying", "has not yet been delivered",
		"do not need to resend", "don't need to resend", "still trying", "has been delayed", "not been delivered yet", "this is a warning message only",
	}

	// copyMarks begin the copy of a message that came back.
	copyMarks = []string{
		"below this line is a copy of the message", "this is a copy of the message", "this is a copy of your message", "original message headers",
		"original message header", "original message follows", "original message -----", "unsent message follows", "unsent message below",
		"message header follows", "message headers follow", "message text follows", "headers of the original message", "returned message follows",
		"--- original message", "the header of the original", "undelivered message headers", "--- returned message",
	}

	// replySubjects begin the subjects of answers that nobody wrote.
	replySubjects = []string{
		"automatic reply", "auto reply", "auto-reply", "autoreply", "auto:", "auto response", "auto-response", "autoresponse", "out of office",
		"out of the office", "out-of-office", "vacation", "away from", "on leave", "automatische antwort", "abwesenheit", "abwesend",
		"réponse automatique", "absence du bureau", "respuesta automática", "fuera de la oficina", "risposta automatica", "fuori sede",
		"resposta automática", "automatisch antwoord", "afwezig", "autosvar", "automatiskt svar", "odpowiedź automatyczna", "автоответ", "自動応答",
		"自动回复",
	}
)

func containsAny(text string, marks []string) bool {
	for _, mark := range marks {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

func hasPrefixAny(text string, marks []string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range marks {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// isDaemon tells whether a From or an address is that of a mail server, whatever its domain is called. A null address is nobody
// else's.
func isDaemon(from string) bool {
	from = strings.ToLower(strings.TrimSpace(from))
	name, domain, _ := strings.Cut(from, "@")
	_, behind, _ := strings.Cut(domain, " ") // a name in a comment
	return from == "<>" || containsAny(name, daemons) || containsAny(behind, daemons)
}

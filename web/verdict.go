package web

import "fmt"

// verdict is the result of one check of a message.
type verdict struct{ Name, State, Text, Detail string }

// receivedVerdicts are what was found out about who sent a message.
func receivedVerdicts(m receivedRecord) []verdict {
	if m.Authentication == nil {
		return nil
	}
	a := m.Authentication
	list := []verdict{newVerdict("SPF", a.SPF), newVerdict("DKIM", a.DKIM), newVerdict("DMARC", a.DMARC)}
	if a.DKIM == "pass" && a.DKIMDomain != "" {
		list[1].Detail = "Signed by " + visible(a.DKIMDomain) + ", and not changed on its way."
	}
	if m.Spam != nil {
		state := map[string]string{"ok": "pass", "review": "warning", "spam": "error"}[m.Spam.Verdict]
		list = append(list, verdict{"Spam score", state, fmt.Sprintf("%.1f", m.Spam.Score), map[string]string{"pass": "Looks like honest mail.", "warning": "Somewhat like spam.", "error": "Looks like spam."}[state]})
	}
	return list
}

// verdictTexts say what a check found, by its state. What was not proved is no proof of the opposite.
var verdictTexts = map[string]map[string]string{
	"SPF": {"pass": "Its server may send for the domain of the envelope.", "error": "Its server may not send for the domain of the envelope.",
		"warning": "The domain of the envelope does not say for sure.", "info": "The domain of the envelope does not say which servers may send."},
	"DKIM": {"pass": "It was signed, and not changed on its way.", "error": "Its signature does not fit: it was changed, or forged.",
		"warning": "Its signature could not be checked.", "info": "It carries no signature."},
	"DMARC": {"pass": "The domain that readers see is the one that was proved.", "error": "The domain that readers see was not proved.",
		"warning": "It could not be checked.", "info": "The domain that readers see asks for no proof."},
}

// newVerdict says what a check found, in the words of RFC 8601 and in ours.
func newVerdict(name, result string) verdict {
	state := "warning"
	switch result {
	case "pass":
		state = "pass"
	case "fail", "permerror":
		state = "error"
	case "none", "neutral", "":
		state = "info"
	}
	return verdict{name, state, words(result), verdictTexts[name][state]}
}

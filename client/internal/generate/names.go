package generate

import (
	"strings"
	"unicode"
)

// chosen are the names of methods that read better than what follows from the path.
func chosen(operation string) (string, bool) {
	name, ok := map[string]string{
		"createEmail":                      "Send",
		"batchEmails":                      "SendBatch",
		"spamCheckEmails":                  "CheckSpam",
		"receivingEmails":                  "Ingest",
		"receivingForwardingEmails":        "CreateForwarding",
		"replyEmailsReceiving":             "Reply",
		"receivingDomain":                  "SetReceiving",
		"cloudflareApplyDomain":            "ApplyToCloudflare",
		"domainConnectCloudflareUrlDomain": "CloudflareLink",
		"sendConfirmationAudienceContact":  "SendConfirmation",
		"sendConfirmationsAudienceList":    "SendConfirmations",
		"audienceEstimateBroadcasts":       "EstimateAudience",
		"createAutomationsEvent":           "SendEvent",
		"sendEvents":                       "Send",
		"sendEvent":                        "SendByID",
		"testSendTemplates":                "TestSendUnsaved",
		"batchAddSuppressions":             "AddBatch",
		"batchRemoveSuppressions":          "RemoveBatch",
		"unsubscribe":                      "Unsubscribe",
	}[operation]
	return name, ok
}

// Service is the Go name of a tag: the field of the client its methods hang on.
func Service(tag string) string { return exported(tag) }

// MethodName is the Go name of an operation: its id without the words of its tag.
func (o Operation) MethodName() string {
	if name, ok := chosen(o.ID); ok {
		return name
	}
	words := ""
	for part := range strings.SplitSeq(o.Tags[0], "-") {
		words += strings.ToUpper(part[:1]) + part[1:]
	}
	name := o.ID
	for _, form := range []string{words, singular(words)} {
		if at := strings.Index(name, form); at >= 0 {
			name = name[:at] + name[at+len(form):]
			break
		}
	}
	return exported(strings.TrimSuffix(name, "Of"))
}

func singular(word string) string {
	if stem, ok := strings.CutSuffix(word, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(word, "s")
}

// initials are words that Go spells in capitals.
var initials = map[string]bool{"id": true, "url": true, "html": true, "ip": true, "dns": true, "api": true, "json": true, "http": true, "spf": true,
	"dkim": true, "dmarc": true, "mx": true, "smtp": true, "tls": true, "ids": true, "urls": true, "ttl": true, "arc": true, "isp": true, "isps": true, "csv": true, "ssl": true}

// exported turns external_id, externalId or external-id into ExternalID.
func exported(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		switch {
		case lower == "ids" || lower == "urls" || lower == "isps":
			out.WriteString(strings.ToUpper(lower[:len(lower)-1]) + "s")
		case initials[lower]:
			out.WriteString(strings.ToUpper(word))
		default:
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}

// unexported is the same as the name of an argument.
func unexported(name string) string {
	parts := words(name)
	out := strings.ToLower(parts[0])
	for _, word := range parts[1:] {
		out += exported(word)
	}
	return out
}

// words cuts a name where its spelling says so.
func words(name string) []string {
	var list []string
	start := -1
	runes := []rune(name)
	flush := func(end int) {
		if start >= 0 && end > start {
			list = append(list, string(runes[start:end]))
		}
		start = -1
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
			start = i
		}
	}
	flush(len(runes))
	return list
}

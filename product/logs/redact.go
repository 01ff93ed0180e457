package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// maxBody is the most of a body that is kept.
const maxBody = 32 << 10

const hidden = "[redacted]"

// contents are fields that hold what a mail says: only their length is kept.
var contents = map[string]bool{"html": true, "text": true, "content": true, "raw": true, "mjml": true, "amp": true, "body": true, "variables": true,
	"templatedata": true, "react": true, "css": true}

// secrets are parts of the names of fields that open doors.
var secrets = [][]byte{[]byte("secret"), []byte("password"), []byte("token"), []byte("apikey"), []byte("authorization"), []byte("privatekey"), []byte("credential"),
	[]byte("cookie"), []byte("otp"), []byte("recovery"), []byte("customheaders"), []byte("passphrase"), []byte("signature")}

// secretText finds keys and secrets wherever they stand. The public beginning of a key stays: it says which one it was.
var secretText = regexp.MustCompile(`(pr_(?:live|test)_[0-9A-Za-z]{10})_[0-9A-Za-z]+|whsec_[0-9A-Za-z+/=_-]+`)

// linkText finds what a link says after its path: a token there may open a mail or a file to whoever has the link.
var linkText = regexp.MustCompile(`((?i:https?)://[^\s"<>?#]*[?#])[^\s"<>]+`)

// userText finds the name and the password that stand before the host of a link.
var userText = regexp.MustCompile(`(://)[^\s"<>/?#]+@`)

// conceal hides the secrets in a text.
func conceal(text string) string {
	text = userText.ReplaceAllString(secretText.ReplaceAllString(text, "${1}"+hidden), "${1}"+hidden+"@")
	return linkText.ReplaceAllString(text, "${1}"+hidden)
}

// content is a body that has been read.
type content struct {
	// names are the fields of a JSON object, and id is the text of the one that is called so.
	names []string
	id    string
	// kept is what may be kept of it: no secrets, nothing of what mail says.
	kept json.RawMessage
}

// read returns what a JSON body says. size is how long it was; what is no JSON, or too long, is only measured.
func read(body []byte, size int) content {
	if size == 0 {
		return content{}
	}
	if !json.Valid(body) {
		return content{kept: measured(size)}
	}
	r := redactor{in: body, out: make([]byte, 0, min(len(body), maxBody))}
	r.value("", 0)
	if len(r.out) > maxBody {
		return content{names: r.names, id: r.id, kept: measured(size)}
	}
	return content{names: r.names, id: r.id, kept: bytes.ToValidUTF8(r.out, []byte("\ufffd"))}
}

// write is like json.Marshal, but leaves the brackets around addresses readable.
func write(value any) json.RawMessage {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("logs: %T cannot be written: %v", value, err))
	}
	return bytes.TrimSpace(buffer.Bytes())
}

func measured(size int) json.RawMessage { return write(fmt.Sprintf("[body of %d bytes]", size)) }

// verdict is what may be kept of a field.
type verdict int

const (
	harmless verdict = iota
	mail
	secret
)

// judge tells by the name of a field what may be kept of it. Case, hyphens and underscores do not matter.
func judge(field string) verdict {
	var buffer [64]byte
	name := buffer[:0]
	for i := range len(field) {
		if c := field[i]; c != '_' && c != '-' && len(name) < len(buffer) {
			name = append(name, c|0x20)
		}
	}
	for _, part := range secrets {
		if bytes.Contains(name, part) {
			return secret
		}
	}
	if contents[string(name)] {
		return mail
	}
	return harmless
}

var addressText = regexp.MustCompile(`[^\s"<>,;:\[\]{}]+@[^\s"<>,;:\[\]{}]+`)

// lineBreaks are how JSON writes what may stand before an address.
var lineBreaks = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ")

// addressesIn finds the addresses in a body that was kept, which bounds how many there are.
func addressesIn(body json.RawMessage) []string {
	if bytes.IndexByte(body, '@') < 0 {
		return nil
	}
	return addressText.FindAllString(lineBreaks.Replace(string(body)), -1)
}

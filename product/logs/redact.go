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

// content is a body that has been read.
type content struct {
	// fields are those of a JSON object.
	fields map[string]any
	// kept is what may be kept of it: no secrets, nothing of what mail says.
	kept json.RawMessage
}

// read returns what a JSON body says. size is how long it was; what is no JSON, or too long, is only measured.
func read(body []byte, size int) content {
	if size == 0 {
		return content{}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if len(body) == 0 || decoder.Decode(&value) != nil {
		return content{kept: measured(size)}
	}
	c := content{kept: write(redact("", value))}
	c.fields, _ = value.(map[string]any)
	if len(c.kept) > maxBody {
		c.kept = measured(size)
	}
	return c
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

// redact returns a value of a field as it may be kept. The depth of JSON is bounded by its decoder.
func redact(field string, value any) any {
	if value == nil {
		return nil
	}
	switch judge(field) {
	case secret:
		return hidden
	case mail:
		if text, ok := value.(string); ok {
			return fmt.Sprintf("[redacted %d bytes]", len(text))
		}
		return hidden
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = redact(key, inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = redact("", inner)
		}
	case string:
		if strings.Contains(v, "pr_") || strings.Contains(v, "whsec_") {
			return secretText.ReplaceAllString(v, "${1}"+hidden)
		}
	}
	return value
}

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

// maxAddresses bounds how many addresses of a body an entry is found by.
const maxAddresses = 50

func addressesIn(body json.RawMessage) []string {
	if bytes.IndexByte(body, '@') < 0 {
		return nil
	}
	return addressText.FindAllString(string(body), maxAddresses)
}

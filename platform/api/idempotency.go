package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
	"unicode"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Idempotency names one logical request of a workspace. The zero value names none: the work is simply done.
type Idempotency struct {
	Workspace space.ID
	// Operation is the method and path, so that one key can serve different routes.
	Operation string
	Key       string
	// Test tells requests of test keys apart: what was only simulated must not answer for what is to be done.
	Test bool
	// Hash tells bodies apart; see HashBody.
	Hash string
	// For is how long the key answers with its first result; 0 means as long as those of requests.
	For time.Duration
}

// operation is the name under which a request is remembered.
func (i Idempotency) operation() string {
	if i.Test {
		return "test " + i.Operation
	}
	return i.Operation
}

// rememberFor is how long the key of a request answers with its first result.
const rememberFor = 24 * time.Hour

var idempotencyKey = regexp.MustCompile(`^[A-Za-z0-9._:-]{8,128}$`)

// CheckIdempotencyKey joins the key of the header and the key of the body, which must agree.
func CheckIdempotencyKey(fields *Fields, header, body string) string {
	key := header
	if key == "" {
		key = body
	}
	switch {
	case header != "" && body != "" && header != body:
		fields.Add("idempotency_key", "The header and the body name different keys.")
	case key != "" && !idempotencyKey.MatchString(key):
		fields.Add("idempotency_key", "Must be 8 to 128 letters, digits, dots, underscores, colons or hyphens.")
	}
	return key
}

// Once does the work of a request at most once. If the key has been used with the same body, the remembered result is returned and
// replayed is true. The result is remembered in the transaction of the work, so a crash keeps both or neither.
func Once[T any](tx *db.Tx, request Idempotency, do func() (T, error)) (result T, replayed bool, err error) {
	if result, replayed, err = Replay[T](tx, request); replayed || err != nil {
		return result, replayed, err
	}
	if result, err = do(); err != nil {
		return result, false, unlessTwin(tx, request, err)
	}
	if request.Key == "" {
		return result, false, nil
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return result, false, fmt.Errorf("remember result: %w", err)
	}
	return result, false, remember(tx, request, string(raw))
}

// Replay returns what a key was answered with before. found is false if there is no key or it has not been used.
func Replay[T any](tx *db.Tx, request Idempotency) (result T, found bool, err error) {
	if request.Key == "" {
		return result, false, nil
	}
	stored, found, err := recall(tx, request)
	if err != nil || !found {
		return result, false, err
	}
	if stored.hash != request.Hash {
		return result, false, ErrKeyReused
	}
	err = json.Unmarshal([]byte(stored.result), &result)
	return result, true, err
}

// unlessTwin returns why the work was refused. If a twin has committed since we looked, its own work is the likely reason: the
// transaction must run again to find the twin's result.
func unlessTwin(tx *db.Tx, request Idempotency, refusal error) error {
	var public *Error
	if request.Key == "" || !errors.As(refusal, &public) {
		return refusal
	}
	if _, found, err := recall(tx, request); err != nil || !found {
		return refusal
	}
	return db.ErrConflict
}

// HashBody returns a hash that is equal for bodies that mean the same: key order, white space and the idempotency key itself
// do not count, and contents of attachments count by their own hash.
func HashBody(body []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(withoutNumbers(body)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	if object, ok := value.(map[string]any); ok {
		delete(object, "idempotency_key")
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(value); err != nil { // the encoder sorts keys
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// fewNumbers is how many numbers of a list count one by one.
const fewNumbers = 256

// withoutNumbers puts a hash into the place of every long list of numbers, which is a file and would need forty bytes for each of its own.
func withoutNumbers(body []byte) []byte {
	var short []byte
	copied := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			end := endOfString(body[i:])
			if end < 0 {
				return body
			}
			i += end
		case '[':
			size, commas := measureNumbers(body[i:])
			if commas < fewNumbers {
				continue
			}
			short = fmt.Appendf(append(short, body[copied:i]...), `"%x"`, hashOfNumbers(body[i:i+size]))
			i += size - 1
			copied = i + 1
		}
	}
	if copied == 0 {
		return body
	}
	return append(short, body[copied:]...)
}

// hashOfNumbers is the same however the numbers are spaced.
func hashOfNumbers(list []byte) []byte {
	hash := sha256.New()
	for len(list) > 0 {
		end := bytes.IndexFunc(list, unicode.IsSpace)
		if end < 0 {
			end = len(list)
		}
		hash.Write(list[:end])
		list = bytes.TrimLeftFunc(list[end:], unicode.IsSpace)
	}
	return hash.Sum(nil)
}

// Forget removes the keys whose time has passed. It returns how many there were, at most a batch.
func Forget(tx *db.Tx) (int64, error) { return forgetExpired(tx) }

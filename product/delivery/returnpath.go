package delivery

import (
	"encoding/base32"
	"encoding/hex"
	"strings"

	"postrider/product/email"
)

// returnMACBytes is enough that nobody guesses the return path of a message they have not seen.
const returnMACBytes = 8

var returnEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// returnPath is the envelope sender of one recipient's message. It names the recipient and is signed, so that a bounce tells
// whom it is about and a forged one is told apart.
func (s *Service) returnPath(t email.Taken) string {
	id, err := hex.DecodeString(strings.ReplaceAll(string(t.Recipient.ID), "-", ""))
	if err != nil {
		panic("delivery: recipient id is not a UUID: " + string(t.Recipient.ID))
	}
	token := returnEncoding.EncodeToString(append(id, s.keys.MAC("return path", id)[:returnMACBytes]...))
	host := s.domains.Hosts().Bounces()
	if t.Domain.ReturnVerified {
		host = t.Domain.ReturnHost()
	}
	return "b-" + token + "@" + host
}

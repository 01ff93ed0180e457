package delivery

import (
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"

	"postrider/product/email"
)

const (
	// returnMACBytes is enough that nobody guesses the return path of a message they have not seen.
	returnMACBytes = 8
	idBytes        = 16
	returnPurpose  = "return path"
	returnPrefix   = "b-"
)

var returnEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// returnPath is the envelope sender of one recipient's message. It names the recipient and is signed, so that a bounce tells
// whom it is about and a forged one is told apart.
func (s *Service) returnPath(t email.Taken) string {
	if t.Email.ReturnPath != "" {
		return t.Email.ReturnPath
	}
	id, err := hex.DecodeString(strings.ReplaceAll(string(t.Recipient.ID), "-", ""))
	if err != nil {
		panic("delivery: recipient id is not a UUID: " + string(t.Recipient.ID))
	}
	token := returnEncoding.EncodeToString(append(id, s.keys.MAC(returnPurpose, id)[:returnMACBytes]...))
	host := s.domains.Hosts().Bounces()
	if t.Domain.ReturnVerified {
		host = t.Domain.ReturnHost()
	}
	return returnPrefix + token + "@" + host
}

// ReturnedTo tells which recipient a return path was made for. Only those that we made are good; anything else is not ours.
func (s *Service) ReturnedTo(local string) (email.RecipientID, bool) {
	token, ok := strings.CutPrefix(strings.ToLower(local), returnPrefix)
	raw, err := returnEncoding.DecodeString(token)
	if !ok || err != nil || len(raw) != idBytes+returnMACBytes || !s.keys.CheckMAC(returnPurpose, raw[:idBytes], raw[idBytes:]) {
		return "", false
	}
	id := raw[:idBytes]
	return email.RecipientID(fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:16])), true
}

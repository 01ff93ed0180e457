package smtp

import (
	"strconv"
	"unicode/utf8"
)

// Envelope says from whom to whom a message goes.
type Envelope struct {
	// From is the return path without brackets; empty for a bounce.
	From string
	// To are the recipients without brackets.
	To []string
	// SMTPUTF8 tells that the headers need it; addresses that do are noticed by themselves.
	SMTPUTF8 bool
	// EightBit tells that the body is not plain ASCII. A server that does not offer 8BITMIME gets it unannounced: in
	// practice such servers pass it on, and the alternative is to break signatures or to bounce.
	EightBit bool
	// Size is the size of the message in bytes, if known.
	Size int64
	// Permit is asked at the last moment before the server has all of the message; an error keeps it from having that. Nil permits.
	Permit func() error
}

// Result is what became of a message.
type Result struct {
	// Recipients has one entry for each recipient of the envelope, in its order.
	Recipients []RecipientResult
	// Final is the reply that ended the transaction: the answer to the final dot, or the refusal before it. Its code is zero
	// if the connection broke first.
	Final Reply
	// Stage is how far the dialogue came.
	Stage Stage
	// SentFinalDot tells that the server may have seen the whole message. If Send failed nevertheless, nobody knows whether
	// it was accepted.
	SentFinalDot bool
}

// RecipientResult is what became of a message for one recipient.
type RecipientResult struct {
	Address string
	// Accepted tells that the server took responsibility for the message to this recipient.
	Accepted bool
	// Reply is the reply that decided, at Stage. Its code is zero if the connection broke before one came.
	Reply Reply
	Stage Stage
	// Local tells that we made the reply up without asking the server.
	Local bool
}

// Refusals made without asking the server.
var (
	localBadSender    = Reply{553, "5.1.7", []string{"Sender address cannot be sent"}}
	localBadRecipient = Reply{553, "5.1.3", []string{"Recipient address cannot be sent"}}
	localNeedsUTF8    = Reply{553, "5.6.7", []string{"Server does not take international addresses"}}
	localTooLarge     = Reply{552, "5.3.4", []string{"Message is larger than the server takes"}}
)

// maxAddressBytes is the longest local part, an @ and the longest domain.
const maxAddressBytes = maxLocalBytes + 1 + maxDomainBytes

// isSendable reports whether an address stays one argument of a command. What it looks like apart from that is for others
// to judge; but a space, a bracket or a control character would let it say more than an address.
func isSendable(address string) bool {
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c == '<' || c == '>' || c == 0x7f {
			return false
		}
	}
	return len(address) <= maxAddressBytes && utf8.ValidString(address)
}

func appendMail(b []byte, e Envelope, offered Extensions, international bool) []byte {
	b = append(b, "MAIL FROM:<"...)
	b = append(b, e.From...)
	b = append(b, '>')
	if offered.Size && e.Size > 0 {
		b = append(b, " SIZE="...)
		b = strconv.AppendInt(b, e.Size, 10)
	}
	if offered.EightBitMIME && e.EightBit {
		b = append(b, " BODY=8BITMIME"...)
	}
	if international {
		b = append(b, " SMTPUTF8"...)
	}
	return append(b, "\r\n"...)
}

func appendRcpt(b []byte, to string) []byte {
	b = append(b, "RCPT TO:<"...)
	b = append(b, to...)
	return append(b, ">\r\n"...)
}

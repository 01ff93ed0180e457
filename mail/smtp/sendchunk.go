package smtp

import (
	"bytes"
	"context"
	"io"
	"strconv"
)

// maxChunk is the largest message that is sent along with its envelope. If the server refuses the recipient the message was sent in
// vain, so it must be small enough not to matter.
const maxChunk = 64 << 10

// chunk returns the message if it can go in one breath with its envelope, which saves the wait for DATA to be allowed (RFC 3030).
// The server must offer that, and must have taken a message on this connection before: strangers are asked first.
func (t *transaction) chunk(body io.Reader) []byte {
	c := t.client
	if !c.extensions.Chunking || !c.extensions.Pipelining || !c.trusted {
		return nil
	}
	whole, ok := body.(*bytes.Reader)
	if !ok || whole.Len() == 0 || whole.Len() > maxChunk {
		return nil
	}
	raw := make([]byte, whole.Len())
	if _, err := whole.ReadAt(raw, whole.Size()-int64(len(raw))); err != nil || !hasCleanLines(raw) {
		return nil
	}
	return raw
}

// hasCleanLines tells whether all line ends are CRLF and the last line has one, so that the message can go as it is.
func hasCleanLines(raw []byte) bool {
	ends := bytes.Count(raw, []byte("\r\n"))
	return bytes.HasSuffix(raw, []byte("\r\n")) && bytes.Count(raw, []byte{'\r'}) == ends && bytes.Count(raw, []byte{'\n'}) == ends
}

// sendChunk sends envelope and message together and takes all replies.
func (t *transaction) sendChunk(ctx context.Context, raw []byte) error {
	c := t.client
	c.phase = phaseOpen
	last := len(t.asked) + 1
	c.out = c.out[:0]
	for number := range last {
		c.out = t.appendCommand(c.out, number)
	}
	command := "BDAT " + strconv.Itoa(len(raw)) + " LAST"
	c.out = append(append(c.out, command+"\r\n"...), raw...)
	if err := t.permit(); err != nil {
		return c.failed(ctx, StageMailFrom, err)
	}
	t.result.SentFinalDot = true // from here on the server may have all of it
	err := t.converse(ctx, 0, last)
	if t.decided() {
		err = nil // who has refused everybody may hang up
	}
	if err != nil || c.phase == phaseDead {
		t.result.SentFinalDot = err != nil // a server that said good-bye to the envelope has not taken the message
		return err
	}
	reply, err := c.read(ctx, StageEndOfData, c.config.Timeouts.Final)
	c.tell(command, reply, err)
	switch {
	case t.decided():
		t.result.SentFinalDot = false // whatever it says, nobody gets the message
		return nil
	case err != nil:
		t.result.Stage = StageEndOfData
		return err
	case reply.Code/100 == 3:
		return c.failed(ctx, StageEndOfData, &ProtocolError{Problem: "reply " + reply.String() + " does not end a message"})
	}
	t.settle(reply, StageEndOfData)
	if c.phase != phaseDead && reply.Positive() {
		c.phase = phaseReady // else the transaction is reset before the next
	}
	return nil
}

// decided tells whether every recipient has been refused already.
func (t *transaction) decided() bool {
	return t.mailRefused || t.accepted == 0 && t.result.Stage == StageRcptTo && t.allRefused()
}

func (t *transaction) allRefused() bool {
	for _, i := range t.asked {
		if t.result.Recipients[i].Reply.Code == 0 {
			return false
		}
	}
	return true
}

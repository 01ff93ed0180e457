package smtp

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// bodyBlock is how much of a message is written at a time; each block has its own time.
const (
	bodyBlock  = 32 << 10
	smallBlock = 8 << 10
)

// abandon ends a message that nobody will get: the server said no to all recipients but yes to a DATA that was already on
// its way. The lone dot is what RFC 2920 §3.1 asks for; what the server says to it, or that it hangs up, changes nothing.
func (t *transaction) abandon(ctx context.Context) {
	c := t.client
	_, _ = c.exchange(ctx, StageData, c.config.Timeouts.Final, ".\r\n")
}

// sendBody sends the message and takes the server's last word on it.
func (t *transaction) sendBody(ctx context.Context, body io.Reader) error {
	c := t.client
	t.result.Stage = StageData
	if size := t.blockSize(); len(c.block) < size { // most messages are small, and connections many
		c.block = make([]byte, size)
		c.out = make([]byte, 0, 2*size)
	}
	if err := t.copyBody(body); err != nil {
		var unreadable *unreadableError
		if errors.As(err, &unreadable) {
			return c.failed(ctx, StageData, err) // without the dot, so the server throws the message away
		}
		if reply, ok := c.lastWords(); ok {
			t.settle(reply, StageEndOfData)
			return nil
		}
		return c.failed(ctx, t.result.Stage, err)
	}
	reply, err := c.read(ctx, StageEndOfData, c.config.Timeouts.Final)
	c.tell(".", reply, err)
	if err != nil {
		return err
	}
	if reply.Code/100 == 3 {
		return c.failed(ctx, StageEndOfData, &ProtocolError{Problem: "reply " + reply.String() + " does not end a message"})
	}
	t.settle(reply, StageEndOfData)
	if c.phase != phaseDead {
		c.phase = phaseReady
		c.trusted = c.trusted || reply.Positive()
	}
	return nil
}

// blockSize is how much of the message is held at a time.
func (t *transaction) blockSize() int {
	if size := t.envelope.Size; size > 0 && size <= smallBlock {
		return smallBlock
	}
	return bodyBlock
}

// unreadableError is a body that we could not read to its end.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return fmt.Sprintf("read message: %v", e.err) }
func (e *unreadableError) Unwrap() error { return e.err }

func (t *transaction) permit() error {
	if t.envelope.Permit == nil {
		return nil
	}
	if err := t.envelope.Permit(); err != nil {
		return &unreadableError{err}
	}
	return nil
}

// copyBody writes the message in blocks and the final dot with the last of them.
func (t *transaction) copyBody(body io.Reader) error {
	c := t.client
	stuffer := dotStuffer{lineStart: true}
	for {
		n, err := body.Read(c.block)
		for part := c.block[:n]; len(part) > 0; {
			var used int
			c.out, used = stuffer.append(c.out, part, bodyBlock)
			part = part[used:]
			if len(c.out) < bodyBlock {
				continue
			}
			if err := c.flush(c.config.Timeouts.Body); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return &unreadableError{err}
		}
	}
	if err := t.permit(); err != nil {
		return err
	}
	c.out = stuffer.appendEnd(c.out)
	// From here on the server may have all of it, even if the write fails.
	t.result.SentFinalDot, t.result.Stage = true, StageEndOfData
	return c.flush(c.config.Timeouts.Body)
}

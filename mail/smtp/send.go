package smtp

import (
	"context"
	"io"
	"strings"
	"time"
)

// pipelineBytes is the most that is sent without reading replies. It fits the smallest window of a connection, so that
// neither side waits for the other to read (RFC 2920 §3.1).
const pipelineBytes = 4 << 10

// transaction is one message on its way. Its commands are numbered: MAIL, then one RCPT for each asked recipient, then DATA.
type transaction struct {
	client        *Client
	envelope      Envelope
	international bool
	asked         []int // positions in the envelope of the recipients the server is asked about
	result        Result

	mailRefused bool
	accepted    int  // recipients the server said yes to
	open        bool // the server waits for the message
}

// Send hands over one message and reports what became of it for each recipient. Refusals are results, not errors; an error
// is an *Error and means that the connection broke, with what was known until then in the result. Line ends of the body
// become CRLF and leading dots are stuffed.
func (c *Client) Send(ctx context.Context, envelope Envelope, body io.Reader) (Result, error) {
	t := newTransaction(c, envelope)
	err := t.run(ctx, body)
	return t.result, err
}

func (t *transaction) run(ctx context.Context, body io.Reader) error {
	c := t.client
	if !c.Usable() {
		return &Error{Stage: StageMailFrom, Err: errPhase}
	}
	t.checkLocally()
	if len(t.asked) == 0 {
		return nil
	}
	defer c.watch(ctx)()
	if err := c.clear(ctx); err != nil {
		return err
	}
	if raw := t.chunk(body); raw != nil {
		return t.sendChunk(ctx, raw)
	}
	if err := t.command(ctx); err != nil && !t.decided() { // who has refused everybody may hang up
		return err
	}
	if !c.Usable() {
		return nil
	}
	switch {
	case t.open && t.accepted == 0:
		t.abandon(ctx)
		return nil
	case !t.open:
		return nil
	}
	return t.sendBody(ctx, body)
}

func newTransaction(c *Client, envelope Envelope) *transaction {
	t := &transaction{client: c, envelope: envelope}
	t.result.Stage = StageMailFrom
	t.result.Recipients = make([]RecipientResult, len(envelope.To))
	for i, to := range envelope.To {
		t.result.Recipients[i] = RecipientResult{Address: to, Stage: StageMailFrom}
	}
	t.international = envelope.SMTPUTF8 || !isASCII(envelope.From)
	return t
}

// checkLocally refuses what need not or must not be sent, and notes the recipients to ask about.
func (t *transaction) checkLocally() {
	offered := t.client.extensions
	var refusal *Reply
	switch {
	case !isSendable(t.envelope.From):
		refusal = &localBadSender
	case t.international && !offered.SMTPUTF8:
		refusal = &localNeedsUTF8
	case offered.SizeBytes > 0 && t.envelope.Size > offered.SizeBytes:
		refusal = &localTooLarge
	}
	t.asked = make([]int, 0, len(t.envelope.To))
	for i, to := range t.envelope.To {
		switch {
		case refusal != nil:
			t.refuseLocally(i, *refusal, StageMailFrom)
		case to == "" || !isSendable(to):
			t.refuseLocally(i, localBadRecipient, StageRcptTo)
		case !isASCII(to) && !offered.SMTPUTF8:
			t.refuseLocally(i, localNeedsUTF8, StageRcptTo)
		default:
			t.international = t.international || !isASCII(to)
			t.asked = append(t.asked, i)
		}
	}
}

func (t *transaction) refuseLocally(i int, reply Reply, stage Stage) {
	recipient := &t.result.Recipients[i]
	recipient.Reply, recipient.Stage, recipient.Local = reply, stage, true
	t.result.Final, t.result.Stage = reply, stage
}

// clear makes sure that the next reply will be the one to MAIL.
func (c *Client) clear(ctx context.Context) error {
	if c.phase == phaseOpen {
		return c.reset(ctx)
	}
	if c.in.Buffered() == 0 {
		return nil
	}
	reply, err := c.read(ctx, StageMailFrom, c.config.Timeouts.Mail)
	if err != nil {
		return err
	}
	if c.phase == phaseDead {
		return &Error{Stage: StageMailFrom, Reply: reply}
	}
	c.Close()
	return &Error{Stage: StageMailFrom, Reply: reply, Err: &ProtocolError{Problem: "server spoke unasked"}}
}

// command sends the commands of the transaction, as many at a time as the server allows, and takes the replies.
func (t *transaction) command(ctx context.Context) error {
	c := t.client
	c.phase = phaseOpen
	count := len(t.asked) + 2
	for next := 0; next < count; {
		if next == count-1 && t.accepted == 0 {
			return nil
		}
		first := next
		for c.out = c.out[:0]; next < count; next++ {
			before := len(c.out)
			c.out = t.appendCommand(c.out, next)
			if next > first && (!c.extensions.Pipelining || len(c.out) > pipelineBytes) {
				c.out = c.out[:before]
				break
			}
		}
		if err := t.converse(ctx, first, next); err != nil || t.mailRefused || c.phase == phaseDead {
			return err
		}
	}
	return nil
}

func (t *transaction) appendCommand(b []byte, number int) []byte {
	switch {
	case number == 0:
		return appendMail(b, t.envelope, t.client.extensions, t.international)
	case number <= len(t.asked):
		return appendRcpt(b, t.envelope.To[t.asked[number-1]])
	}
	return append(b, "DATA\r\n"...)
}

// converse writes the commands from first to before next, and takes the reply to each.
func (t *transaction) converse(ctx context.Context, first, next int) error {
	c := t.client
	stage, timeout := t.stageOf(first)
	t.result.Stage = stage
	if err := c.flush(timeout); err != nil {
		if reply, ok := c.lastWords(); ok {
			t.settle(reply, stage)
			return nil
		}
		return c.failed(ctx, stage, err)
	}
	for number := first; number < next; number++ {
		stage, timeout := t.stageOf(number)
		reply, err := c.read(ctx, stage, timeout)
		if err != nil {
			return err
		}
		if c.heard != nil {
			c.heard(strings.TrimRight(string(t.appendCommand(nil, number)), "\r\n"), reply)
		}
		if c.phase == phaseDead {
			t.settle(reply, stage)
			return nil
		}
		if err := t.take(ctx, number, reply); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) stageOf(number int) (Stage, time.Duration) {
	timeouts := &t.client.config.Timeouts
	switch {
	case number == 0:
		return StageMailFrom, timeouts.Mail
	case number <= len(t.asked):
		return StageRcptTo, timeouts.Rcpt
	}
	return StageData, timeouts.DataInit
}

// take notes the reply to one command.
func (t *transaction) take(ctx context.Context, number int, reply Reply) error {
	stage, _ := t.stageOf(number)
	if reply.Code/100 == 3 && stage != StageData || reply.Positive() && stage == StageData {
		return t.client.failed(ctx, stage, &ProtocolError{Problem: "reply " + reply.String() + " does not fit the command"})
	}
	switch {
	case stage == StageMailFrom && !reply.Positive():
		t.mailRefused = true
		t.settle(reply, stage)
	case stage == StageRcptTo && !t.mailRefused:
		t.result.Stage = stage
		if reply.Positive() {
			t.accepted++
			return nil
		}
		recipient := &t.result.Recipients[t.asked[number-1]]
		recipient.Reply, recipient.Stage = reply, stage
		t.result.Final = reply
	case stage == StageData && reply.Code/100 == 3:
		t.open = true
	case stage == StageData && t.accepted > 0:
		t.settle(reply, stage)
	}
	return nil
}

// settle gives all recipients that were not refused before the reply that decided for them.
func (t *transaction) settle(reply Reply, stage Stage) {
	for _, i := range t.asked {
		recipient := &t.result.Recipients[i]
		if recipient.Reply.Code == 0 {
			recipient.Reply, recipient.Stage = reply, stage
			recipient.Accepted = stage == StageEndOfData && reply.Positive()
		}
	}
	t.result.Final, t.result.Stage = reply, stage
}

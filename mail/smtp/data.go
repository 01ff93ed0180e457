package smtp

import (
	"context"
)

// data carries out DATA: it lets the session read the message and passes on what the session says.
func (c *serverConn) data(ctx context.Context, argument string) *Reply {
	switch {
	case !c.from:
		return replyMailFirst
	case argument != "":
		return replyNoArgument
	case c.recipients == 0:
		return replyNoRecipients
	}
	if !c.enterData() {
		c.finish(replyStopping, "stopping")
		return nil
	}
	defer c.leaveData()
	c.write(replyStartData)
	message := dataReader{in: c.in, maxBytes: c.config.MaxMessageBytes, maxLine: c.config.MaxTextLineBytes, afterCRLF: true}
	decision := c.session.Data(ctx, &message)
	readToEnd := message.ended
	message.drain()
	c.reset()

	if message.failure != nil {
		return c.endUnread(&message)
	}
	if message.refusal != nil {
		return message.refusal
	}
	reply, yes := c.verdict(decision, replyMessageOK)
	switch {
	case yes && !readToEnd:
		c.config.Log.Error("smtp session accepted a message without reading it to the end")
		return replyTrouble
	case yes:
		c.messages++
		c.errors, c.refusedRecipients, c.idleCommands = 0, 0, 0
	}
	return reply
}

// endUnread ends a dialogue in which the end of a message was not found: what follows cannot be told from commands.
func (c *serverConn) endUnread(message *dataReader) *Reply {
	if message.failure == errDrainedEnough {
		c.finish(message.refusal, "message without end")
		c.unread = true
		return nil
	}
	c.finishBroken(message.failure)
	return nil
}

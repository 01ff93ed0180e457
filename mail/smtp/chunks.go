package smtp

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

// A message may come in chunks of announced size instead of lines up to a dot (RFC 3030). Between two chunks the client waits for
// an answer and may change its mind, so the reader of the message reads commands too, but hardly any is allowed there.

// errAbandoned ends a message whose last chunk will not come.
var errAbandoned = errors.New("message abandoned between chunks")

// chunk is the announcement of one piece of a message.
type chunk struct {
	size int64
	last bool
}

func parseChunk(argument string) (chunk, bool) {
	digits, word, more := strings.Cut(argument, " ")
	size, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || more && !strings.EqualFold(strings.TrimSpace(word), "LAST") {
		return chunk{}, false
	}
	return chunk{int64(size), more}, true
}

// bdat carries out the first BDAT of a message, and through its reader all others.
func (c *serverConn) bdat(ctx context.Context, argument string) *Reply {
	first, ok := parseChunk(argument)
	if !ok {
		// Nobody knows where the chunk ends and commands begin again.
		c.finish(replyBadChunk, "out of step")
		c.unread = true
		return nil
	}
	message := chunkReader{c: c, now: first}
	switch {
	case !c.from:
		return c.endChunk(&message, replyMailFirst)
	case c.recipients == 0:
		return c.endChunk(&message, replyNoRecipients)
	case !c.enterData():
		c.finish(replyStopping, "stopping")
		return nil
	}
	defer c.leaveData()
	decision := c.session.Data(ctx, &message)
	if message.abandoned {
		c.reset()
		if message.instead == "" {
			return nil
		}
		return c.command(ctx, message.instead, "")
	}
	reply, yes := c.verdict(decision, replyMessageOK)
	switch {
	case message.refusal != nil:
		reply = message.refusal
	case yes && !message.ended:
		c.config.Log.Error("smtp session accepted a message without reading it to the end")
		reply = replyTrouble
	case yes:
		c.messages++
		c.errors, c.refusedRecipients, c.idleCommands = 0, 0, 0
	}
	c.reset()
	return c.endChunk(&message, reply)
}

// endChunk swallows what is left of a chunk, so that the reply comes after it and the next command is read as one. Chunks of
// the message that follow find no transaction.
func (c *serverConn) endChunk(message *chunkReader, reply *Reply) *Reply {
	switch {
	case message.failure != nil:
		c.finishBroken(message.failure)
		return nil
	case message.now.size > maxDrainBytes:
		c.finish(replyTooLarge, "chunk too large")
		c.unread = true
		return nil
	}
	if _, err := io.CopyN(io.Discard, c.in, message.now.size); err != nil {
		c.finishBroken(err)
		return nil
	}
	return reply
}

// chunkReader reads a message that comes in chunks. Its lines must be as clean as those of any other: the message will be handed
// on to servers that read up to a dot.
type chunkReader struct {
	c   *serverConn
	now chunk // what is still to be read of the chunk under way

	rest      []byte // what Read has not handed out of the current piece; a part of the connection's buffer
	size      int64
	lineBytes int
	afterCR   bool

	ended     bool   // the last chunk was read
	refusal   *Reply // why the message will not be taken
	failure   error  // the connection failed
	abandoned bool   // the client gave the message up
	instead   string // the command by which it did, still to be carried out
}

// Read returns the next bytes of the message, io.EOF at its end, a RefusedError when it will not be taken.
func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		switch {
		case r.refusal != nil:
			return 0, &RefusedError{r.refusal}
		case r.failure != nil:
			return 0, r.failure
		case r.abandoned:
			return 0, errAbandoned
		case r.ended:
			return 0, io.EOF
		case r.now.size > 0:
			r.piece()
		case r.now.last:
			r.finish()
		default:
			r.next()
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// piece takes what the connection has of the chunk.
func (r *chunkReader) piece() {
	limit := r.c.config.MaxMessageBytes
	if r.now.size > limit-r.size {
		r.refusal = replyTooLarge
		return
	}
	if _, err := r.c.in.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		r.failure = err
		return
	}
	raw, _ := r.c.in.Peek(int(min(r.now.size, int64(r.c.in.Buffered())))) // buffered bytes cannot fail
	_, _ = r.c.in.Discard(len(raw))
	r.size += int64(len(raw))
	r.now.size -= int64(len(raw))
	if r.refusal = r.problem(raw); r.refusal == nil {
		r.rest = raw
	}
}

// problem tells what is wrong with the lines of a piece, or nil.
func (r *chunkReader) problem(raw []byte) *Reply {
	for _, b := range raw {
		switch {
		case b == '\n' != r.afterCR:
			return replyBareEnding
		case b == 0:
			return replyNUL
		case b == '\n':
			r.lineBytes = -1
		}
		r.afterCR = b == '\r'
		if r.lineBytes++; r.lineBytes > r.c.config.MaxTextLineBytes {
			return replyLongText
		}
	}
	return nil
}

// finish ends the message after its last chunk.
func (r *chunkReader) finish() {
	switch {
	case r.afterCR:
		r.refusal = replyBareEnding
	case r.lineBytes > 0:
		r.rest, r.lineBytes = []byte("\r\n"), 0 // every line of a message ends, the last one too
	default:
		r.ended = true
	}
}

// next answers the chunk that was read and waits for the announcement of another.
func (r *chunkReader) next() {
	r.c.write(replyChunkOK)
	for {
		line, err := r.c.readLine()
		verb, argument := cutVerb(string(line))
		switch {
		case errors.Is(err, errLineTooLong):
			r.c.answer("", replyLineTooLong)
		case errors.Is(err, errLineEnding):
			r.c.answer("", replyLineEnding)
		case err != nil:
			r.failure = err
			return
		case verb == "BDAT":
			var ok bool
			if r.now, ok = parseChunk(argument); !ok {
				r.c.finish(replyBadChunk, "out of step")
				r.c.unread = true
			}
			r.abandoned = !ok
			return
		case verb == "RSET", verb == "QUIT":
			r.abandoned, r.instead = true, verb
			return
		case verb == "NOOP":
			r.c.answer(verb, r.c.idle(replyOK))
		default:
			r.c.answer(verb, replyChunksOpen)
		}
		if r.abandoned = r.c.done; r.abandoned {
			return
		}
	}
}

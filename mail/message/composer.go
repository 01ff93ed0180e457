package message

import "io"

// flushAt is how much is gathered before it is handed on; large enough to make writes rare, small enough to keep attachments
// out of memory.
const flushAt = 64 << 10

// composer gathers the bytes of one message. After the first error it does nothing more; the caller looks at err once.
type composer struct {
	w       io.Writer // nil: everything stays in buf
	buf     []byte
	flushed int64
	last    byte // the last byte flushed
	err     error
}

func (c *composer) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *composer) write(s string) { c.buf = append(c.buf, s...) }

// settle enforces the size limit and hands on what is ready. It is called between parts and between chunks, never inside a line.
func (c *composer) settle() {
	if c.flushed+int64(len(c.buf)) > MaxBytes {
		c.fail(ErrTooLarge)
	}
	if c.err == nil && len(c.buf) >= flushAt {
		c.flush()
	}
}

func (c *composer) flush() {
	if c.w == nil || c.err != nil || len(c.buf) == 0 {
		return
	}
	n, err := c.w.Write(c.buf)
	c.flushed += int64(n)
	if err != nil {
		c.fail(err)
	}
	c.last = c.buf[len(c.buf)-1]
	c.buf = c.buf[:0]
}

// endLine ends the last line of the message, unless it has ended.
func (c *composer) endLine() {
	last := c.last
	if n := len(c.buf); n > 0 {
		last = c.buf[n-1]
	}
	if last != '\n' {
		c.write("\r\n")
	}
	c.settle()
}

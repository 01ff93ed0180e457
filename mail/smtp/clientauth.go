package smtp

import (
	"context"
	"encoding/base64"
	"errors"
)

// errClearText means that a password would have gone over the wire for everyone to read.
var errClearText = errors.New("password not sent without encryption")

// errNoMechanism means that the server takes passwords only in ways this client does not know.
var errNoMechanism = errors.New("server offers neither AUTH PLAIN nor AUTH LOGIN")

// Auth signs in to a server that takes mail from its customers, such as a relay. It refuses to do so in clear text. An error with
// a reply is the server's refusal and leaves the connection usable; any other ends it.
func (c *Client) Auth(ctx context.Context, user, password string) error {
	if c.phase != phaseReady {
		return &Error{Stage: StageMailFrom, Err: errPhase}
	}
	if c.conn == c.raw && !c.config.Secure {
		return &Error{Stage: StageMailFrom, Err: errClearText}
	}
	defer c.watch(ctx)()
	switch {
	case c.extensions.AuthPlain:
		return c.say(ctx, 235, "AUTH PLAIN "+encodeWord("\x00"+user+"\x00"+password))
	case c.extensions.AuthLogin:
		if err := c.say(ctx, 334, "AUTH LOGIN"); err != nil {
			return err
		}
		if err := c.say(ctx, 334, encodeWord(user)); err != nil {
			return err
		}
		return c.say(ctx, 235, encodeWord(password))
	}
	return &Error{Stage: StageMailFrom, Err: errNoMechanism}
}

// say sends one line and insists on one reply.
func (c *Client) say(ctx context.Context, want int, line string) error {
	reply, err := c.exchange(ctx, StageMailFrom, c.config.Timeouts.Mail, line+"\r\n")
	if err != nil {
		return err
	}
	if reply.Code != want {
		return &Error{Stage: StageMailFrom, Reply: reply}
	}
	return nil
}

func encodeWord(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

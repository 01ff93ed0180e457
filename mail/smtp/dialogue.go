package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"runtime/debug"
	"strings"
)

const (
	// maxAuthFailures is what a person with two keys in mind needs; a guesser must come back for more.
	maxAuthFailures = 3
	// maxIdleCommands is how many commands that lead nowhere (NOOP, RSET, VRFY, HELP, EHLO) a client may send between two
	// messages before each counts as an error.
	maxIdleCommands = 100
	// maxForetold is how many recipients a client may name behind a MAIL whose reply it did not wait for (RFC 2920 §3.1): what every
	// server must take (RFC 5321 §4.5.3.1.8), if the server does not take more.
	maxForetold = DefaultMaxRecipients
)

// dialogue is what the server remembers of a conversation.
type dialogue struct {
	info    ConnInfo
	session Session
	done    bool // the last reply has been written
	unread  bool // the peer is probably still talking

	from       bool // MAIL was accepted
	utf8       bool // MAIL asked for SMTPUTF8
	recipients int
	foretold   int // how many commands may yet follow a refused MAIL without being errors

	errors            int
	refusedRecipients int
	authFailures      int
	idleCommands      int
	messages          int
	outcome           string // why the dialogue ended, for the log
}

// serve leads the dialogue to its end.
func (c *serverConn) serve(ctx context.Context) {
	defer c.logEnd()
	defer c.rescue()
	defer c.logout()
	if c.config.ImplicitTLS && c.handshake(ctx) != nil {
		return
	}
	if !c.openSession(ctx) {
		c.out.Flush()
		return
	}
	c.write(&Reply{Code: 220, Lines: []string{c.config.Hostname + " " + c.config.Banner}})
	for !c.done {
		c.step(ctx)
	}
	if c.unread {
		c.linger()
	}
	c.out.Flush()
}

func (c *serverConn) logout() {
	if c.session != nil {
		c.session.Logout()
	}
}

// rescue turns a panic of the session into a 421: one broken transaction must not take the others down.
func (c *serverConn) rescue() {
	if problem := recover(); problem != nil {
		c.outcome = "panic"
		c.config.Log.Error("smtp session panicked", "panic", problem, "stack", string(debug.Stack()))
		c.write(replyBroken)
		c.out.Flush()
	}
}

func (c *serverConn) logEnd() {
	c.config.Log.Info("smtp connection ended", "remote", c.info.Remote.String(), "hello", c.info.Hello,
		"tls", c.info.TLS != nil, "messages", c.messages, "errors", c.errors, "outcome", c.outcome)
}

// openSession asks the handler for a session. If it refuses, its reply is written and the dialogue is over.
func (c *serverConn) openSession(ctx context.Context) bool {
	session, refusal := c.config.Handler(ctx, &c.info)
	if refusal == nil && session != nil {
		c.session = session
		return true
	}
	if refusal == nil {
		refusal = replyBroken
	}
	c.finish(refusal, "refused")
	return false
}

// finish writes the last reply.
func (c *serverConn) finish(r *Reply, outcome string) {
	c.write(r)
	c.done, c.outcome = true, outcome
}

// step reads one command and answers it.
func (c *serverConn) step(ctx context.Context) {
	if c.isStopping() {
		c.finish(replyStopping, "stopping")
		return
	}
	line, err := c.readLine()
	switch {
	case errors.Is(err, errLineTooLong):
		c.answer("", replyLineTooLong)
	case errors.Is(err, errLineEnding):
		c.answer("", replyLineEnding)
	case err != nil:
		c.finishBroken(err)
	default:
		verb, argument := cutVerb(string(line))
		c.answer(verb, c.command(ctx, verb, argument))
	}
}

// finishBroken ends a dialogue whose input failed.
func (c *serverConn) finishBroken(err error) {
	switch {
	case errors.Is(err, errLineEndless):
		c.finish(replyEndless, "endless line")
		c.unread = true
	case errors.Is(err, errStopping):
		c.finish(replyStopping, "stopping")
	case isTimeout(err):
		c.finish(replyTimeout, "timeout")
	default:
		c.done, c.outcome = true, "connection lost"
	}
}

// answer writes the reply to a command and keeps the account of errors. A nil reply means that all was said.
func (c *serverConn) answer(verb string, r *Reply) {
	if r == nil {
		return
	}
	c.write(r)
	if c.done || !r.Permanent() {
		return
	}
	switch {
	case verb == "RCPT" && c.from: // honest lists hold dead addresses, so these have a larger account of their own
		c.refusedRecipients++
	case r == replyMailFirst && c.foretold > 0: // it was on its way before the client could know
		c.foretold--
	default:
		c.errors++
	}
	if c.errors >= c.config.MaxErrors || c.refusedRecipients > c.config.MaxRecipients || c.authFailures >= maxAuthFailures {
		c.finish(replyTooMany, "too many errors")
		c.unread = true
	}
}

// verdict returns what to send for a session's decision, and whether it was a yes.
func (c *serverConn) verdict(r, usual *Reply) (*Reply, bool) {
	if r == nil {
		return usual, true
	}
	if !r.Positive() && !r.Temporary() && !r.Permanent() {
		c.config.Log.Error("smtp session gave an impossible reply", "reply", r.String())
		return replyTrouble, false
	}
	return r, r.Positive()
}

// cutVerb splits a line into the command in upper case and its argument.
func cutVerb(line string) (verb, argument string) {
	verb, argument, _ = strings.Cut(line, " ")
	return strings.ToUpper(verb), strings.Trim(argument, " ")
}

// handshake starts TLS. Bytes that came before it are thrown away: they were said by anyone.
func (c *serverConn) handshake(ctx context.Context) error {
	if err := c.raw.SetDeadline(c.now().Add(c.config.Timeouts.Handshake)); err != nil {
		c.done, c.outcome = true, "connection lost"
		return err
	}
	secure := tls.Server(c.raw, c.config.TLS)
	if c.isStopping() { // stop may have set its deadline before ours
		c.done, c.outcome = true, "stopping"
		return errStopping
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		c.done, c.outcome = true, "handshake failed"
		return err
	}
	state := secure.ConnectionState()
	c.conn = secure
	c.in.Reset(serverInput{c})
	c.info = ConnInfo{Remote: c.info.Remote, Local: c.info.Local, TLS: &state}
	return nil
}

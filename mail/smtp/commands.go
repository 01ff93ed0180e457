package smtp

import (
	"context"
	"strconv"
	"strings"
)

// command carries out one command and returns the reply to it, or nil if the command said all by itself.
func (c *serverConn) command(ctx context.Context, verb, argument string) *Reply {
	switch verb {
	case "EHLO", "HELO":
		return c.idle(c.hello(verb == "EHLO", argument))
	case "STARTTLS":
		return c.startTLS(ctx, argument)
	case "AUTH":
		return c.auth(ctx, argument)
	case "MAIL":
		return c.beginning(c.mail(ctx, argument))
	case "RCPT":
		return c.rcpt(ctx, argument)
	case "DATA":
		return c.data(ctx, argument)
	case "BDAT":
		return c.bdat(ctx, argument)
	case "RSET":
		return c.idle(c.rset(argument))
	case "NOOP":
		return c.idle(replyOK)
	case "HELP":
		return c.idle(replyHelp)
	case "VRFY":
		return c.idle(replyCannotVerify)
	case "QUIT":
		c.done, c.outcome = true, "quit"
		return replyBye
	case "EXPN", "TURN", "ETRN":
		return replyNotOffered
	case "GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT":
		// What follows is a web page that a browser was tricked to post here. To read it as commands would let its author
		// speak in the browser's name.
		c.finish(replyNotOffered, "out of step")
		c.unread = true
		return nil
	}
	return replyUnknown
}

// idle counts a command that leads nowhere.
func (c *serverConn) idle(r *Reply) *Reply {
	c.idleCommands++
	if c.idleCommands > maxIdleCommands && r.Positive() {
		c.errors++
		if c.errors >= c.config.MaxErrors {
			c.finish(replyTooMany, "too many errors")
			c.unread = true
			return nil
		}
	}
	return r
}

func (c *serverConn) hello(extended bool, name string) *Reply {
	if !isHello(name) {
		return replyBadHello
	}
	c.reset()
	c.info.Hello, c.info.Extended = name, extended
	if !extended {
		return &Reply{Code: 250, Lines: []string{c.config.Hostname}}
	}
	lines := []string{
		c.config.Hostname,
		"PIPELINING",
		"8BITMIME",
		"SMTPUTF8",
		"ENHANCEDSTATUSCODES",
		"CHUNKING",
		"SIZE " + strconv.FormatInt(c.config.MaxMessageBytes, 10),
		"LIMITS RCPTMAX=" + strconv.Itoa(c.config.MaxRecipients),
	}
	if c.config.TLS != nil && c.info.TLS == nil {
		lines = append(lines, "STARTTLS")
	}
	if c.config.Auth && !c.clearTextRefused() {
		lines = append(lines, "AUTH PLAIN LOGIN")
	}
	return &Reply{Code: 250, Lines: lines}
}

// isHello reports whether a name is made of what names and address literals are made of. It ends up in trace headers and
// logs, so nothing else passes; whether it is true is another question.
func isHello(name string) bool {
	for i := range len(name) {
		if !isAlphanumeric(name[i]) && !strings.ContainsRune(".-_:[]", rune(name[i])) {
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxDomainBytes
}

func (c *serverConn) clearTextRefused() bool { return c.config.RequireTLS && c.info.TLS == nil }

func (c *serverConn) startTLS(ctx context.Context, argument string) *Reply {
	switch {
	case c.config.TLS == nil || c.info.TLS != nil:
		return replyNotOffered
	case argument != "":
		return replyNoArgument
	case c.from:
		return replyNested
	}
	c.write(replyStartTLS)
	if c.out.Flush() != nil {
		c.done, c.outcome = true, "connection lost"
		return nil
	}
	if c.handshake(ctx) != nil {
		return nil
	}
	c.logout()
	c.session = nil
	c.openSession(ctx)
	return nil
}

func (c *serverConn) mail(ctx context.Context, argument string) *Reply {
	switch {
	case c.info.Hello == "":
		return replyHelloFirst
	case c.clearTextRefused():
		return replyNeedsTLS
	case c.config.RequireAuth && c.info.User == "":
		return replyNeedsAuth
	case c.from:
		return replyNested
	}
	path, rest, problem := parseAddressed(argument, "FROM:")
	if problem != "" {
		return NewReply(501, "5.1.7", "Sender refused: "+string(problem))
	}
	params, refusal := parseMailParams(rest)
	switch {
	case refusal != nil:
		return refusal
	case path.International() && !params.SMTPUTF8:
		return replyNeedsUTF8
	case params.Size > c.config.MaxMessageBytes:
		return replyTooLarge
	}
	reply, yes := c.verdict(c.session.Mail(ctx, path, params), replySenderOK)
	c.from, c.utf8 = yes, params.SMTPUTF8
	return reply
}

// beginning expects what a client says behind a refused MAIL: its recipients, and DATA.
func (c *serverConn) beginning(r *Reply) *Reply {
	c.foretold = 0
	if !c.from {
		c.foretold = max(c.config.MaxRecipients, maxForetold) + 1
	}
	return r
}

func (c *serverConn) rcpt(ctx context.Context, argument string) *Reply {
	if !c.from {
		return replyMailFirst
	}
	path, rest, problem := parseAddressed(argument, "TO:")
	if problem == "" && path.IsNull() {
		problem = pathLocal
	}
	if problem != "" {
		return NewReply(501, "5.1.3", "Recipient refused: "+string(problem))
	}
	params, refusal := parseRcptParams(rest)
	switch {
	case refusal != nil:
		return refusal
	case path.International() && !c.utf8:
		return replyNeedsUTF8
	case c.recipients >= c.config.MaxRecipients:
		return replyManyRecipients
	}
	reply, yes := c.verdict(c.session.Rcpt(ctx, path, params), replyRecipientOK)
	if yes {
		c.recipients++
	}
	return reply
}

// parseAddressed reads "FROM:<path> parameters". A space after the colon is against the rules but common, and harmless.
func parseAddressed(argument, keyword string) (path Path, rest string, problem pathProblem) {
	if len(argument) < len(keyword) || !strings.EqualFold(argument[:len(keyword)], keyword) {
		return Path{}, "", pathProblem("say " + keyword + "<address>")
	}
	path, rest, problem = parsePath(strings.TrimLeft(argument[len(keyword):], " "))
	if problem == "" && rest != "" && rest[0] != ' ' {
		problem = pathBrackets
	}
	return path, rest, problem
}

func (c *serverConn) rset(argument string) *Reply {
	if argument != "" {
		return replyNoArgument
	}
	c.reset()
	return replyOK
}

// reset forgets the transaction, if there is one.
func (c *serverConn) reset() {
	if c.from {
		c.session.Reset()
	}
	c.from, c.utf8, c.recipients, c.foretold = false, false, 0, 0
}

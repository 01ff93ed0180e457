package smtp

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
)

// auth carries out AUTH PLAIN and AUTH LOGIN (RFC 4954, RFC 4616).
func (c *serverConn) auth(ctx context.Context, argument string) *Reply {
	switch {
	case !c.config.Auth:
		return replyNotOffered
	case c.info.Hello == "":
		return replyHelloFirst
	case c.clearTextRefused():
		return replyAuthNeedsTLS
	case c.info.User != "":
		return replyAuthTwice
	case c.from:
		return replyNested
	}
	mechanism, initial, _ := strings.Cut(argument, " ")
	mechanism = strings.ToUpper(mechanism)
	var user, password string
	var refusal *Reply
	switch mechanism {
	case "PLAIN":
		user, password, refusal = c.authPlain(initial)
	case "LOGIN":
		user, password, refusal = c.authLogin(initial)
	default:
		return replyAuthMechanism
	}
	if refusal != nil || c.done {
		return refusal
	}
	reply := replyAuthFailed
	yes := false
	if user != "" && password != "" {
		reply, yes = c.verdict(c.session.Auth(ctx, mechanism, user, password), replyAuthenticated)
	}
	if yes {
		c.info.User = user
	} else if reply.Permanent() {
		c.authFailures++
	}
	return reply
}

func (c *serverConn) authPlain(initial string) (user, password string, refusal *Reply) {
	if initial == "" {
		if initial, refusal = c.challenge(""); refusal != nil || c.done {
			return "", "", refusal
		}
	}
	response, refusal := decodeAuth(initial)
	if refusal != nil {
		return "", "", refusal
	}
	parts := strings.Split(response, "\x00")
	if len(parts) != 3 {
		return "", "", replyAuthEncoding
	}
	// Nobody may act for someone else, so an authorization identity must repeat the user or stay away.
	if parts[0] != "" && parts[0] != parts[1] {
		return "", "", replyAuthFailed
	}
	return parts[1], parts[2], nil
}

func (c *serverConn) authLogin(initial string) (user, password string, refusal *Reply) {
	if initial == "" {
		if initial, refusal = c.challenge("VXNlcm5hbWU6"); refusal != nil || c.done { // "Username:"
			return "", "", refusal
		}
	}
	if user, refusal = decodeAuth(initial); refusal != nil {
		return "", "", refusal
	}
	response, refusal := c.challenge("UGFzc3dvcmQ6") // "Password:"
	if refusal != nil || c.done {
		return "", "", refusal
	}
	password, refusal = decodeAuth(response)
	return user, password, refusal
}

// challenge asks for the next step and returns the answer. If the connection fails, the dialogue is done.
func (c *serverConn) challenge(text string) (response string, refusal *Reply) {
	c.write(&Reply{Code: 334, Lines: []string{text}})
	line, err := c.readLine()
	switch {
	case err == nil && string(line) == "*":
		return "", replyAuthCancelled
	case err == nil:
		return string(line), nil
	case errors.Is(err, errLineTooLong):
		return "", replyLineTooLong
	case errors.Is(err, errLineEnding):
		return "", replyLineEnding
	}
	c.finishBroken(err)
	return "", nil
}

// decodeAuth decodes one step; "=" is the empty one (RFC 4954 §4).
func decodeAuth(s string) (string, *Reply) {
	if s == "=" {
		return "", nil
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return "", replyAuthEncoding
	}
	return string(decoded), nil
}

package smtp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
)

// Handler opens a session for a new connection. A reply instead of a session refuses the connection: it is sent in place of
// the greeting. After STARTTLS the old session is logged out and the handler is asked again, because nothing learnt in
// clear text may be believed (RFC 3207 §4.2). ctx ends with the connection.
type Handler func(ctx context.Context, conn *ConnInfo) (Session, *Reply)

// ConnInfo is what is known of a connection. The server fills it in as the dialogue goes on, always between two calls of
// the session, so a session may read it whenever it is called and must copy what it keeps.
type ConnInfo struct {
	Remote net.Addr
	Local  net.Addr
	// Hello is the name the client gave itself: a host name or address literal by its looks, but only a claim.
	Hello string
	// Extended tells that the client said EHLO rather than HELO.
	Extended bool
	// TLS is nil while the connection is in clear text.
	TLS *tls.ConnectionState
	// User is whom the session authenticated, or empty.
	User string
}

// Session decides about the mail of one connection. All its methods are called from one goroutine. A nil reply is the usual
// yes; any other reply is sent as it is, and a code of 2xx in it means yes.
type Session interface {
	// Auth checks a name and a password; mechanism is PLAIN or LOGIN.
	Auth(ctx context.Context, mechanism, user, password string) *Reply
	// Mail begins a transaction.
	Mail(ctx context.Context, from Path, params MailParams) *Reply
	// Rcpt adds a recipient.
	Rcpt(ctx context.Context, to Path, params RcptParams) *Reply
	// Data takes the message: CRLF lines, dots unstuffed. It must read to io.EOF and returns only when the message is safe,
	// because its reply tells the client to forget it. Any other error of r means that the message must not be kept; the
	// server then answers by itself and ignores the reply.
	Data(ctx context.Context, r io.Reader) *Reply
	// Reset ends the transaction: after every Data, and when the client drops it half way.
	Reset()
	// Logout ends the session. It is called exactly once.
	Logout()
}

package inbound

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"postrider/mail/arc"
	"postrider/mail/authres"
	"postrider/mail/dkim"
	"postrider/mail/dmarc"
	"postrider/mail/spam"
	"postrider/mail/spf"
)

// checkWithin is how long the checks of one message may wait for others. What name servers did not answer by then is called a temporary
// error: mail is not held up for it. The message itself is read for as long as that takes, or a slow name server would make it unreadable.
const checkWithin = 15 * time.Second

// maxJudged is how much of each text the spam check looks at.
const maxJudged = 256 << 10

// finding is what the checks of a message gave.
type finding struct {
	authentication Authentication
	// results is the text of the Authentication-Results field.
	results string
	// proven tells that the author is who the message says.
	proven bool
	spam   Spam
	// html and text are what it says, for those who want to be told at once.
	html, text string
}

// unknowable is what is said of a message that could not be read for its checks: nothing speaks for it.
var unknowable = finding{authentication: Authentication{SPF: "temperror", DKIM: "temperror", DMARC: "temperror", ARC: "none"}, spam: Spam{Verdict: spam.Review}}

// check finds out where a message comes from, and how much it looks like spam. Its error means that the message could not be read.
func (s *Service) check(ctx context.Context, m Message, c content) (finding, error) {
	within, done := context.WithTimeout(ctx, checkWithin)
	defer done()
	found, err := s.authenticate(ctx, within, m.Envelope, c, m.CreatedAt)
	if err != nil {
		return finding{}, err
	}
	said, err := s.read(ctx, stored{content: c}, false)
	if err != nil {
		return finding{}, err
	}
	found.spam = s.judge(within, spam.Message{From: m.From, To: m.Addresses.To, Subject: m.Subject, HTML: cutText(said.html, maxJudged), Text: cutText(said.text, maxJudged),
		Headers: said.headers(), Raw: c.raw, Authentication: spam.Authentication{Domain: found.authentication.DKIMDomain, Verified: found.proven,
			SPF: found.authentication.SPF, DKIM: found.authentication.DKIM, DMARC: found.authentication.DMARC}})
	found.html, found.text = cutText(said.html, maxToldText), cutText(said.text, maxToldText)
	return found, nil
}

// cutText cuts a text between two characters.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// authenticate asks what the domains of a message say about it. within is for the name servers.
func (s *Service) authenticate(ctx, within context.Context, e Envelope, c content, at time.Time) (finding, error) {
	from, _ := netip.ParseAddr(e.RemoteIP) // one that is not known proves nothing
	session := spf.Session{IP: from, Hello: e.Helo, From: e.MailFrom, Receiver: s.host}
	sender := spf.Verify(within, s.world.Resolver, session)
	in, err := s.openParts(ctx, c)
	if err != nil {
		return finding{}, err
	}
	signatures, err := dkim.Verify(within, s.world.Resolver, in.fields, in.body, at)
	in.close()
	if err != nil {
		return finding{}, err
	}
	chain, err := s.verifyChain(ctx, within, c, at)
	if err != nil {
		return finding{}, err
	}
	author := dmarc.Evaluate(within, s.world.Resolver, in.fields, sender, signatures)
	results := append([]authres.Result{authres.SPF(sender, session)}, authres.DKIM(signatures)...)
	results = append(results, authres.DMARC(author), authres.ARC(chain, ""))
	found := finding{proven: author.Result == dmarc.Pass, results: authres.Header{Server: s.host, Results: results}.String(), authentication: Authentication{
		SPF: string(sender.Result), DKIM: string(dkim.Best(signatures)), DMARC: string(author.Result), ARC: string(chain.Result)}}
	for _, v := range signatures {
		if v.Result == dkim.Best(signatures) {
			found.authentication.DKIMDomain = v.Domain
			break
		}
	}
	return found, nil
}

// verifyChain reads the message once more: a chain is rare, and the body of a large message is not kept in memory.
func (s *Service) verifyChain(ctx, within context.Context, c content, at time.Time) (arc.Chain, error) {
	in, err := s.openParts(ctx, c)
	if err != nil {
		return arc.Chain{}, err
	}
	defer in.close()
	return arc.Verify(within, s.world.Resolver, in.fields, in.body, at)
}

// judge asks the operator's engine, and the built-in one if that does not answer: mail is not held up for it.
func (s *Service) judge(ctx context.Context, m spam.Message) Spam {
	result, err := s.spam.Check(ctx, m)
	if err != nil {
		if !errors.Is(err, spam.ErrDaemon) {
			s.world.Log.Error("spam check failed", "error", err)
		}
		result = spam.Check(m)
	}
	return Spam{Score: result.Score, Verdict: result.Verdict}
}

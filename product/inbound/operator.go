package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"postrider/mail/message"
	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// operatorLane is the queue of mail to the installation itself that has to be read.
const operatorLane queue.Lane = "operator"

const (
	// operatorMailFor is how long mail to the installation is kept.
	operatorMailFor = 30 * 24 * time.Hour
	// maxSwept bounds what one transaction removes.
	maxSwept = 1000
)

// operatorNames are the addresses of the installation itself: those that every server must have (RFC 5321 §4.5.1, RFC 2142), and
// those that the records of customers' domains name for statistics.
var operatorNames = []string{"postmaster", "abuse", "dmarc", "tlsrpt"}

// isOperators tells whether an address is one of the installation itself.
func (s *Service) isOperators(to smtp.Path) bool {
	local, host := strings.ToLower(to.Local), strings.ToLower(to.Domain)
	if host == "" {
		return local == "postmaster"
	}
	hosts := s.domains.Hosts()
	return slices.Contains(operatorNames, local) && (host == hosts.Service || slices.Contains(hosts.MX(), host))
}

// isReturnHost tells whether only return paths are at a name.
func (s *Service) isReturnHost(name string) bool {
	service := s.domains.Hosts().Service
	return name == service || strings.HasSuffix(name, "."+service)
}

// Letter is mail to the installation, or a report that nobody could be found for.
type Letter struct {
	ID ID `json:"id"`
	// Kind is what it turned out to be, in the words of mail/report, or unread.
	Kind      string    `json:"kind"`
	Recipient string    `json:"recipient"`
	Sender    string    `json:"sender"`
	RemoteIP  string    `json:"remote_ip"`
	Subject   string    `json:"subject"`
	Note      string    `json:"note,omitempty"`
	CreatedAt time.Time `json:"created_at"`

	content content
}

const unread = "unread"

func (s *Service) newLetter(kind, recipient string, e Envelope, c content) Letter {
	return Letter{ID: ID(s.world.NewID()), Kind: kind, Recipient: recipient, Sender: e.MailFrom, RemoteIP: e.RemoteIP, Subject: readLetter(c.fields).subject,
		CreatedAt: s.world.Clock.Now().Truncate(time.Microsecond), content: c}
}

// takeReport takes a message at a return path, and answers when what it says is stored. What says nothing of use is kept for the
// operator: it may be a form of bounce that nobody knows yet. What comes before the message that it is about is recorded as sent has to come again.
func (s *Service) takeReport(ctx context.Context, recipient email.RecipientID, e Envelope, c content) *smtp.Reply {
	kind, err := s.readReport(ctx, recipient, e, c)
	if errors.Is(err, email.ErrUnderWay) {
		s.world.Log.Info("report came too soon", "recipient", recipient, "kind", kind)
		return replyTooSoon
	}
	if err != nil {
		s.world.Log.Error("report could not be stored", "recipient", recipient, "error", err)
		return replyTrouble
	}
	s.world.Log.Info("message to a return path", "recipient", recipient, "kind", kind)
	return replyStored
}

func (s *Service) readReport(ctx context.Context, recipient email.RecipientID, e Envelope, c content) (report.Kind, error) {
	r, err := s.open(ctx, c)
	if err != nil {
		return "", err
	}
	defer r.Close()
	kind, used, err := s.delivery.Reported(ctx, recipient, r)
	if errors.Is(err, message.ErrHeaderTooLarge) {
		kind, err = report.KindOrdinary, nil // it would be no easier to read if it came again
	}
	if err != nil || used {
		return kind, err
	}
	l := s.newLetter(string(kind), string(recipient), e, c)
	return kind, s.db.Write(ctx, func(tx *db.Tx) error { return insertLetter(tx, l) })
}

// takeOperators stores mail to the installation. It is read later: whether its author is who it says is a question to name servers.
func (s *Service) takeOperators(ctx context.Context, e Envelope, c content) *smtp.Reply {
	l := s.newLetter(unread, e.RcptTo[0], e, c)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if err := insertLetter(tx, l); err != nil {
			return err
		}
		return queue.Add(tx, queue.Item{ID: string(l.ID), Lane: operatorLane, Rank: queue.Bulk, Flow: "operator", Due: l.CreatedAt, Payload: db.JSON(e)})
	})
	if err != nil {
		s.world.Log.Error("operator's mail could not be stored", "error", err)
		return replyTrouble
	}
	return replyStored
}

// OperatorStep reads some of the mail to the installation, and puts statistics where the domains they are about find them.
func (s *Service) OperatorStep(ctx context.Context) (bool, error) {
	letters := map[string]Letter{}
	items, err := s.claim(ctx, operatorLane, func(tx *db.Tx, items []queue.Item) error {
		found, err := selectLetters(tx, idsOf(items))
		for _, l := range found {
			letters[string(l.ID)] = l
		}
		return err
	})
	if err != nil || len(items) == 0 {
		return false, err
	}
	for _, item := range items {
		told, proven, failed := s.readLetter(ctx, item, letters[item.ID])
		if failed != nil {
			s.world.Log.Error("operator's mail could not be read", "letter", item.ID, "error", failed)
		}
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			if failed != nil && item.Claims < maxTries {
				_, postponed := queue.Postpone(tx, item, tx.Now().Add(retryAfter))
				return postponed
			}
			if err := s.fileLetter(tx, letters[item.ID], told, proven); err != nil {
				return err
			}
			return queue.Finish(tx, item.ID)
		})
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// readLetter tells what a letter is, and whether its author is who it says.
func (s *Service) readLetter(ctx context.Context, item queue.Item, l Letter) (report.Report, bool, error) {
	unknown := report.Report{Kind: report.KindOrdinary}
	switch {
	case l.ID == "":
		return unknown, false, nil
	case item.Claims > maxTries:
		return unknown, false, errNeverEnded
	}
	var e Envelope
	if err := json.Unmarshal([]byte(item.Payload), &e); err != nil {
		return unknown, false, err
	}
	within, done := context.WithTimeout(ctx, checkWithin)
	defer done()
	found, err := s.authenticate(ctx, within, e, l.content, l.CreatedAt)
	if err != nil {
		return unknown, false, err
	}
	r, err := s.open(ctx, l.content)
	if err != nil {
		return unknown, false, err
	}
	defer r.Close()
	told, err := report.Read(r)
	switch {
	case errors.Is(err, message.ErrHeaderTooLarge):
		return unknown, false, nil
	case err != nil:
		return unknown, false, err
	}
	return told, found.proven, s.passComplaint(ctx, l, told)
}

// passComplaint counts a complaint that came to an address of the installation, which is where providers send them whom the operator
// asked for it. It names the return path of the message, and that is proof enough: it is signed.
func (s *Service) passComplaint(ctx context.Context, l Letter, told report.Report) error {
	if told.Feedback == nil {
		return nil
	}
	local, _, _ := strings.Cut(told.Feedback.OriginalMailFrom, "@")
	recipient, ok := s.delivery.ReturnedTo(local)
	if !ok {
		return nil
	}
	r, err := s.open(ctx, l.content)
	if err != nil {
		return err
	}
	defer r.Close()
	_, _, err = s.delivery.Reported(ctx, recipient, r)
	return err
}

// fileLetter stores what a letter says. Statistics that were stored need no letter any more.
func (s *Service) fileLetter(tx *db.Tx, l Letter, told report.Report, proven bool) error {
	if l.ID == "" {
		return nil
	}
	filed, err := s.fileStatistics(tx, told, proven)
	if err != nil {
		return err
	}
	if filed {
		return deleteLetters(tx, []ID{l.ID})
	}
	return updateLetter(tx, l.ID, string(told.Kind), told.Reason)
}

// sweep forgets old mail of the operator, and the rules of domains that have gone.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	swept := 0
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		old, err := selectOldLetters(tx, tx.Now().Add(-operatorMailFor), maxSwept)
		if err != nil {
			return err
		}
		swept = len(old)
		if err := deleteLetters(tx, old); err != nil {
			return err
		}
		return s.sweepRules(tx)
	})
	return swept == maxSwept, err
}

// ReferencedBlobs tells which of the blobs messages refer to.
func (s *Service) ReferencedBlobs(ctx context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
	used := map[blob.Ref]bool{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := selectReferenced(tx, refs)
		for _, ref := range found {
			used[ref] = true
		}
		return err
	})
	return used, err
}

// maxShownLetters is how many letters the operator is shown.
const maxShownLetters = 200

// OperatorHandler shows the operator the newest mail to the installation. It belongs on the admin address, which is not for the
// public.
func (s *Service) OperatorHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var letters []Letter
		err := s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
			letters, err = selectNewestLetters(tx, maxShownLetters)
			return err
		})
		if err != nil {
			http.Error(w, "not available", http.StatusServiceUnavailable)
			return
		}
		if letters == nil {
			letters = []Letter{}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(letters) // the reader may have gone
	})
}

package delivery

import (
	"context"
	"fmt"
	"io"
	"strings"

	"postrider/mail/report"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
)

// Reported reads a message that came to the return path of a recipient, and writes down what it tells. It returns what kind of
// message it was, and whether it was of use: a letter to nobody, or a report about nobody, is not. When it returns without error,
// all that the message says is stored.
func (s *Service) Reported(ctx context.Context, recipient email.RecipientID, message io.Reader) (kind report.Kind, used bool, err error) {
	told, err := report.Read(message)
	if err != nil {
		return "", false, err
	}
	what := email.Reported{Recipient: recipient, At: s.now()}
	switch {
	case told.Kind == report.KindDSN && told.DSN != nil:
		failed := failure(told.DSN)
		if failed == nil {
			return told.Kind, true, nil
		}
		what.Bounce = &email.LateBounce{Class: failed.Verdict(), Code: failed.Code(), Enhanced: failed.Status, Message: describe(*failed)}
	case told.Kind == report.KindFeedback && told.Feedback != nil && told.Feedback.Complaint():
		what.Complaint = &email.Complaint{Type: told.Feedback.Type, Source: "fbl", ArrivedAt: api.Time(what.At)}
	case told.Kind == report.KindAutoReply || told.Kind == report.KindMDN:
		return told.Kind, true, nil // known, and of no consequence
	default:
		return told.Kind, false, nil // a person who answered the wrong address, most often
	}
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		used, err = s.emails.Report(tx, what)
		return err
	})
	return told.Kind, used, err
}

// failure returns the recipient of a report who did not get the message. The return path names one recipient, so there is one.
func failure(dsn *report.DSN) *report.Recipient {
	for i, r := range dsn.Recipients {
		if r.Action == report.Failed {
			return &dsn.Recipients[i]
		}
	}
	return nil
}

func describe(r report.Recipient) string {
	text := strings.TrimSpace(r.Diagnostic)
	if text == "" {
		return fmt.Sprintf("%s The message could not be delivered.", r.Status)
	}
	return text
}

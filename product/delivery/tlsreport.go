package delivery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"postrider/mail/address"
	"postrider/mail/tlsrpt"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/world"
)

// Reports is who tells domains how well their encryption works (RFC 8460).
type Reports struct {
	// From is the sender, at a domain that the postman can send from.
	From    address.Address
	Postman Postman
}

// Postman sends a message that is ready made. The same message under the same key is sent once.
type Postman interface {
	PostMessage(ctx context.Context, to address.Address, key string, message []byte) error
}

// reportLane holds days of domains that want to hear of them.
const reportLane queue.Lane = "tls_report"

const (
	// reportAfter leaves every node the time to store what it has counted, and reportSpread keeps us from telling everybody at once
	// (RFC 8460 §4.1).
	reportAfter  = 30 * time.Minute
	reportSpread = 4 * time.Hour
	reportLease  = 5 * time.Minute
	reportRetry  = time.Hour
	// maxReportTries gives a domain most of a day (RFC 8460 §5.5).
	maxReportTries = 20
)

// orderReport has the domain told of a day when it is over.
func orderReport(tx *db.Tx, w world.World, key tlsrpt.Key) error {
	begin, err := time.Parse(time.DateOnly, key.Date)
	if err != nil {
		return fmt.Errorf("day of a report: %w", err)
	}
	payload, err := json.Marshal(key)
	if err != nil {
		return err
	}
	due := begin.AddDate(0, 0, 1).Add(reportAfter + w.Jitter(reportSpread/2, 1))
	return queue.Add(tx, queue.Item{ID: w.NewID(), Lane: reportLane, Rank: queue.Bulk, Due: due, Payload: string(payload)})
}

// report tells one domain of a day that is over.
func (s *Service) report(ctx context.Context) (bool, error) {
	if s.config.Reports.Postman == nil {
		return false, nil
	}
	var items []queue.Item
	token := int64(s.world.Uint64() >> 1)
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		items, err = queue.Claim(tx, reportLane, queue.Lease{Owner: s.config.Node + "/reports", For: reportLease, Token: token}, 1)
		return err
	})
	if err != nil || len(items) == 0 {
		return false, err
	}
	item := items[0]
	var key tlsrpt.Key
	if err := json.Unmarshal([]byte(item.Payload), &key); err != nil {
		return false, fmt.Errorf("stored day: %w", err)
	}
	told := s.tell(ctx, key)
	if told != nil {
		s.world.Log.Warn("report on encryption not sent", "domain", key.Domain, "date", key.Date, "error", told)
	}
	return true, s.db.Write(ctx, func(tx *db.Tx) error {
		if told != nil && item.Claims < maxReportTries {
			_, err := queue.Postpone(tx, item, tx.Now().Add(reportRetry))
			return err
		}
		if err := deleteDays(tx, key); err != nil {
			return err
		}
		return queue.Finish(tx, item.ID)
	})
}

// tell sends the report of a day to all who want it. One that fails does not keep it from the others, which know the report by its
// id if they get it again.
func (s *Service) tell(ctx context.Context, key tlsrpt.Key) error {
	day := tlsrpt.Day{Key: key}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		days, err := selectDays(tx, key)
		for _, d := range days {
			day.Merge(d)
		}
		return err
	})
	if err != nil || len(day.Tallies) == 0 { // another node's order has brought it already
		return err
	}
	texts, _, err := s.world.Resolver.TXT(ctx, tlsrpt.RecordName(key.Domain))
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return nil
	case err != nil:
		return err
	}
	to, err := tlsrpt.ParseRecord(texts)
	if err != nil {
		return nil // it has changed its mind
	}
	from := s.config.Reports.From
	made, err := tlsrpt.NewReport(day, tlsrpt.Submitter{Organization: s.config.Hello, Domain: from.Domain, Contact: from.String()})
	if err != nil {
		return err
	}
	var failed []error
	for _, mailbox := range to.Mail {
		failed = append(failed, s.config.Reports.Postman.PostMessage(ctx, mailbox, reportKey(made, mailbox), made.Mail(from, mailbox, made.End)))
	}
	for _, url := range to.HTTPS {
		failed = append(failed, s.upload(ctx, url, made))
	}
	return errors.Join(failed...)
}

// reportKey names a report to one mailbox, so that it is sent once.
func reportKey(made tlsrpt.Report, to address.Address) string {
	return fmt.Sprintf("tls-report:%x", sha256.Sum256([]byte(made.ID+" "+to.String())))
}

// upload posts a report to an address that a stranger chose.
func (s *Service) upload(ctx context.Context, url string, made tlsrpt.Report) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(made.Gzip()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", tlsrpt.ContentType)
	answer, err := s.encryption.web.Do(ctx, request)
	if err != nil {
		return err
	}
	if answer.Status/100 != 2 {
		return fmt.Errorf("the report was answered with %d", answer.Status)
	}
	return nil
}

package inbound

import (
	"time"

	"postrider/platform/db"
)

// total is the sums of the reports about one domain.
type total struct {
	domain          string
	reports, of, in int64
}

func scanTotal(s db.Scanner) (total, error) {
	var t total
	err := s.Scan(&t.domain, &t.reports, &t.of, &t.in)
	return t, err
}

func sumDMARC(tx *db.Tx, domains []string, since time.Time, each func(domain string, reports, messages, passed int64)) error {
	totals, err := db.All(tx, scanTotal, `
		SELECT domain, COUNT(*), CAST(SUM(messages) AS BIGINT), CAST(SUM(passed) AS BIGINT) FROM inbound_dmarc_report
		WHERE (domain {in $1} OR $2 = 0) AND proven = TRUE AND created_at >= $3
		GROUP BY domain`, domains, len(domains), since)
	for _, t := range totals {
		each(t.domain, t.reports, t.of, t.in)
	}
	return err
}

func sumTLS(tx *db.Tx, domains []string, since time.Time, each func(domain string, reports, successful, failed int64)) error {
	totals, err := db.All(tx, scanTotal, `
		SELECT domain, COUNT(*), CAST(SUM(successful) AS BIGINT), CAST(SUM(failed) AS BIGINT) FROM inbound_tls_report
		WHERE (domain {in $1} OR $2 = 0) AND proven = TRUE AND created_at >= $3
		GROUP BY domain`, domains, len(domains), since)
	for _, t := range totals {
		each(t.domain, t.reports, t.of, t.in)
	}
	return err
}

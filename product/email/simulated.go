package email

import (
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email/internal/track"
)

// simulatorHost is the part of a recipient's domain, before the service's, that asks for a simulated server.
const simulatorHost = "simulator."

// What a simulated recipient does besides taking or refusing mail. The local part of the address chooses; +label may follow.
const (
	playSuppressed = "suppressed"
	playComplained = "complained"
	playOpened     = "opened"
	playClicked    = "clicked"
)

// Simulated tells whether mail must not leave the machine: it was sent with a test key, or to the simulator.
func (s *Service) Simulated(test bool, address string) bool {
	return test || strings.HasSuffix(address, "@"+simulatorHost+s.domains.Hosts().Service)
}

// plays returns the part that a recipient plays, or nothing if it is a real one.
func (s *Service) plays(e *Email, address string) string {
	if !s.Simulated(e.Test, address) {
		return ""
	}
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	local, _, _ = strings.Cut(local, "+")
	return local
}

// PlayOn lets simulated recipients do what they do once they have the mail: complain, read it, follow a link. It runs in the
// transaction that records the outcomes, after them.
func (s *Service) PlayOn(tx *db.Tx, outcomes []Outcome) error {
	var visits []*visit
	for _, o := range outcomes {
		if o.Decision != Done {
			continue
		}
		r := o.Taken.Recipient
		part := s.plays(&o.Taken.Email, r.Address)
		open := &visit{recipient: r.ID, at: tx.Now().Truncate(time.Microsecond), played: true, facts: track.Visit{UserAgent: "Postrider simulator"}}
		switch part {
		case playComplained:
			told := Reported{Recipient: r.ID, At: tx.Now(), Complaint: &Complaint{Type: "abuse", Source: "simulator", ArrivedAt: api.Time(tx.Now())}}
			if _, err := s.Report(tx, told); err != nil {
				return err
			}
		case playOpened:
			visits = append(visits, open)
		case playClicked:
			click := *open
			click.facts.Click, click.link = true, s.baseURL
			visits = append(visits, open, &click)
		}
	}
	if len(visits) == 0 {
		return nil
	}
	return s.recordVisits(tx, visits)
}

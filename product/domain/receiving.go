package domain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/world"
)

// ErrReceiverUnhealthy means that mail for the domain would not arrive, so its MX must not be relied on yet.
var ErrReceiverUnhealthy = api.NewError(409, "inbound_receiver_unhealthy", "inbound_receiver_unhealthy",
	"Receiving cannot be switched on until mail for the domain would arrive.")

// SetReceiving switches receiving on or off. What cannot be switched on yet is remembered, and the next check that finds it possible
// does it.
func (s *Service) SetReceiving(ctx context.Context, ws space.ID, id string, on bool) (Domain, error) {
	d, err := s.Get(ctx, ws, id)
	if err != nil {
		return Domain{}, err
	}
	var refusal error
	if on {
		d.Checks.MX = s.checkMX(ctx, d)
		refusal = receivable(s.receiverChecks(ctx), d)
	}
	mx := d.Checks.MX
	d, err = s.change(ctx, ws, d.ID, func(_ *db.Tx, d *Domain) error {
		// One that receives already goes on: what it refused in a bad hour would be lost for good.
		d.ReceivingRequested, d.Receiving, d.Checks.MX = on, on && (d.Receiving || refusal == nil), mx
		return nil
	})
	if err != nil {
		return Domain{}, err
	}
	s.Forget(d)
	return d, refusal
}

// receiverChecks asks whether this installation can take mail now. That is another question to the database, so never ask it in a
// transaction: one that waits for a second connection holds on to its first.
func (s *Service) receiverChecks(ctx context.Context) []HealthCheck {
	if s.receiver == nil {
		return []HealthCheck{{Name: "receiver", Status: "fail", Message: "This installation does not receive mail."}}
	}
	return s.receiver(ctx)
}

// receivable tells why the domain cannot receive, or nil.
func receivable(receiver []HealthCheck, d Domain) error {
	checks := slices.Clone(receiver)
	if !d.Verified { // whoever could receive without proof would read what is meant for its owner
		checks = append(checks, HealthCheck{Name: "domain", Status: "fail", Message: "Verify the domain first: its records prove that it is yours."})
	}
	mx := HealthCheck{Name: "mx", Status: "pass"}
	if d.Checks.MX.Status != CheckPass {
		mx = HealthCheck{Name: "mx", Status: "fail", Message: d.Checks.MX.Message}
	}
	checks = append(checks, mx)
	for _, check := range checks {
		if check.Status != "pass" {
			return ErrReceiverUnhealthy.With("checks", checks)
		}
	}
	return nil
}

// Receives tells whether a mail server is ours.
func (h Hosts) Receives(server world.MX) bool { return slices.Contains(h.MX(), server.Host) }

// InTurn returns mail servers in the order in which they are tried. Among those of one number senders choose at random and answers have no
// order, so ours comes first: another is preferred only if its number is lower.
func (h Hosts) InTurn(servers []world.MX) []world.MX {
	rank := func(server world.MX) int {
		if h.Receives(server) {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(slices.Values(servers), func(a, b world.MX) int {
		return cmp.Or(cmp.Compare(a.Preference, b.Preference), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Host, b.Host))
	})
}

// checkMX passes if no other server is tried before ours.
func (s *Service) checkMX(ctx context.Context, d Domain) Check {
	answered, _, err := s.world.Resolver.MX(ctx, d.Name)
	if err != nil {
		return absent(err, "No MX record found. It is only needed to receive mail.")
	}
	servers := s.hosts.InTurn(answered)
	var found []string
	for _, server := range servers {
		found = append(found, fmt.Sprintf("%d %s", server.Preference, server.Host))
	}
	switch {
	case s.hosts.Receives(servers[0]):
		return Check{Status: CheckPass, Found: found}
	case slices.ContainsFunc(servers, s.hosts.Receives):
		return Check{Status: CheckMismatch, Message: "Another server has a lower number than " + s.hosts.MX()[0] + ", so mail goes there first.", Found: found}
	}
	return Check{Status: CheckMismatch, Message: "Mail for the domain does not go to " + s.hosts.MX()[0] + ". It is only needed to receive mail.", Found: found}
}

// receivingCache remembers whose mail is taken: another server asks for every recipient of every message.
type receivingCache struct {
	mu    sync.RWMutex
	names map[string]receivingName // guarded by mu
}

type receivingName struct {
	domain   Domain
	receives bool
	until    time.Time
}

// ForReceiving returns the domain that mail to the name is for, if it is taken at all. A change is seen within a second.
func (s *Service) ForReceiving(ctx context.Context, name string) (d Domain, receives bool, err error) {
	now := s.world.Clock.Now()
	s.receiving.mu.RLock()
	known, ok := s.receiving.names[name]
	s.receiving.mu.RUnlock()
	if ok && now.Before(known.until) {
		return known.domain, known.receives, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		d, receives, err = receiverOf(tx, name)
		return err
	})
	if err != nil {
		return Domain{}, false, err
	}
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	if s.receiving.names == nil || len(s.receiving.names) >= maxCached {
		s.receiving.names = map[string]receivingName{}
	}
	s.receiving.names[name] = receivingName{d, receives, now.Add(sendingFor)}
	return d, receives, nil
}

// receiverOf finds whose the mail to a name is. Whoever has proven the name decides, even that none is taken; one whose proof has lapsed goes on
// only while nobody else has any.
func receiverOf(tx *db.Tx, name string) (d Domain, receives bool, err error) {
	found, err := selectHolder(tx, name)
	if len(found) == 0 && err == nil {
		found, err = selectReceiving(tx, name)
	}
	if err != nil || len(found) == 0 || !found[0].Receiving {
		return Domain{}, false, err
	}
	return found[0], true, nil
}

// forgetReceiving makes a change of receiving seen at once in this process.
func (s *Service) forgetReceiving(name string) {
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	delete(s.receiving.names, name)
}

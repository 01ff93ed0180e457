package inbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/domain"
	"postrider/world"
)

const (
	// beatEvery is how often a process that takes mail says so, and beatFor how long that is believed.
	beatEvery = 30 * time.Second
	beatFor   = 2 * time.Minute
	// lookWithin is how long the name servers of all domains may take.
	lookWithin = 5 * time.Second
	// maxShownDomains bounds how many domains are looked at in one answer.
	maxShownDomains = 200
	// maxWaiting is how many unchecked messages are normal; more means that something is slow.
	maxWaiting = 10_000
	// expiresSoon is when a certificate should have been renewed.
	expiresSoon = 7 * 24 * time.Hour
)

// Receiver is a process that takes mail from other servers.
type Receiver struct {
	Node     string
	Hostname string
	Port     int
	StartTLS bool

	TLSExpiresAt, SeenAt time.Time
}

// door is what this process says about itself.
type door struct {
	mu       sync.Mutex
	open     *Receiver   // guarded by mu; nil if it takes no mail
	settings *tls.Config // guarded by mu
}

// Opened notes that this process takes mail at the address; Beat tells the others.
func (s *Service) Opened(address net.Addr, settings *tls.Config) {
	r := &Receiver{Node: s.node, Hostname: s.host, StartTLS: settings != nil}
	if tcp, ok := address.(*net.TCPAddr); ok {
		r.Port = tcp.Port
	}
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	s.door.open, s.door.settings = r, settings
}

// expiry returns the end of the certificate that the door shows now: it may have been renewed since the last look.
func expiry(settings *tls.Config, host string) time.Time {
	if settings == nil {
		return time.Time{}
	}
	var shown *tls.Certificate
	switch {
	case settings.GetCertificate != nil:
		shown, _ = settings.GetCertificate(&tls.ClientHelloInfo{ServerName: host})
	case len(settings.Certificates) > 0:
		shown = &settings.Certificates[0]
	}
	if shown == nil || len(shown.Certificate) == 0 {
		return time.Time{}
	}
	leaf, err := x509.ParseCertificate(shown.Certificate[0])
	if err != nil {
		return time.Time{}
	}
	return leaf.NotAfter
}

// HeartBeat is the worker of a process that takes mail, whatever else it does.
func (s *Service) HeartBeat() queue.Worker {
	return queue.Worker{Name: "receiver", Step: s.Beat, Every: beatEvery}
}

// Beat tells the others that this process takes mail.
func (s *Service) Beat(ctx context.Context) (bool, error) {
	s.door.mu.Lock()
	open, settings := s.door.open, s.door.settings
	s.door.mu.Unlock()
	if open == nil {
		return false, nil
	}
	r := *open
	r.TLSExpiresAt = expiry(settings, r.Hostname)
	return false, s.db.Write(ctx, func(tx *db.Tx) error { return saveReceiver(tx, r) })
}

// Closed tells the others that this process takes no more mail.
func (s *Service) Closed(ctx context.Context) error {
	s.door.mu.Lock()
	was := s.door.open
	s.door.open = nil
	s.door.mu.Unlock()
	if was == nil {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return deleteReceiver(tx, s.node) })
}

// Checks tells whether this installation can take mail now.
func (s *Service) Checks(ctx context.Context) []domain.HealthCheck {
	receiver := domain.HealthCheck{Name: "receiver", Status: "fail"}
	var list []Receiver
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = selectReceivers(tx)
		return err
	})
	live, found := newest(list, s.world.Clock.Now())
	switch {
	case err != nil:
		receiver.Message = "The state of the receiver is not known now. Try again shortly."
	case !found:
		receiver.Message = "This installation does not receive mail."
	case !live.StartTLS:
		receiver.Message = "The receiver does not offer STARTTLS."
	default:
		receiver.Status = "pass"
	}
	return []domain.HealthCheck{receiver}
}

// newest returns the receiver that was seen last, if that is not too long ago.
func newest(list []Receiver, now time.Time) (Receiver, bool) {
	if len(list) == 0 {
		return Receiver{}, false
	}
	last := slices.MaxFunc(list, func(a, b Receiver) int { return a.SeenAt.Compare(b.SeenAt) })
	return last, now.Sub(last.SeenAt) < beatFor
}

type healthRecord struct {
	Object    string         `json:"object" example:"receiving_health"`
	Status    string         `json:"status" example:"healthy"`
	Receiver  receiverRecord `json:"receiver"`
	Domains   []domainHealth `json:"domains"`
	CheckedAt api.Time       `json:"checked_at"`
}

type receiverRecord struct {
	Enabled       bool     `json:"enabled" example:"true"`
	Listening     bool     `json:"listening" example:"true"`
	Hostname      string   `json:"hostname" example:"mx1.mail.example.org"`
	Port          *int     `json:"port" example:"25"`
	StartTLS      bool     `json:"starttls" example:"true"`
	TLSExpiresAt  api.Time `json:"tls_expires_at"`
	QueueDepth    int64    `json:"queue_depth" doc:"Messages that wait to be checked." example:"0"`
	LastMessageAt api.Time `json:"last_message_at"`
}

type domainHealth struct {
	DomainID  domain.ID `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	Domain    string    `json:"domain" example:"acme.test"`
	Receiving string    `json:"receiving" example:"enabled"`
	MX        []mxFound `json:"mx"`
	Status    string    `json:"status" example:"ready"`
	Message   api.Ref   `json:"message"`

	wanted bool
}

type mxFound struct {
	Host     string `json:"host" example:"mx1.mail.example.org"`
	Priority uint16 `json:"priority" example:"10"`
	Expected bool   `json:"expected" example:"true"`
}

func (s *Service) handleHealth(ctx context.Context, caller api.Caller, _ api.None) (healthRecord, error) {
	var receivers []Receiver
	var domains []domain.Domain
	var depth int64
	var last time.Time
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if receivers, err = selectReceivers(tx); err != nil {
			return err
		}
		if domains, err = s.domains.OfWorkspace(tx, caller.Workspace, caller.DomainIDs, maxShownDomains); err != nil {
			return err
		}
		if depth, err = queue.Depth(tx, checkLane); err != nil {
			return err
		}
		last, err = selectLastMessage(tx, caller.Workspace)
		return err
	})
	if err != nil {
		return healthRecord{}, err
	}
	now := s.world.Clock.Now()
	live, listening := newest(receivers, now)
	record := healthRecord{Object: "receiving_health", CheckedAt: api.Time(now), Domains: s.lookAt(ctx, domains), Receiver: receiverRecord{Enabled: len(receivers) > 0,
		Listening: listening, Hostname: s.host, StartTLS: live.StartTLS, TLSExpiresAt: api.Time(live.TLSExpiresAt), QueueDepth: depth, LastMessageAt: api.Time(last)}}
	if live.Port != 0 {
		record.Receiver.Port = &live.Port
	}
	record.Status = record.judge(live, now)
	return record, nil
}

// judge says it all in a word.
func (r healthRecord) judge(live Receiver, now time.Time) string {
	switch {
	case !r.Receiver.Enabled:
		return "disabled"
	case !r.Receiver.Listening || !r.Receiver.StartTLS || !live.TLSExpiresAt.After(now):
		return "unhealthy"
	case r.Receiver.QueueDepth > maxWaiting || live.TLSExpiresAt.Before(now.Add(expiresSoon)),
		slices.ContainsFunc(r.Domains, func(d domainHealth) bool { return d.wanted && d.Status != "ready" }):
		return "degraded"
	}
	return "healthy"
}

// lookAt asks the name servers of domains where their mail goes.
func (s *Service) lookAt(ctx context.Context, domains []domain.Domain) []domainHealth {
	ctx, done := context.WithTimeout(ctx, lookWithin)
	defer done()
	found := make([]domainHealth, len(domains))
	each(len(domains), func(i int) { found[i] = s.lookAtOne(ctx, domains[i]) })
	return found
}

func (s *Service) lookAtOne(ctx context.Context, d domain.Domain) domainHealth {
	h := domainHealth{DomainID: d.ID, Domain: d.Name, Receiving: "disabled", MX: []mxFound{}, wanted: d.Receiving || d.ReceivingRequested}
	if d.Receiving {
		h.Receiving = "enabled"
	}
	answered, _, err := s.world.Resolver.MX(ctx, d.Name)
	hosts := s.domains.Hosts()
	servers, ours := hosts.InTurn(answered), hosts.MX()
	expected := false
	for _, server := range servers {
		is := hosts.Receives(server)
		h.MX = append(h.MX, mxFound{Host: server.Host, Priority: server.Preference, Expected: is})
		expected = expected || is
	}
	switch {
	case !h.wanted:
		h.Status = "not_enabled"
	case errors.Is(err, world.ErrNoName) || errors.Is(err, world.ErrNoData) || err == nil && len(servers) == 0:
		h.Status, h.Message = "mx_missing", api.Ref("There is no MX record. Publish one that names "+ours[0]+".")
	case err != nil:
		h.Status, h.Message = "dns_error", "The name servers of the domain did not answer."
	case !expected:
		h.Status, h.Message = "mx_mismatch", api.Ref("Mail for the domain goes to "+servers[0].Host+" instead of "+ours[0]+".")
	case !h.MX[0].Expected:
		h.Status, h.Message = "mx_not_preferred", api.Ref(servers[0].Host+" has a lower number than "+ours[0]+", so mail goes there first.")
	default:
		h.Status = "ready"
	}
	return h
}

package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/sync/errgroup"

	"postrider/platform/api"
	"postrider/platform/space"
	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
)

const (
	// applyBudget is how long a customer waits for all of it.
	applyBudget = 30 * time.Second
	// maxInFlight is polite to an API that counts the requests of each account.
	maxInFlight = 5
	// maxZoneSteps bounds the names that may be zones; nobody delegates deeper.
	maxZoneSteps = 8
)

// Selection says which records of a domain are meant.
type Selection struct {
	Mail    bool `json:"mail" doc:"What sending needs." example:"true"`
	Inbound bool `json:"inbound" doc:"What receiving needs." example:"false"`
}

func (s Selection) check() error {
	if !s.Mail && !s.Inbound {
		return api.Invalid("records", "Select mail, inbound or both.")
	}
	return nil
}

func (s Selection) has(r domain.DNSRecord) bool {
	if r.Purpose == "receiving" {
		return s.Inbound
	}
	return s.Mail
}

// Application is a request to publish the records of a domain.
type Application struct {
	// Connection is the id of the one to use; empty means the newest.
	Connection string
	// Records selects what is published; nil means mail, and inbound if the domain is to receive.
	Records *Selection
	// Overwrite replaces records of others that do the same as ours. Other TXT records stay even so.
	Overwrite bool
}

// Applied is what an Application has come to.
type Applied struct {
	Domain       domain.ID
	Zone, ZoneID string
	Records      Selection
	Results      []Result
	At           time.Time
}

// Result is what became of one record; Why explains a conflict or an error.
type Result struct {
	Type, Name string
	Action     Action
	Why        string
}

// Apply publishes the records of a domain through a connected account. Results that failed are told in the answer; the error says
// that nothing was done at all.
func (s *Service) Apply(ctx context.Context, ws space.ID, id string, in Application) (Applied, error) {
	d, err := s.domains.Get(ctx, ws, id)
	if err != nil {
		return Applied{}, err
	}
	record := s.domains.NewRecord(d)
	selected := Selection{Mail: true, Inbound: record.ReceivingWanted}
	if in.Records != nil {
		selected = *in.Records
	}
	if err := selected.check(); err != nil {
		return Applied{}, err
	}
	c, err := s.find(ctx, ws, in.Connection)
	if err != nil {
		return Applied{}, err
	}
	token, err := s.keys.Open(c.token, string(c.ID))
	if err != nil {
		return Applied{}, fmt.Errorf("open token of connection %s: %w", c.ID, err)
	}
	ctx, done := context.WithTimeout(ctx, applyBudget)
	defer done()
	p := publisher{client: s.client(string(token)), sender: s.domains.Hosts().SPF(), overwrite: in.Overwrite}
	if p.zone, err = findZone(ctx, p.client, d.Name); err != nil {
		return Applied{}, err
	}
	results, err := p.publish(ctx, d.Name, setsOf(record.Records, selected))
	if err != nil {
		return Applied{}, err
	}
	s.world.Log.Info("dns records applied", "workspace", ws, "domain", d.ID, "connection", c.ID, "zone", p.zone.Name, "results", len(results))
	return Applied{Domain: d.ID, Zone: p.zone.Name, ZoneID: p.zone.ID, Records: selected, Results: results, At: s.world.Clock.Now()}, nil
}

// findZone asks for the name itself and then for those above it, up to the one that was registered: a part of a domain can have
// a zone of its own.
func findZone(ctx context.Context, client *cloudflare.Client, name string) (cloudflare.Zone, error) {
	top, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return cloudflare.Zone{}, ErrNotConnected.Saying("This name is not one that can be registered.").Because(err)
	}
	names := []string{top}
	labels := strings.Split(strings.TrimSuffix(name, top), ".")
	for i := len(labels) - 2; i >= 0 && len(names) < maxZoneSteps; i-- {
		names = append(names, labels[i]+"."+names[len(names)-1])
	}
	for i := len(names) - 1; i >= 0; i-- {
		zone, found, err := client.FindZone(ctx, names[i])
		if err != nil {
			return cloudflare.Zone{}, providerError(err)
		}
		if found {
			return zone, nil
		}
	}
	return cloudflare.Zone{}, ErrNotConnected.Saying(fmt.Sprintf("The connected account has no zone for %s that its token may see. Connect another one.", name))
}

// setsOf returns the selected records, those of one type and name together, in their order.
func setsOf(records []domain.DNSRecord, selected Selection) [][]domain.DNSRecord {
	var sets [][]domain.DNSRecord
	at := map[[2]string]int{}
	for _, r := range records {
		if !selected.has(r) {
			continue
		}
		key := [2]string{r.Type, r.Name}
		if i, known := at[key]; known {
			sets[i] = append(sets[i], r)
			continue
		}
		at[key] = len(sets)
		sets = append(sets, []domain.DNSRecord{r})
	}
	return sets
}

// publisher brings records into one zone.
type publisher struct {
	client    *cloudflare.Client
	zone      cloudflare.Zone
	sender    string
	overwrite bool
}

// publish looks at what is there, decides, and does it.
func (p publisher) publish(ctx context.Context, name string, sets [][]domain.DNSRecord) ([]Result, error) {
	there, err := p.list(ctx, name, sets)
	if err != nil {
		return nil, providerError(err)
	}
	s := scene{zone: p.zone.Name, sender: p.sender, overwrite: p.overwrite}
	for _, r := range there[name] {
		s.delegated = s.delegated || r.Type == "NS" && name != p.zone.Name
	}
	outcomes := make([]outcome, len(sets))
	var all errgroup.Group
	all.SetLimit(maxInFlight)
	for i, set := range sets {
		decision := s.decide(set, there[set[0].Name])
		all.Go(func() error {
			outcomes[i] = p.carryOut(ctx, decision)
			return nil
		})
	}
	_ = all.Wait() // outcomes hold their own errors
	return settle(outcomes)
}

// settle joins the outcomes. If nothing could be written because of the provider, that is the answer.
func settle(outcomes []outcome) ([]Result, error) {
	var results []Result
	var trouble error
	written := 0
	for _, o := range outcomes {
		results = append(results, o.results...)
		written += o.written
		if trouble == nil {
			trouble = o.trouble
		}
	}
	if trouble != nil && written == 0 {
		return nil, providerError(trouble)
	}
	return results, nil
}

// list returns the records at the name of the domain and at those of the sets.
func (p publisher) list(ctx context.Context, name string, sets [][]domain.DNSRecord) (map[string][]cloudflare.Record, error) {
	there := map[string][]cloudflare.Record{name: nil}
	for _, set := range sets {
		there[set[0].Name] = nil
	}
	type page struct {
		name    string
		records []cloudflare.Record
	}
	pages := make(chan page, len(there))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(maxInFlight)
	for at := range there {
		all.Go(func() error {
			records, err := p.client.Records(ctx, p.zone.ID, at)
			pages <- page{at, records}
			return err
		})
	}
	err := all.Wait()
	close(pages)
	for found := range pages {
		there[found.name] = found.records
	}
	return there, err
}

// providerError is what the caller is told of a Failure.
func providerError(err error) error {
	var failure *cloudflare.Failure
	if !errors.As(err, &failure) {
		return err
	}
	told := ErrProvider.With("provider", Cloudflare).With("status", nil).Because(err).After(failure.RetryAfter)
	if failure.Status != 0 {
		told = told.With("status", failure.Status)
	}
	switch {
	case failure.Denied():
		return told.Saying("Cloudflare refuses the stored token. Connect the account again, with a token that may read zones and edit DNS.")
	case failure.Status == 429:
		return told.Saying("Cloudflare takes no more requests for this account at the moment. Try again later.")
	case failure.Status == 0:
		return told.Saying("Cloudflare did not answer in time. Try again later.")
	}
	return told
}

package apikey

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/account"
)

const (
	maxName     = 80
	maxNetworks = 50
	// maxDomains bounds what is compared on every send; a key for more domains is better unrestricted.
	maxDomains = 100
	// maxKeys bounds the keys of a workspace, revoked ones included, so that a leaked session cannot fill the table.
	maxKeys = 10_000
)

// NewKey is a key to make. Exactly one of Scopes and Preset is given; an empty Mode is live.
type NewKey struct {
	Workspace space.ID
	Name      string
	Scopes    []api.Scope
	Preset    Preset
	Mode      Mode
	DomainIDs []string
	// Networks are addresses or networks the key may be used from; none means everywhere.
	Networks  []string
	ExpiresAt time.Time
	// CreatedBy is the user who asked, from IP; both are empty for the operator's command line.
	CreatedBy string
	IP        netip.Addr
}

// Create makes a key. The returned token is the only copy of its secret.
func (s *Service) Create(ctx context.Context, in NewKey) (key Key, token string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		key, token, err = s.CreateIn(tx, in)
		return err
	})
	return key, token, err
}

// CreateIn makes a key in a transaction of somebody else.
func (s *Service) CreateIn(tx *db.Tx, in NewKey) (Key, string, error) {
	key, err := in.check(tx.Now())
	if err != nil {
		return Key{}, "", err
	}
	if err := s.checkDomains(tx, key); err != nil {
		return Key{}, "", err
	}
	count, err := countKeys(tx, key.Workspace, filter{})
	if err != nil {
		return Key{}, "", err
	}
	if count >= maxKeys {
		return Key{}, "", api.ErrInvalidState.Saying(fmt.Sprintf("A workspace has at most %d keys.", maxKeys))
	}
	key.ID, key.publicID, key.CreatedAt = ID(s.world.NewID()), randomText(s.world, publicLength), tx.Now()
	token := newToken(s.world, key.Mode, key.publicID)
	key.hash = digestOf(token)
	if err := insertKey(tx, key); err != nil {
		return Key{}, "", err
	}
	return key, token, s.accounts.Audit(tx, account.Entry{Workspace: key.Workspace, Actor: in.CreatedBy, Action: KeyCreated, Target: targetOf(key), IP: in.IP})
}

func targetOf(k Key) account.Target {
	return account.Target{Type: "api_key", ID: string(k.ID), Name: k.Name}
}

func (s *Service) checkDomains(tx *db.Tx, k Key) error {
	if len(k.DomainIDs) == 0 {
		return nil
	}
	exist, err := s.domains(tx, k.Workspace, k.DomainIDs)
	if err == nil && !exist {
		return api.Invalid("domain_ids", "Every id must be a domain of this workspace.")
	}
	return err
}

// check returns the key that is asked for, still without id and secret.
func (in NewKey) check(now time.Time) (Key, error) {
	var wrong api.Fields
	k := Key{Workspace: in.Workspace, Name: api.CheckName(&wrong, "name", in.Name, maxName), Mode: in.Mode, Preset: in.Preset, CreatedBy: in.CreatedBy, ExpiresAt: in.ExpiresAt}
	if k.Mode == "" {
		k.Mode = Live
	}
	if k.Mode != Live && k.Mode != Test {
		wrong.Add("mode", "Must be live or test.")
	}
	if !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now) {
		wrong.Add("expires_at", "Must be in the future.")
	}
	k.Scopes = in.checkScopes(&wrong)
	k.DomainIDs = in.checkDomainIDs(&wrong)
	k.Networks = in.checkNetworks(&wrong)
	return k, wrong.Err()
}

func (in NewKey) checkScopes(wrong *api.Fields) []api.Scope {
	if in.Preset != "" {
		scopes, ok := presets[in.Preset]
		if !ok {
			wrong.Add("preset", "Must be full_access, sending_access, customer_platform, webhooks or read_only.")
		}
		return scopes
	}
	if len(in.Scopes) == 0 {
		wrong.Add("scopes", "At least one scope is required.")
	}
	for i, scope := range in.Scopes {
		if !slices.Contains(api.Scopes, scope) {
			wrong.Add(fmt.Sprintf("scopes[%d]", i), "There is no such scope.")
		}
	}
	return inOrder(in.Scopes)
}

func (in NewKey) checkDomainIDs(wrong *api.Fields) []string {
	if in.Preset == CustomerPlatform {
		return nil // such a key makes domains, and so must act on domains that do not exist yet
	}
	if len(in.DomainIDs) > maxDomains {
		wrong.Add("domain_ids", fmt.Sprintf("At most %d domains.", maxDomains))
		return nil
	}
	for i, id := range in.DomainIDs {
		if !api.IsID(id) {
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "Must be the id of a domain.")
		}
	}
	ids := slices.Clone(in.DomainIDs)
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (in NewKey) checkNetworks(wrong *api.Fields) []string {
	if len(in.Networks) > maxNetworks {
		wrong.Add("ip_allowlist", fmt.Sprintf("At most %d entries.", maxNetworks))
		return nil
	}
	var networks []string
	for i, text := range in.Networks {
		network, ok := parseNetwork(text)
		if !ok {
			wrong.Add(fmt.Sprintf("ip_allowlist[%d]", i), "Must be an IP address or a network such as 198.51.100.0/24.")
			continue
		}
		networks = append(networks, networkText(network))
	}
	return networks
}

package domain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// update is a change of settings; what is not sent stays.
type update struct {
	OpenTracking     api.Optional[bool]   `json:"open_tracking"`
	ClickTracking    api.Optional[bool]   `json:"click_tracking"`
	TLS              api.Optional[string] `json:"tls" example:"enforced"`
	TrackingLabel    api.Optional[string] `json:"tracking_subdomain" example:"track"`
	CustomReturnPath api.Optional[string] `json:"custom_return_path" example:"bounce"`
	DMARCPolicy      api.Optional[string] `json:"dmarc_policy" example:"quarantine"`
	Provider         api.Optional[string] `json:"provider" doc:"inherit, direct, relay or node:<id of a sending node>." example:"inherit"`
	// NodeID is null to let the domain go; as in every field that holds an id, "" says nothing.
	NodeID       api.Optional[*string] `json:"sending_node_id"`
	Capabilities struct {
		Sending   toggle `json:"sending"`
		Receiving toggle `json:"receiving"`
	} `json:"capabilities"`
}

// toggle is a capability that is switched on or off: "enabled" or "disabled", or true or false.
type toggle struct{ set, on bool }

// JSONSchema describes the two ways.
func (toggle) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "enum": []string{"enabled", "disabled"}}
}

// UnmarshalJSON reads either way; null and "" leave it as it is.
func (t *toggle) UnmarshalJSON(raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	switch value {
	case nil, "":
	case "enabled", true:
		*t = toggle{true, true}
	case "disabled", false:
		*t = toggle{true, false}
	default:
		return errors.New("must be enabled or disabled")
	}
	return nil
}

// or returns what is asked for, or otherwise if nothing is.
func (t toggle) or(otherwise bool) bool {
	if t.set {
		return t.on
	}
	return otherwise
}

func (u update) check() error {
	var wrong api.Fields
	for _, f := range []struct {
		name    string
		value   api.Optional[string]
		allowed []string
	}{{"tls", u.TLS, tlsModes}, {"dmarc_policy", u.DMARCPolicy, dmarcPolicies}} {
		if f.value.Value != "" {
			checkOneOf(&wrong, f.name, f.value.Value, f.allowed)
		}
	}
	if u.Provider.Value != "" {
		checkProvider(&wrong, u.Provider.Value)
	}
	if node, named := nodeOf(u.Provider.Value); named && (u.letsGo() || u.node() != "" && u.node() != node) {
		wrong.Add("sending_node_id", contradiction)
	}
	for name, value := range map[string]api.Optional[string]{"tracking_subdomain": u.TrackingLabel, "custom_return_path": u.CustomReturnPath} {
		if value.Value != "" && !label.MatchString(value.Value) {
			wrong.Add(name, "Must be one label of lower-case letters, digits and hyphens.")
		}
	}
	return wrong.Err()
}

// letsGo tells whether the domain is no longer for one node alone.
func (u update) letsGo() bool { return u.NodeID.Set && u.NodeID.Value == nil }

func (u update) node() string {
	if u.NodeID.Value == nil {
		return ""
	}
	return *u.NodeID.Value
}

// nodePrefix begins the provider of a domain that one node alone may deliver for.
const nodePrefix = "node:"

func nodeOf(provider string) (id string, named bool) { return strings.CutPrefix(provider, nodePrefix) }

// checkNode refuses nodes that do not exist, named by either field: mail for them would wait for ever.
func (s *Service) checkNode(tx *db.Tx, ws space.ID, provider, id string) error {
	field := "sending_node_id"
	if node, named := nodeOf(provider); named && id == "" {
		field, id = "provider", node
	}
	if id == "" {
		return nil
	}
	exists := false
	if s.nodes != nil {
		var err error
		if exists, err = s.nodes.Exists(tx, ws, id); err != nil {
			return err
		}
	}
	if !exists {
		return api.Invalid(field, "There is no such sending node.")
	}
	return nil
}

// Update changes the settings of a domain. Receiving is switched on only if mail would really arrive.
func (s *Service) Update(ctx context.Context, ws space.ID, id string, u update) (Domain, error) {
	if err := u.check(); err != nil {
		return Domain{}, err
	}
	d, err := s.Get(ctx, ws, id)
	if err != nil {
		return Domain{}, err
	}
	alter := func(tx *db.Tx, d *Domain) error {
		if err := s.checkNode(tx, ws, u.Provider.Value, u.node()); err != nil {
			return err
		}
		u.apply(d)
		if d.ReturnLabel == d.TrackingLabel {
			return api.Invalid("tracking_subdomain", "Must differ from custom_return_path.")
		}
		return nil
	}
	// Before anything else changes, because it may be refused; but not before what else is asked for has been looked at.
	if receiving := u.Capabilities.Receiving; receiving.set {
		tried := d
		if err := s.db.Read(ctx, func(tx *db.Tx) error { return alter(tx, &tried) }); err != nil {
			return Domain{}, err
		}
		if d, err = s.SetReceiving(ctx, ws, id, receiving.on); err != nil {
			return Domain{}, err
		}
	}
	return s.change(ctx, ws, d.ID, alter)
}

// change locks a domain, lets alter change it, stores it and tells of it.
func (s *Service) change(ctx context.Context, ws space.ID, id ID, alter func(*db.Tx, *Domain) error) (Domain, error) {
	var d Domain
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if d, err = lockDomain(tx, ws, id); err != nil {
			return err
		}
		if err := loadKeys(tx, &d); err != nil {
			return err
		}
		if err := alter(tx, &d); err != nil {
			return err
		}
		d.UpdatedAt = tx.Now()
		if err := updateDomain(tx, d); err != nil {
			return err
		}
		return event.Append(tx, s.newEvent(d, "domain.updated"))
	})
	if errors.Is(err, db.ErrNotFound) {
		return Domain{}, api.NotFound("domain")
	}
	s.Forget(d)
	return d, err
}

func (u update) apply(d *Domain) {
	d.OpenTracking, d.ClickTracking = u.OpenTracking.Or(d.OpenTracking), u.ClickTracking.Or(d.ClickTracking)
	d.TLS, d.DMARCPolicy, d.Provider = cmp.Or(u.TLS.Value, d.TLS), cmp.Or(u.DMARCPolicy.Value, d.DMARCPolicy), cmp.Or(u.Provider.Value, d.Provider)
	if u.node() != "" {
		d.Provider = nodePrefix + u.node()
	} else if u.letsGo() && d.node() != "" {
		d.Provider = "inherit"
	}
	d.trackUnder(cmp.Or(u.TrackingLabel.Value, d.TrackingLabel))
	if name := cmp.Or(u.CustomReturnPath.Value, d.ReturnLabel); name != d.ReturnLabel {
		d.ReturnLabel, d.ReturnVerified, d.Checks.ReturnPath = name, false, Check{Status: CheckNotChecked}
	}
	d.SendingEnabled = u.Capabilities.Sending.or(d.SendingEnabled)
}

// node returns the id of the node that alone delivers for the domain, or the empty string.
func (d Domain) node() string {
	id, named := nodeOf(d.Provider)
	if !named {
		return ""
	}
	return id
}

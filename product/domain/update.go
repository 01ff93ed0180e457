package domain

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"postrider/platform/api"
	"postrider/platform/db"
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
	Provider         api.Optional[string] `json:"provider" example:"inherit"`
	NodeID           api.Optional[string] `json:"sending_node_id"`
	Capabilities     struct {
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

func (t toggle) wanted() bool { return t.or(false) }

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
	}{{"tls", u.TLS, tlsModes}, {"dmarc_policy", u.DMARCPolicy, dmarcPolicies}, {"provider", u.Provider, providers}} {
		if f.value.Set && f.value.Value != "" && !slices.Contains(f.allowed, f.value.Value) {
			checkOneOf(&wrong, f.name, f.value.Value, f.allowed)
		}
	}
	for name, value := range map[string]api.Optional[string]{"tracking_subdomain": u.TrackingLabel, "custom_return_path": u.CustomReturnPath} {
		if value.Value != "" && !label.MatchString(value.Value) {
			wrong.Add(name, "Must be one label of lower-case letters, digits and hyphens.")
		}
	}
	return wrong.Err()
}

// nodePrefix begins the provider of a domain that one node alone may deliver for.
const nodePrefix = "node:"

// checkNode refuses nodes that do not exist: mail for them would wait for ever.
func (s *Service) checkNode(tx *db.Tx, ws space.ID, id string) error {
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
		return api.Invalid("sending_node_id", "There is no such sending node.")
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
	d, err = s.change(ctx, ws, d.ID, func(tx *db.Tx, d *Domain) error {
		if err := s.checkNode(tx, ws, u.NodeID.Value); err != nil {
			return err
		}
		u.apply(d)
		if d.ReturnLabel == d.TrackingLabel {
			return api.Invalid("tracking_subdomain", "Must differ from custom_return_path.")
		}
		return nil
	})
	if err != nil || !u.Capabilities.Receiving.set {
		return d, err
	}
	return s.SetReceiving(ctx, ws, id, u.Capabilities.Receiving.on)
}

func (u update) apply(d *Domain) {
	d.OpenTracking, d.ClickTracking = u.OpenTracking.Or(d.OpenTracking), u.ClickTracking.Or(d.ClickTracking)
	d.TLS, d.DMARCPolicy, d.Provider = or(u.TLS.Value, d.TLS), or(u.DMARCPolicy.Value, d.DMARCPolicy), or(u.Provider.Value, d.Provider)
	if u.NodeID.Value != "" {
		d.Provider = nodePrefix + u.NodeID.Value
	} else if u.NodeID.Set && d.node() != "" {
		d.Provider = "inherit"
	}
	if name := or(u.TrackingLabel.Value, d.TrackingLabel); name != d.TrackingLabel {
		d.TrackingLabel, d.Checks.Tracking = name, Check{Status: CheckNotChecked}
	}
	if name := or(u.CustomReturnPath.Value, d.ReturnLabel); name != d.ReturnLabel {
		d.ReturnLabel, d.ReturnVerified, d.Checks.ReturnPath = name, false, Check{Status: CheckNotChecked}
	}
	d.SendingEnabled = u.Capabilities.Sending.or(d.SendingEnabled)
}

// node returns the id of the node that alone delivers for the domain, or the empty string.
func (d Domain) node() string {
	if id, ok := strings.CutPrefix(d.Provider, nodePrefix); ok {
		return id
	}
	return ""
}

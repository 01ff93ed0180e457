package apikey

import (
	"slices"

	"postrider/platform/api"
	"postrider/product/account"
)

// Preset is a set of scopes with a name.
type Preset string

// Presets a key can be made from.
const (
	FullAccess       Preset = "full_access"
	SendingAccess    Preset = "sending_access"
	CustomerPlatform Preset = "customer_platform"
	Webhooks         Preset = "webhooks"
	ReadOnly         Preset = "read_only"
)

var presets = map[Preset][]api.Scope{
	FullAccess:       api.Scopes,
	SendingAccess:    {"email:send"},
	CustomerPlatform: {"tenant:read", "tenant:manage", "domain:read", "domain:manage"},
	Webhooks:         {"webhook:read", "webhook:manage"},
	ReadOnly:         account.ScopesOf(api.Viewer),
}

// permissions are the presets that another vocabulary calls permission.
var permissions = []Preset{FullAccess, SendingAccess}

// inOrder returns scopes without doubles, in the order in which scopes are always shown.
func inOrder(scopes []api.Scope) []api.Scope {
	var ordered []api.Scope
	for _, scope := range api.Scopes {
		if slices.Contains(scopes, scope) {
			ordered = append(ordered, scope)
		}
	}
	return ordered
}

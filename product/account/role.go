package account

import (
	"slices"
	"strings"

	"postrider/platform/api"
)

// Roles are what a member can be, from the most to the least powerful.
var Roles = []api.Role{api.Owner, api.Admin, api.Developer, api.Marketer, api.Viewer}

var scopesByRole = map[api.Role][]api.Scope{
	api.Owner:     api.Scopes,
	api.Admin:     api.Scopes,
	api.Developer: api.Scopes,
	api.Marketer:  {"email:send", "email:read", "template:read", "template:manage", "audience:read", "audience:manage", "analytics:read"},
	api.Viewer: slices.DeleteFunc(slices.Clone(api.Scopes), func(s api.Scope) bool {
		return !strings.HasSuffix(string(s), ":read")
	}),
}

// ScopesOf returns the rights of a role; an unknown role has none. The list is shared and must not be changed.
func ScopesOf(role api.Role) []api.Scope { return scopesByRole[role] }

func checkRole(wrong *api.Fields, role api.Role) {
	if !slices.Contains(Roles, role) {
		wrong.Add("role", "Must be owner, admin, developer, marketer or viewer.")
	}
}

package relay

import (
	"postrider/platform/reseal"
	"postrider/platform/space"
)

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	return []reseal.Column{{Table: "relay", Name: "password", Key: []string{"workspace_id"},
		Context: func(key ...string) string { return sealContext(space.ID(key[0])) }}}
}

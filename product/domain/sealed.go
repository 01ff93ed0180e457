package domain

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	return []reseal.Column{{Table: "domain_key", Name: "private_key", Key: []string{"domain_id", "selector"},
		Context: func(key ...string) string { return keyContext(ID(key[0]), key[1]) }}}
}

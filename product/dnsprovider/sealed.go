package dnsprovider

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	return []reseal.Column{{Table: "dnsprovider_connection", Name: "token", Key: []string{"id"},
		Context: func(key ...string) string { return key[0] }}}
}

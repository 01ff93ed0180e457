package automation

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	return []reseal.Column{{Table: "automation_credential", Name: "secret", Key: []string{"id"},
		Context: func(key ...string) string { return sealContext(key[0]) }}}
}

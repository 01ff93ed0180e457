package certstore

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	return []reseal.Column{{Table: "certificate_file", Name: "content", Key: []string{"path"},
		Context: func(key ...string) string { return sealedAs(key[0]) }}}
}

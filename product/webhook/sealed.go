package webhook

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	in := func(part string) func(...string) string {
		return func(key ...string) string { return sealContext(ID(key[0]), part) }
	}
	return []reseal.Column{{Table: "webhook", Name: "secret", Key: []string{"id"}, Context: in("secret")},
		{Table: "webhook", Name: "previous_secret", Key: []string{"id"}, Context: in("previous")},
		{Table: "webhook", Name: "custom_headers", Key: []string{"id"}, Context: in("headers")}}
}

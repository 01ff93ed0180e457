package account

import "postrider/platform/reseal"

// Sealed tells where secrets are kept.
func Sealed() []reseal.Column {
	context := func(key ...string) string { return totpContext(UserID(key[0])) }
	return []reseal.Column{{Table: "account_user", Name: "totp_secret", Key: []string{"id"}, Context: context},
		{Table: "account_user", Name: "totp_offered", Key: []string{"id"}, Context: context},
		{Table: "account_recovery_code", Name: "hash", Key: []string{"id"}, Context: func(key ...string) string { return recoveryContext(key[0]) }}}
}

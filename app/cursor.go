package app

import "postrider/platform/seal"

// cursorSigner signs cursors with the secret of the installation, and knows those of a previous one.
type cursorSigner struct{ keys *seal.Keyring }

const cursorPurpose = "cursor"

func (s cursorSigner) Sign(data []byte) []byte { return s.keys.MAC(cursorPurpose, data) }

func (s cursorSigner) Check(data, mac []byte) bool { return s.keys.CheckMAC(cursorPurpose, data, mac) }

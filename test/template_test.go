package test

import "testing"

func TestResendsNodeSDKKeepsTemplatesAndSendsThem(t *testing.T) {
	t.Parallel()
	needNode(t)
	dev(t).script("node", "clients/templates.mjs")
}

package test

import "testing"

func TestResendsNodeSDKSendsBroadcasts(t *testing.T) {
	t.Parallel()
	needNode(t)
	dev(t).script("node", "clients/broadcasts.mjs")
}

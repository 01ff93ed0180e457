package test

import "testing"

func TestResendsNodeSDKKeepsAnAudienceAndALinkSubscribesOne(t *testing.T) {
	t.Parallel()
	needNode(t)
	dev(t).script("node", "clients/audience.mjs")
}

package test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
)

// Two nodes share a PostgreSQL. One of them is killed with mail in its hands; the other takes it over when its leases have run out.
func TestTheOtherNodeTakesOverWhenOneIsKilled(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(internet.SandboxSMTP)
	if err != nil {
		t.Fatal(err)
	}
	shared := []string{"--database-url", url, "--secret", "a secret that all nodes of this test share"}
	node := func() *process {
		return start(t, append([]string{"serve", "--data", t.TempDir(), "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--insecure-test-network",
			"--resolver", internet.DNS, "--smtp-port", port}, shared...)...)
	}
	first, second := node(), node()
	stdout, stderr, err := run(t, append([]string{"workspace", "create", "--data", t.TempDir(), "--name", "Shop", "--owner-email", "olga@shop.test",
		"--owner-password", "correct horse battery", "--json"}, shared...)...)
	var created struct {
		APIKey string `json:"api_key"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	first.APIKey, second.APIKey = created.APIKey, created.APIKey
	_, registered, err := call(created.APIKey, http.MethodPost, first.HTTP+"/v1/domains", map[string]any{"domain": "shop.test"})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, internet, registered)
	if _, verified, err := call(created.APIKey, http.MethodPost, second.HTTP+"/v1/domains/"+registered["id"].(string)+"/verify", nil); err != nil || verified["verified"] != true {
		t.Fatalf("%v %v", verified, err)
	}

	const total = 200
	var ids []string
	for n := range total {
		status, sent, err := call(created.APIKey, http.MethodPost, first.HTTP+"/v1/emails",
			map[string]any{"from": "olga@shop.test", "to": fmt.Sprintf("user%d@d%d.test", n, n%9), "subject": "Order", "text": "Thanks"})
		if err != nil || status != http.StatusAccepted {
			t.Fatalf("%d %v %v", status, sent, err)
		}
		ids = append(ids, sent["id"].(string))
	}
	first.kill()
	for _, id := range ids {
		until(t, 2*time.Minute, "delivery by the other node", func() bool { return second.status(id) == "delivered" })
	}
	copies := map[string]int{}
	for _, m := range internet.mailbox() {
		copies[m.Envelope.To[0]]++
	}
	if len(copies) != total {
		t.Fatalf("%d of %d arrived", len(copies), total)
	}
}

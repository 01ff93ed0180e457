package test

import (
	"net/http"
	"testing"
)

// The sandbox's mailboxes accept, and then send a bounce message or a complaint, as real ones do.
func TestBouncesAndComplaintsComeBack(t *testing.T) {
	t.Parallel()
	p := dev(t)
	for to, want := range map[string]string{"dsn@example.net": "bounced", "complain@example.net": "complained"} {
		id, status, err := p.send(to)
		if err != nil || status != http.StatusAccepted {
			t.Fatalf("%d %v", status, err)
		}
		until(t, deliveredWithin, to+" to be "+want, func() bool { return p.status(id) == want })
		if status, entry, err := call(p.APIKey, http.MethodGet, p.HTTP+"/v1/suppressions/"+to, nil); err != nil || status != http.StatusOK {
			t.Errorf("%s: %d %v %v", to, status, entry, err)
		}
	}
}

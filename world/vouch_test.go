package world

import "testing"

func TestOnlyServersOfThisMachineVouch(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]bool{
		"127.0.0.1:53":           true,
		"127.0.0.53:53":          true,
		"[::1]:5353":             true,
		"[::ffff:127.0.0.1]:53":  true,
		"127.0.0.11:53":          false,
		"[::ffff:127.0.0.11]:53": false,
		"192.0.2.53:53":          false,
		"10.0.0.2:53":            false,
		"[fe80::1%eth0]:53":      false,
		"localhost:53":           false,
		"":                       false,
	} {
		if got := vouchesLocally(server); got != want {
			t.Errorf("%q vouches: %v, want %v", server, got, want)
		}
	}
}

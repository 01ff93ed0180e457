package test

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
)

var writesTotal = regexp.MustCompile(`(?m)^postrider_db_writes_total (\S+)$`)

// Anybody may ask whether the program is ready, and each look is a write.
func TestManyWhoAskWhetherItIsReadyShareALook(t *testing.T) {
	t.Parallel()
	const asked = 300
	p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	get := func(url string) []byte {
		t.Helper()
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", url, answer.Status, err)
		}
		return body
	}
	writes := func() float64 {
		t.Helper()
		found := writesTotal.FindSubmatch(get("http://" + p.Admin + "/metrics"))
		if found == nil {
			t.Fatal("no such metric")
		}
		count, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	before := writes()
	for range asked {
		get(p.HTTP + "/readyz")
	}
	if made := writes() - before; made >= asked {
		t.Errorf("%v writes for %d who asked", made, asked)
	}
}

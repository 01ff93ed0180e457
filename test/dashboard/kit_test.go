// Package dashboard opens every page in a real browser, on an installation that runs as "postrider dev" does, and walks the ways
// that people walk.
package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"postrider/app"
	"postrider/mail/address"
	"postrider/product/account"
	"postrider/product/delivery"
	"postrider/test/browser"
	"postrider/world"
)

var pictures = flag.Bool("pictures", false, "save a picture of every page under docs/pictures")

// tour is a browser that is signed in to an installation of its own.
type tour struct {
	*browser.Browser
	t     *testing.T
	ready app.Ready
	// looks counts the pages that were looked at.
	looks int
}

// begin starts an installation and signs its owner in.
func begin(t *testing.T) *tour {
	t.Helper()
	ready := install(t)
	b := browser.Open(t, ready.HTTP)
	b.Visit("/signin")
	b.Fill("email", ready.Owner.Email)
	b.Fill("password", ready.Owner.Password)
	b.Press("Sign in")
	b.See("Overview")
	return &tour{Browser: b, t: t, ready: ready}
}

// startWithin is how long an installation may take to be ready on a machine that is busy.
const startWithin = time.Minute

func install(t *testing.T) app.Ready {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ready.json")
	up, ended := make(chan app.Ready, 1), make(chan error, 1)
	config := app.Config{HTTP: "127.0.0.1:0", Submission: "127.0.0.1:0", Submissions: "127.0.0.1:0", MX: "127.0.0.1:0", Admin: "127.0.0.1:0", ReadyFile: file, Workers: true, Dev: &app.Dev{},
		Storage: app.Storage{Dir: t.TempDir()}, Print: func(r app.Ready) { up <- r },
		Settings: app.Settings{ServiceDomain: "mail.postrider.test", NodeName: "dev", NoticesFrom: address.Address{Name: "Postrider", Local: "no-reply", Domain: app.DevDomain},
			Account: account.Config{Dev: true}, Delivery: delivery.Config{Hello: "mx1.mail.postrider.test"}}}
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- app.Run(ctx, world.New(slog.New(slog.NewTextHandler(io.Discard, nil))), config) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	select {
	case ready := <-up:
		return ready
	case err := <-ended:
		ended <- err
		t.Fatalf("the installation ended: %v", err)
	case <-time.After(startWithin):
		t.Fatal("the installation did not start")
	}
	return app.Ready{}
}

// path returns the address of a page in the workspace.
func (o *tour) path(path string) string { return "/w/" + o.ready.WorkspaceID + path }

// open visits a page of the workspace.
func (o *tour) open(path string) {
	o.t.Helper()
	o.Visit(o.path(path))
}

// call makes a request to the API with the key of the workspace and returns the answer, whose status must be one of success.
func (o *tour) call(method, path string, body any) map[string]any {
	o.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		o.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.ready.HTTP+"/v1"+path, bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.ready.APIKey)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	answer := map[string]any{}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 || len(text) > 0 && json.Unmarshal(text, &answer) != nil {
		o.t.Fatalf("%s %s: %d %v %s", method, path, response.StatusCode, err, text)
	}
	return answer
}

// axe is the script of the accessibility checks, which the npm packages of the tests bring.
var axe = sync.OnceValue(func() string {
	raw, err := os.ReadFile(filepath.Join("..", "clients", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		return ""
	}
	return string(raw)
})

// look opens a page as people with large and small screens see it, light and dark. Nothing may be wrong with it: no complaint of
// the console, no request to a stranger, no barrier that axe finds, nothing that sticks out of a small screen.
func (o *tour) look(name, path string) {
	o.t.Helper()
	o.lookAt(name, o.path(path))
}

// lookAt is look for a page outside the workspace.
func (o *tour) lookAt(name, path string) {
	o.t.Helper()
	views := []struct {
		theme string
		width int64
	}{{"light", 1440}, {"dark", 390}}
	o.looks++
	for i, view := range views {
		o.Theme(view.theme)
		o.Resize(view.width)
		o.Complaints()
		o.Visit(path)
		where := fmt.Sprintf("%s, %s, %d wide", path, view.theme, view.width)
		if wide := o.Eval("document.documentElement.scrollWidth > innerWidth + 1"); wide == "true" {
			o.t.Errorf("%s: sticks out of the screen", where)
		}
		if *pictures {
			o.Picture(filepath.Join("..", "..", "docs", "pictures", fmt.Sprintf("%s-%s-%d.webp", name, view.theme, view.width)))
		}
		// The checks are the slow part. In everyday runs every page is checked in one of its two views, in turns.
		if axe() != "" && (*pictures || (o.looks+i)%2 == 0) {
			for _, barrier := range o.Axe(axe()) {
				o.t.Errorf("%s: %s", where, barrier)
			}
		}
		for _, complaint := range o.Complaints() {
			o.t.Errorf("%s: %s", where, complaint)
		}
	}
	if strangers := o.Strangers(); len(strangers) > 0 {
		o.t.Errorf("%s: asked %v", path, strangers)
	}
	o.Theme("light")
	o.Resize(1440)
}

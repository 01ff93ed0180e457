// Package browser lets tests look at pages as people do: in a real Chromium, with its keyboard, its console and its rules.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// patience is how long one step may take before the test fails; a machine that runs everything at once is slow.
const patience = 3 * time.Minute

// Browser is one window of Chromium with cookies of its own.
type Browser struct {
	t    *testing.T
	ctx  context.Context
	base string
	// before is what the page said when something was pressed, until something is waited for.
	before string
	// plain says that pages run no scripts.
	plain bool

	mu sync.Mutex
	// complaints are errors of the console and violations of the content policy; requests are the addresses that were asked, stopped those of them
	// that the policy stopped. All are guarded by mu.
	complaints []string
	requests   map[network.RequestID]string
	stopped    map[network.RequestID]bool
	dialogs    int
	// warnings counts the pages that asked before they were left; it is guarded by mu, too.
	warnings int
}

// Open starts a browser on the pages at base, or skips the test where there is none.
func Open(t *testing.T, base string) *Browser {
	t.Helper()
	program := Program()
	if program == "" {
		t.Skip("no chromium on this machine")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1440, 1000))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, shut := chromedp.NewContext(allocated)
	t.Cleanup(func() { shut(); stop() })
	b := &Browser{t: t, ctx: ctx, base: base, requests: map[network.RequestID]string{}, stopped: map[network.RequestID]bool{}}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	b.listen()
	return b
}

// Program returns the path of the machine's Chromium, or nothing where there is none.
func Program() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (b *Browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, done := context.WithTimeout(b.ctx, patience)
	defer done()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("at %s: %v", b.where(), err)
	}
}

func (b *Browser) where() string {
	where, err := chromedp.Run(b.ctx, chromedp.Location())
	if err != nil {
		return "an unknown page"
	}
	return where
}

// Visit opens a page by its path.
func (b *Browser) Visit(path string) {
	b.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = b.base + path
	}
	b.do(chromedp.Navigate(path))
	b.before = ""
}

// Eval returns what an expression is on the page, as text.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	ctx, done := context.WithTimeout(b.ctx, patience)
	defer done()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s at %s: %v", expression, b.where(), err)
	}
	return text
}

// Wait waits until an expression is true on the page, across reloads and redirects.
func (b *Browser) Wait(expression string) {
	b.t.Helper()
	b.before = ""
	ctx, done := context.WithTimeout(b.ctx, patience)
	defer done()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && is {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s did not become true at %s; the page says: %.600s", expression, b.where(), b.Eval("document.body.innerText"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// loaded is true once the scripts of a page have run: its text can be read before that, but its keys and buttons do nothing yet.
const loaded = `document.readyState === "complete"`

// See waits until the page shows a text. After a press it must be a text that was not there before: a test that waits for what it sees
// anyway goes on with the old page, on a day when the new one is late.
func (b *Browser) See(text string) {
	b.t.Helper()
	if strings.Contains(b.before, text) {
		b.t.Errorf("%s: %q was there before something was pressed; wait for what the press brings", b.where(), text)
	}
	quoted, _ := json.Marshal(text)
	b.Wait(fmt.Sprintf("%s && document.body.innerText.includes(%s)", loaded, quoted))
}

// Fill types into the input with this name, in place of what is there.
func (b *Browser) Fill(name, value string) {
	b.t.Helper()
	find := fmt.Sprintf(`document.querySelector('dialog[open] [name=%[1]q], main [name=%[1]q]')`, name)
	b.Wait(find + "?.checkVisibility()")
	b.Eval("(e => { e.focus(); e.select(); })(" + find + ")")
	b.do(chromedp.KeyEvent(value))
}

// Set gives a value to an input that cannot be typed into, such as a choice or a date.
func (b *Browser) Set(name, value string) {
	b.t.Helper()
	quoted, _ := json.Marshal(value)
	b.Eval(fmt.Sprintf(`(e => { if (e.type === "checkbox" || e.type === "radio") e.checked = %[2]s === "true"; else e.value = %[2]s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector('main [name=%[1]q], dialog[open] [name=%[1]q]'))`, name, quoted))
}

// leaves is true of an element whose press opens another page in this window, where no script comes in between.
const leaves = `(e => e.matches("a[href]:not([href^='#'], [target], [download])") || e.matches("button[type=submit], button:not([type])") && e.form && !e.formTarget && !e.form.target)`

// Press clicks the button or link that says this. What follows has to be waited for, except where pages run no scripts: there the next page
// is there when Press returns, because what is typed into the old one in the meantime would be lost.
func (b *Browser) Press(text string) {
	b.t.Helper()
	quoted, _ := json.Marshal(text)
	find := fmt.Sprintf(`[...document.querySelectorAll("main button, main a, main summary, dialog[open] button")].find(e => e.checkVisibility() && e.innerText.trim() === %s)`, quoted)
	b.Wait(loaded + " && " + find)
	next := b.plain && b.Eval(leaves+"("+find+")") == "true"
	before := b.Eval("(e => { const before = document.body.innerText; window.pressed = true; e.click(); return before; })(" + find + ")")
	if next {
		b.Wait("!window.pressed && " + loaded)
		return
	}
	b.before = before
}

// Keys types keys into whatever has the focus.
func (b *Browser) Keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// Paste puts text where the cursor is, at once: a long one takes as many keys as it has letters.
func (b *Browser) Paste(text string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// Control types a key while the Control key is held.
func (b *Browser) Control(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// Click clicks the first element of a selector.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(selector), chromedp.Click(selector))
}

// Upload chooses a file for the input with this name.
func (b *Browser) Upload(name, path string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(fmt.Sprintf(`main [name=%q]`, name), []string{path}))
}

// Path returns the path and the query of the page.
func (b *Browser) Path() string {
	b.t.Helper()
	at, err := url.Parse(b.where())
	if err != nil {
		b.t.Fatal(err)
	}
	return at.RequestURI()
}

// Resize makes the window as wide as a device.
func (b *Browser) Resize(width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 1000))
}

// Scripts lets pages run scripts or not, from the next one on.
func (b *Browser) Scripts(run bool) {
	b.t.Helper()
	b.plain = !run
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run})
		return err
	}))
}

// Theme shows pages as people see them who prefer light or dark.
func (b *Browser) Theme(theme string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

const (
	// pictureQuality keeps text sharp in a tenth of the bytes of a lossless picture.
	pictureQuality = 80
	// pictureHeight is as much of a long page as is worth a picture.
	pictureHeight = 3000
)

// Picture saves the page as a picture, in WebP.
func (b *Browser) Picture(path string) {
	b.t.Helper()
	quality, beyond := int64(pictureQuality), true
	clip := &page.Viewport{Scale: 1}
	if _, err := fmt.Sscan(b.Eval(`innerWidth + " " + document.documentElement.scrollHeight`), &clip.Width, &clip.Height); err != nil {
		b.t.Fatal(err)
	}
	clip.Height = min(clip.Height, pictureHeight)
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		taken, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality, CaptureBeyondViewport: &beyond, Clip: clip})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, taken.Data, 0o644)
	}))
}

// Authenticator gives the browser a device that keeps passkeys and is always unlocked.
func (b *Browser) Authenticator() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}})
		return err
	}))
}

// Axe runs the accessibility checks of axe-core, whose script is given, and returns what they find.
func (b *Browser) Axe(script string) []string {
	b.t.Helper()
	ctx, done := context.WithTimeout(b.ctx, patience)
	defer done()
	run := script + `;axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + " " + (n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message ?? "")))))`
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
	var found []string
	if err == nil {
		err = json.Unmarshal([]byte(raw), &found)
	}
	if err != nil {
		b.t.Fatalf("axe at %s: %v", b.where(), err)
	}
	return found
}

package browser

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// listen notes what a page complains about and where it asks for things.
func (b *Browser) listen() {
	note := func(do func()) {
		b.mu.Lock()
		defer b.mu.Unlock()
		do()
	}
	messages := chromedp.Console(b.ctx)
	requests, stopped := chromedp.Events(b.ctx, network.RequestWillBeSent), chromedp.Events(b.ctx, network.LoadingFailed)
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.IsException() {
				note(func() { b.complaints = append(b.complaints, m.Text+" "+m.URL) })
			}
		}
	}()
	go func() {
		for asked, err := range requests {
			if err != nil {
				return
			}
			note(func() { b.requests[asked.RequestID] = asked.Request.URL })
		}
	}()
	go func() {
		for failed, err := range stopped {
			if err != nil {
				return
			}
			if failed.BlockedReason == network.BlockedReasonCsp {
				note(func() { b.stopped[failed.RequestID] = true })
			}
		}
	}()
	go func() {
		for opened, err := range dialogs {
			if err != nil {
				return
			}
			if opened.Type != page.DialogTypeBeforeunload {
				note(func() { b.dialogs++ })
				continue
			}
			note(func() { b.warnings++ })
			b.leave()
		}
	}()
}

// leave goes on from a page that asks whether to.
func (b *Browser) leave() {
	err := chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		return err
	}))
	if err != nil && b.ctx.Err() == nil {
		b.t.Errorf("leave a page: %v", err)
	}
}

// Complaints returns and forgets the errors of the console since the last call.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	complaints := b.complaints
	b.complaints = nil
	return complaints
}

// Strangers returns the requests that went to other hosts than the dashboard's own.
func (b *Browser) Strangers() []string {
	var strangers []string
	for range 50 { // that the policy stopped a request is told a moment after it was made
		if strangers = b.asked(); len(strangers) == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return strangers
}

func (b *Browser) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var strangers []string
	for id, asked := range b.requests {
		if !b.stopped[id] && !strings.HasPrefix(asked, b.base) && !strings.HasPrefix(asked, "data:") && !strings.HasPrefix(asked, "about:") && !strings.HasPrefix(asked, "blob:") {
			strangers = append(strangers, asked)
		}
	}
	return strangers
}

// Dialogs tells how many alerts a page has opened.
func (b *Browser) Dialogs() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dialogs
}

// Warnings returns and forgets how often the browser asked before it left a page, which it then did.
func (b *Browser) Warnings() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	warnings := b.warnings
	b.warnings = 0
	return warnings
}

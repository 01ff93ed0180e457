package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"postrider/platform/db"
)

// Statused is an answer that chooses its own status.
type Statused interface{ Status() int }

// Headed is an answer that sets headers of its own.
type Headed interface{ SetHeaders(http.Header) }

// Shown is an answer that may be something else than JSON, such as a page for people. The route says so by Page.
type Shown interface {
	// Show returns the bytes and their media type; an empty type means that the answer is JSON after all.
	Show() (mediaType string, body []byte)
}

// rawJSON is an answer that is already bytes of JSON.
type rawJSON []byte

func (x *exchange) answer(answer any) {
	status := cmp.Or(x.endpoint.Success, http.StatusOK)
	if s, ok := answer.(Statused); ok && s.Status() != 0 {
		status = s.Status()
	}
	if h, ok := answer.(Headed); ok {
		h.SetHeaders(x.w.Header())
	}
	if status == http.StatusNoContent || x.r.Method == http.MethodDelete && x.r.Header.Get("Prefer") == "return=minimal" {
		x.status = http.StatusNoContent
		x.w.WriteHeader(x.status)
		return
	}
	if streamed, ok := answer.(Streamed); ok {
		x.stream(streamed)
		return
	}
	if file, ok := answer.(Downloaded); ok {
		x.download(file)
		return
	}
	if shown, ok := answer.(Shown); ok {
		if kind, body := shown.Show(); kind != "" {
			x.write(status, kind, body)
			return
		}
	}
	body, ok := answer.(rawJSON)
	if !ok {
		body = encode(answer)
	}
	x.write(status, contentJSON, body)
}

// encode writes JSON for programs, not for pages: angle brackets of addresses stay readable.
func encode(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("api: answer %T cannot be written: %v", value, err))
	}
	return buffer.Bytes()
}

func (x *exchange) write(status int, kind string, body []byte) {
	x.status = status
	if kind == contentJSON && len(body) <= maxObservedAnswer {
		x.answered = body
	}
	header := x.w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // the caller may have gone; nothing is left to do for it
	}
}

// fail answers with the public side of err; what nobody foresaw is a 500 whose cause only the log tells.
func (x *exchange) fail(err error) {
	if x.status != 0 {
		return
	}
	var public *Error
	if !errors.As(err, &public) {
		switch {
		case errors.Is(err, db.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			public = ErrUnavailable.Because(err)
		default:
			public = ErrInternal.Because(err)
		}
	}
	if public.Status >= 500 && public.cause != nil {
		level := slog.LevelError
		if x.r.Context().Err() != nil {
			level = slog.LevelInfo // the caller has hung up: nobody has to do anything about it
		}
		x.server.config.World.Log.Log(x.r.Context(), level, "request failed", "request", x.caller.RequestID, "path", x.loggedPath(), "error", public.cause)
	}
	if public.RetryAfter > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(WholeSeconds(public.RetryAfter)))
	}
	x.tellGuesses()
	x.write(public.Status, contentJSON, public.body(x.caller.RequestID))
}

// WholeSeconds rounds a wait up, to at least one second, as headers and details tell it.
func WholeSeconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

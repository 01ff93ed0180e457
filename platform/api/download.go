package api

import (
	"context"
	"io"
	"mime"
	"net/http"
)

// Downloaded is an answer that is a file, written as it is read: it may be larger than memory.
type Downloaded interface {
	// File returns the media type and the name of the file.
	File() (mediaType, filename string)
	// WriteFile writes the content.
	WriteFile(ctx context.Context, out io.Writer) error
}

// download writes a file. One that cannot be written to its end is cut off in a way that readers notice.
func (x *exchange) download(answer Downloaded) {
	kind, filename := answer.File()
	header := x.w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": filename}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method == http.MethodHead {
		return
	}
	if err := answer.WriteFile(x.r.Context(), x.w); err != nil {
		x.server.config.World.Log.Error("file not sent to its end", "request", x.caller.RequestID, "file", filename, "error", err)
		panic(http.ErrAbortHandler)
	}
}

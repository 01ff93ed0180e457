package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed all:static
var staticFiles embed.FS

// assetPath is where files are found whose content never changes under their name.
const assetPath = "/assets/"

// assets are the scripts, styles and fonts, by the address that carries their hash.
type assets struct {
	files map[string]asset
	names map[string]string
}

type asset struct {
	kind           string
	plain, gzipped []byte
}

func loadAssets() assets {
	all := assets{files: map[string]asset{}, names: map[string]string{}}
	styles := map[string][]byte{}
	err := fs.WalkDir(staticFiles, "static", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := staticFiles.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, "static/")
		if path.Ext(name) == ".css" {
			styles[name] = raw
		} else {
			all.add(name, raw)
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	for name, raw := range styles {
		all.add(name, all.hashed(raw))
	}
	return all
}

// hashed names files in a style sheet by the addresses that carry their hash, which pages name them by, too: a browser would load
// what has two addresses twice.
func (a assets) hashed(style []byte) []byte {
	for name, address := range a.names {
		style = bytes.ReplaceAll(style, []byte(`"`+assetPath+name+`"`), []byte(`"`+address+`"`))
	}
	return style
}

func (a assets) add(name string, raw []byte) {
	sum := sha256.Sum256(raw)
	ending := path.Ext(name)
	address := assetPath + strings.TrimSuffix(name, ending) + "." + hex.EncodeToString(sum[:6]) + ending
	loaded := asset{kind: kindOf(ending), plain: raw}
	if ending != ".woff2" {
		loaded.gzipped = compress(raw)
	}
	a.files[address], a.names[name] = loaded, address
}

func kindOf(ending string) string {
	switch ending {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	}
	return mime.TypeByExtension(ending)
}

// address returns where a file is; the name of one that is missing is a mistake in a template, which a test finds.
func (a assets) address(name string) string {
	if address := a.names[name]; address != "" {
		return address
	}
	panic("web: there is no file " + name)
}

// ServeHTTP answers with a file. Scripts name each other without a hash, so both addresses work; only the one with the hash is kept
// for good.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	protect(header)
	found, hashed := a.files[r.URL.Path]
	if !hashed {
		found = a.files[a.names[strings.TrimPrefix(r.URL.Path, assetPath)]]
	}
	if found.plain == nil {
		http.NotFound(w, r)
		return
	}
	header.Set("Cache-Control", "no-cache")
	if hashed {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	header.Set("Content-Type", found.kind)
	body := found.plain
	if found.gzipped != nil && takesGzip(r) {
		header.Set("Content-Encoding", "gzip")
		header.Set("Vary", "Accept-Encoding")
		body = found.gzipped
	}
	_, _ = w.Write(body) // the reader may have gone
}

func takesGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

func compress(raw []byte) []byte {
	var buffer bytes.Buffer
	writer, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a good one
	}
	_, _ = writer.Write(raw) // a buffer takes everything
	_ = writer.Close()
	return buffer.Bytes()
}

// worthGzip is the size below which compressing costs more than it saves, in bytes.
const worthGzip = 1400

func (v *visit) writeGzipped(status int, body []byte) {
	header := v.w.Header()
	header.Add("Vary", "Accept-Encoding")
	if len(body) < worthGzip || !takesGzip(v.r) {
		v.w.WriteHeader(status)
		_, _ = v.w.Write(body) // the reader may have gone
		return
	}
	header.Set("Content-Encoding", "gzip")
	v.w.WriteHeader(status)
	writer, err := gzip.NewWriterLevel(v.w, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a good one
	}
	_, _ = writer.Write(body)
	_ = writer.Close()
}

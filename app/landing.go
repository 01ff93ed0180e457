package app

import (
	"html/template"
	"net/http"
)

var landingPage = template.Must(template.New("landing").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Postrider</title>
<body>
<h1>Postrider is running</h1>
<ul>
<li><a href="/v1/openapi.json">The API, as an OpenAPI document</a></li>
{{if .}}<li><a href="/sandbox">The sandbox mailbox</a>: what was mailed on this machine</li>{{end}}
</ul>
</body>
</html>
`))

// landing is what a person sees who opens the address in a browser.
func landing(dev bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		_ = landingPage.Execute(w, dev) // the reader may have gone
	})
}

package web

import (
	"embed"
	"net"
	"net/url"
	"strings"
	"text/template"
)

//go:embed snippets/*.txt
var snippetFiles embed.FS

// sample is what a snippet is filled in with.
type sample struct {
	URL, Key, From, To string
	Host, Port         string
}

// environmentKey stands for a key in code: it belongs into the environment, not into a file.
const environmentKey = "$POSTRIDER_API_KEY"

// snippet returns code that sends one email. What the sample leaves open is filled in with what works here.
func (v *visit) snippet(language string, s sample) string {
	return v.code("send-"+language, s)
}

// code returns the file of a snippet, filled in.
func (v *visit) code(name string, s sample) string {
	s.URL = v.dashboard.config.BaseURL
	s.Host, s.Port = v.submission()
	if s.Key == "" {
		s.Key = environmentKey
	}
	if s.To == "" {
		s.To = v.receiver()
	}
	parsed, err := template.ParseFS(snippetFiles, "snippets/"+name+".txt")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var text strings.Builder
	if err := parsed.Execute(&text, s); err != nil {
		panic(err) // the sample has what they ask for; a test draws each
	}
	return text.String()
}

// receiver is somebody whom a test can be sent to: anyone where mail stays on the machine, else the person who looks.
func (v *visit) receiver() string {
	if v.dashboard.config.Sandbox != nil {
		return "ada@example.com"
	}
	return v.session.User.Email
}

// submission is where mail is taken over SMTP.
func (v *visit) submission() (host, port string) {
	if host, port, err := net.SplitHostPort(v.dashboard.config.Submission); err == nil && host != "" {
		return host, port
	}
	if own, err := url.Parse(v.dashboard.config.BaseURL); err == nil && own.Hostname() != "" {
		return own.Hostname(), "587"
	}
	return "localhost", "587"
}

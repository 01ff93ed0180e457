package web

import "strings"

// curl is a request on the command line, with a key from the environment if it needs one and with a body if there is any.
func curl(method, address string, keyed bool, body string) string {
	lines := []string{"curl -X " + method + " " + shellQuoted(address)}
	if method == "HEAD" {
		lines[0] = "curl -I " + shellQuoted(address) // with -X it would wait for the body
	}
	if keyed {
		lines = append(lines, `-H "Authorization: Bearer `+environmentKey+`"`)
	}
	if body != "" {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d "+shellQuoted(body))
	}
	return strings.Join(lines, " \\\n  ")
}

// shellQuoted writes a text so that a shell takes it as it is.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

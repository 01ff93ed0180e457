package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"postrider/docs"
)

func manualPages() []page {
	return []page{{"GET /docs", showManual}, {"GET /docs/{$}", showManual}, {"GET /docs/{page...}", showManual}, {"GET /docs/api", showReference}, {"GET /docs/api/{tag}", showReference}}
}

// volume is a group of chapters in the list beside every page of the documentation; the first has no title.
type volume struct {
	Title    string
	Chapters []chapter
}

type chapter struct {
	Path, Title string
	Current     bool
}

// volumes are the pages in the order in which a newcomer wants them.
var volumes = []volume{
	{Chapters: []chapter{{Path: "", Title: "Start"}, {Path: "quickstart", Title: "Quick start"}, {Path: "concepts", Title: "Concepts"}, {Path: "api", Title: "API reference"},
		{Path: "smtp", Title: "SMTP"}, {Path: "sandbox", Title: "The sandbox"}}},
	{"Guides", []chapter{{Path: "guides/sending", Title: "Sending"}, {Path: "guides/webhooks", Title: "Webhooks"}, {Path: "guides/templates", Title: "Templates"},
		{Path: "guides/receiving", Title: "Receiving"}, {Path: "guides/contacts", Title: "Contacts, broadcasts"}, {Path: "guides/automations", Title: "Automations"},
		{Path: "guides/customers", Title: "Customers of your own"}, {Path: "guides/clients", Title: "From code"}}},
	{"Moving here", []chapter{{Path: "compatibility", Title: "Compatibility"}, {Path: "migrating/resend", Title: "From Resend"}, {Path: "migrating/postmark", Title: "From Postmark"},
		{Path: "migrating/sendgrid", Title: "From SendGrid"}, {Path: "migrating/postal", Title: "From Postal"}}},
	{"Running it", []chapter{{Path: "operating", Title: "Operating"}, {Path: "capacity", Title: "Capacity"}, {Path: "delivery", Title: "Delivery"}, {Path: "monitoring", Title: "Monitoring"},
		{Path: "reliability", Title: "Reliability"}, {Path: "performance", Title: "Performance"}, {Path: "security", Title: "Security"}, {Path: "licences", Title: "Licences"}}},
}

func volumesAt(now string) []volume {
	list := make([]volume, len(volumes))
	for i, v := range volumes {
		list[i] = volume{Title: v.Title}
		for _, c := range v.Chapters {
			list[i].Chapters = append(list[i].Chapters, chapter{Path: strings.TrimSuffix("/docs/"+c.Path, "/"), Title: c.Title, Current: c.Path == now})
		}
	}
	return list
}

// manualPage is a page of the documentation.
type manualPage struct {
	shell
	Volumes []volume
	Body    template.HTML
}

func showManual(v *visit) error {
	name := strings.Trim(v.path("page"), "/")
	file := name + ".md"
	if name == "" {
		file = "index.md"
	}
	raw, err := fs.ReadFile(docs.Files, path.Clean(file))
	if err != nil {
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page in the documentation."}
	}
	title, body, err := renderMarkdown(raw, path.Dir(file))
	if err != nil {
		return err
	}
	return v.show("manual/page", manualPage{shell: v.shell(title, "").with("manual.css"), Volumes: volumesAt(name), Body: body})
}

// snippet is a line of a page that is nothing but a link to a file which the tests run; where the files are browsed it stays one.
var snippet = regexp.MustCompile(`(?m)^\[([^\]]+)\]\((?:\.\./)?quickstart/([^)]+)\)$`)

// renderMarkdown draws a page of the documentation, which is part of the program and therefore trusted.
func renderMarkdown(raw []byte, dir string) (title string, body template.HTML, err error) {
	raw = snippet.ReplaceAllFunc(raw, func(line []byte) []byte {
		found := snippet.FindSubmatch(line)
		code, readErr := fs.ReadFile(docs.Files, "quickstart/"+string(found[2]))
		if readErr != nil {
			err = readErr
		}
		code = bytes.TrimPrefix(code, []byte("//go:build ignore\n\n"))
		return fmt.Appendf(nil, "**%s**\n\n```%s\n%s```", found[1], strings.TrimPrefix(path.Ext(string(found[2])), "."), code)
	})
	if err != nil {
		return "", "", fmt.Errorf("snippets: %w", err)
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	document := markdown.Parser().Parse(text.NewReader(raw))
	err = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := node.(type) {
		case *ast.Link:
			if entering {
				n.Destination = []byte(siteLink(string(n.Destination), dir))
			}
		case *ast.Heading:
			if entering && n.Level == 1 && title == "" {
				title = headingText(n, raw)
			}
		case *ast.FencedCodeBlock:
			n.SetAttributeString("tabindex", "0")
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", "", err
	}
	var drawn bytes.Buffer
	if err := markdown.Renderer().Render(&drawn, raw, document); err != nil {
		return "", "", fmt.Errorf("draw the page: %w", err)
	}
	html := strings.NewReplacer("<pre>", `<pre class="code" tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table class="tbl">`, "</table>", "</table></div>",
		"<th></th>", "<td></td>").Replace(drawn.String())
	return title, template.HTML(html), nil
}

func headingText(node ast.Node, source []byte) string {
	var all strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if segment, ok := child.(*ast.Text); ok {
			all.Write(segment.Segment.Value(source))
		} else {
			all.WriteString(headingText(child, source))
		}
	}
	return all.String()
}

// siteLink turns a link between files, which works where the files are browsed, into one between pages.
func siteLink(link, dir string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "/") || strings.HasPrefix(link, "#") {
		return link
	}
	file, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	if !strings.HasSuffix(file, ".md") {
		return link
	}
	return "/docs/" + strings.TrimSuffix(path.Join(dir, file), ".md") + anchor
}

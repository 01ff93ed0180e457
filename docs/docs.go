// Package docs holds the documentation, which the program serves at /docs.
package docs

import "embed"

// Files are the pages, in Markdown, and the snippets they show.
//
//go:embed *.md decisions/*.md guides/*.md migrating/*.md quickstart/*
var Files embed.FS

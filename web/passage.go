package web

import "strings"

// passage is a piece of a sentence: words, or code.
type passage struct {
	Text string
	Code bool
}

// passages cuts a sentence in which code stands between backticks.
func passages(text string) (list []passage) {
	for i, piece := range strings.Split(text, "`") {
		if piece != "" {
			list = append(list, passage{piece, i%2 == 1})
		}
	}
	return list
}

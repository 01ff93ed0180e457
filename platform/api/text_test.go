package api_test

import (
	"strings"
	"testing"

	"postrider/platform/api"
)

func TestTextsOfPeopleAreCheckedByTheirKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check        func(*api.Fields, string, string, int) string
		text         string
		want, answer string
	}{
		"a name":               {api.CheckName, " Ärger ", "Ärger", ""},
		"no name":              {api.CheckName, " \n", "", "Must be one line of 1 to 5 characters."},
		"a long name":          {api.CheckName, "ÄrgerÄ", "ÄrgerÄ", "Must be one line of 1 to 5 characters."},
		"a name of two lines":  {api.CheckName, "a\nb", "a\nb", "Must be one line of 1 to 5 characters."},
		"a name with a break":  {api.CheckName, "a\u2028b", "a\u2028b", "Must be one line of 1 to 5 characters."},
		"no line":              {api.CheckLine, " ", "", ""},
		"a line with a bell":   {api.CheckLine, "a\a", "a\a", "Must be one line of at most 5 characters."},
		"a text of two lines":  {api.CheckText, "a\nb\n", "a\nb", ""},
		"a text with a NUL":    {api.CheckText, "a\x00b", "a\x00b", "Must have at most 5 characters and no NUL."},
		"a text that is long":  {api.CheckText, "abcdef", "abcdef", "Must have at most 5 characters and no NUL."},
		"a text of five runes": {api.CheckText, "ÄÖÜäö", "ÄÖÜäö", ""},
	} {
		var wrong api.Fields
		got := c.check(&wrong, "field", c.text, 5)
		if got != c.want || strings.Join(wrong["field"], " ") != c.answer {
			t.Errorf("%s: %q, %q", name, got, wrong["field"])
		}
	}
}

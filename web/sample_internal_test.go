package web

import (
	"strings"
	"testing"
)

func TestSampleValuesFillEverythingATemplateAsksFor(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`Hi {{FIRST_NAME|there}}, {{{LOGIN_URL}}}`:                               `{"FIRST_NAME":"Ada","LOGIN_URL":"https://example.com/start"}`,
		`{{#if PLAN}}{{PLAN}}{{else}}{{other}}{{/if}}`:                           `{"PLAN":"Pro","other":"Other"}`,
		`{{#each ITEMS}}{{title}} {{@index}} {{price}}{{/each}} {{order.total}}`: `{"ITEMS":[{"price":"€ 29.00","title":"Notebook"},{"price":"€ 29.00","title":"Notebook"}],"order":{"total":"€ 58.00"}}`,
		`{{! a comment }}{{#with customer}}{{name}}{{/with}}{{this}}`:            `{"customer":{"name":"Ada Lovelace"}}`,
		`{{/each}} {{#each a.b}}{{c}}{{/each}} {{`:                               `{}`,
	}
	for source, want := range cases {
		got := strings.Join(strings.Fields(sampleJSON(sampleValues(source))), "")
		if got != strings.Join(strings.Fields(want), "") {
			t.Errorf("%s\ngot  %s\nwant %s", source, got, want)
		}
	}
}

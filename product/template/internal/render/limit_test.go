package render_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"postrider/product/template/internal/render"
)

func TestTemplatesThatDoTooMuchAreStopped(t *testing.T) {
	t.Parallel()
	long := make(list, 10_001)
	hundred := make(list, 100)
	keys := object{}
	for i := range 10_001 {
		keys[strings.Repeat("k", i%7)+string(rune('a'+i%26))+time.Duration(i).String()] = "v"
	}
	for i := range hundred {
		hundred[i] = strings.Repeat("x", 1000)
	}
	mega := strings.Repeat("x", 1<<20)
	for title, c := range map[string]struct {
		source string
		values object
		want   string
	}{
		"10,001 turns":             {"{{#each l}}{{/each}}", object{"l": long}, "more than 10000 times"},
		"10,001 keys":              {"{{#each l}}{{/each}}", object{"l": keys}, "more than 10000 times"},
		"nested loops":             {"{{#each l}}{{#each ../l}}{{#each ../../l}}{{/each}}{{/each}}{{/each}}", object{"l": hundred}, "more than 10000 times"},
		"loops one by one":         {strings.Repeat("{{#each l}}{{/each}}", 101), object{"l": hundred}, "more than 10000 times"},
		"a long value often":       {"{{x}}{{x}}{{x}}", object{"x": mega}, "larger than 2 MB"},
		"a list that is long":      {"{{x}}", object{"x": list{mega, mega, mega}}, "larger than 2 MB"},
		"a value that grows":       {"{{x}}", object{"x": strings.Repeat("<", 600_000)}, "larger than 2 MB"},
		"text in loops":            {"{{#each l}}" + strings.Repeat("x", 30_000) + "{{/each}}", object{"l": hundred}, "larger than 2 MB"},
		"work that leaves nothing": {"{{#each l}}" + strings.Repeat("{{#if x}}{{/if}}", 11_000) + "{{/each}}", object{"l": hundred}, "does more than it may"},
		"values that are left out": {"{{#each l}}" + strings.Repeat("<p style='{{@root.x}}'>", 100) + "{{/each}}", object{"l": hundred, "x": ";" + mega}, "does more than it may"},
	} {
		program, err := render.Parse(c.source, render.HTML)
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		_, err = program.Execute(c.values)
		var stopped *render.SyntaxError
		if !errors.As(err, &stopped) || !strings.Contains(stopped.Message, c.want) || stopped.Line != 1 {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestWhatIsJustWithinTheLimitsIsRendered(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		source string
		values object
		size   int
	}{
		"10,000 turns": {"{{#each l}}x{{/each}}", object{"l": make(list, 10_000)}, 10_000},
		"2 MB":         {"{{x}}", object{"x": strings.Repeat("x", 2<<20)}, 2 << 20},
		"50 deep":      {strings.Repeat("{{#if x}}", 50) + "x" + strings.Repeat("{{/if}}", 50), object{"x": true}, 1},
	} {
		if got := execute(t, c.source, c.values); len(got.Text) != c.size {
			t.Errorf("%s: %d bytes", title, len(got.Text))
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, c := range handlebars {
		f.Add(c.source, "<x>")
	}
	for _, shape := range shapes {
		f.Add(shape, "javascript:")
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		for _, kind := range []render.Kind{render.HTML, render.Text} {
			program, err := render.Parse(source, kind)
			var wrong *render.SyntaxError
			if err != nil {
				if !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Column < 1 || wrong.Message == "" {
					t.Fatalf("%q: %v", source, err)
				}
				continue
			}
			values := object{"x": value, "foo": list{value, object{"x": value}}, "people": list{object{"name": value}}}
			first, err := program.Execute(values)
			if err != nil && !errors.As(err, &wrong) {
				t.Fatal(err)
			}
			second, _ := program.Execute(values)
			if first.Text != second.Text || len(first.Text) > render.MaxOutput || strings.Contains(value, "\x00") && !strings.Contains(source, "\x00") && strings.Contains(first.Text, "\x00") {
				t.Fatalf("%q: %q, then %q", source, first.Text, second.Text)
			}
		}
	})
}

const receipt = `<!doctype html><html><head><title>{{subject}}</title><style>a{color:#06c}</style></head><body style="margin:0">
<table width="100%"><tr><td><h1>Thanks, {{FIRST_NAME|there}}!</h1>{{#if plan}}<p>You are on {{plan}}.</p>{{else}}<p>Pick a plan.</p>{{/if}}
<table>{{#each items}}<tr><td>{{name}}</td><td align="right">{{price}} {{@root.currency}}</td></tr>
{{/each}}</table><p><a href="{{url}}">See your order</a></p><p style="color:#888">Acme Inc. <a href="{{{UNSUBSCRIBE_URL}}}">Unsubscribe</a></p></td></tr></table></body></html>`

func BenchmarkRender(b *testing.B) {
	program, err := render.Parse(receipt, render.HTML)
	if err != nil {
		b.Fatal(err)
	}
	values := object{"subject": "Your order", "FIRST_NAME": "Ann", "plan": "Pro", "currency": "EUR", "url": "https://acme.test/orders/4711?utm=mail&x=1",
		"UNSUBSCRIBE_URL": "https://acme.test/u/abc", "items": list{object{"name": "Tea & biscuits", "price": 12.5}, object{"name": "Cup", "price": 8.0}, object{"name": "Spoon", "price": 3.25}}}
	for b.Loop() {
		if result, err := program.Execute(values); err != nil || len(result.Missing) > 0 {
			b.Fatal(result.Missing, err)
		}
	}
}

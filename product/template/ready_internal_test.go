package template

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheShelfStaysSmall(t *testing.T) {
	t.Parallel()
	s := newShelf()
	big := &Ready{source: Source{HTML: strings.Repeat("x", 1<<20)}}
	for i := range 100 {
		id := VersionID(fmt.Sprint(i))
		if s.put(id, big); s.get(id) != big {
			t.Fatalf("version %d is not there", i)
		}
		if len(s.ready) > 16 || s.bytes > maxShelf {
			t.Fatalf("%d versions of %d bytes", len(s.ready), s.bytes)
		}
	}
}

func TestAVersionThatTwoHaveReadIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := newShelf()
	for range 2 {
		s.put("a", &Ready{source: Source{HTML: "four"}})
	}
	if len(s.ready) != 1 || s.bytes != 4 {
		t.Errorf("%d versions of %d bytes", len(s.ready), s.bytes)
	}
}

const receipt = `<!doctype html><html><head><title>Your order</title></head><body style="margin:0">
<table width="100%"><tr><td><h1>Thanks, {{FIRST_NAME|there}}!</h1>{{#if plan}}<p>You are on {{plan}}.</p>{{else}}<p>Pick a plan.</p>{{/if}}
<table>{{#each items}}<tr><td>{{name}}</td><td align="right">{{price}} {{@root.currency}}</td></tr>
{{/each}}</table><p><a href="{{url}}">See your order</a></p><p style="color:#888">Acme Inc. <a href="{{{UNSUBSCRIBE_URL}}}">Unsubscribe</a></p></td></tr></table></body></html>`

// BenchmarkMail renders a typical receipt: a subject, a page and a text.
func BenchmarkMail(b *testing.B) {
	values := Values{"FIRST_NAME": "Ann", "plan": "Pro", "currency": "EUR", "url": "https://acme.test/orders/4711?utm=mail&x=1", "UNSUBSCRIBE_URL": "https://acme.test/u/abc",
		"items": []any{map[string]any{"name": "Tea & biscuits", "price": 12.5}, map[string]any{"name": "Cup", "price": 8.0}, map[string]any{"name": "Spoon", "price": 3.25}}}
	for title, text := range map[string]string{"text given": "Thanks, {{FIRST_NAME}}! {{url}}", "text made": ""} {
		b.Run(title, func(b *testing.B) {
			ready, err := Compile(Source{Subject: "Your order, {{FIRST_NAME|friend}}", HTML: receipt, Text: text})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := ready.Render(values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package httpout_test

import (
	"testing"

	"postrider/platform/httpout"
)

func TestSecretsAreHiddenInJSONThatIsMeantForPagesToo(t *testing.T) {
	t.Parallel()
	hide := httpout.Hider("***", "p&q<r>ü\x01")
	for _, answer := range []string{`"p&q<r>ü\u0001"`, `"p\u0026q\u003cr\u003eü\u0001"`, `"p\u0026q\u003Cr\u003E\u00FC\u0001"`, `"p&q<r>\u00fc\u0001"`} {
		if got := hide.Replace(answer); got != `"***"` {
			t.Errorf("%s: %s", answer, got)
		}
	}
}

func TestSecretsAreHiddenHoweverAnAnswerSpellsThem(t *testing.T) {
	t.Parallel()
	hide := httpout.Hider("***", `a/b "c"`, `a/b "c" d`, "")
	for answer, want := range map[string]string{
		`it is a/b "c".`:                      `it is ***.`,
		`a/b "c" d`:                           `***`, // the longest first
		`/?q=a%2Fb+%22c%22&p=a%2Fb%20%22c%22`: `/?q=***&p=***`,
		`{"token":"a/b \"c\""}`:               `{"token":"***"}`,
		`a\/b "c"`:                            `***`,
		`a/b`:                                 `a/b`,
		``:                                    ``,
	} {
		if got := hide.Replace(answer); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

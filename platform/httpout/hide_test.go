package httpout_test

import (
	"testing"

	"postrider/platform/httpout"
)

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

package httpout

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Hider cuts secrets out of answers: servers like to repeat what they got. It knows them as they are, and as addresses and JSON spell them.
func Hider(instead string, secrets ...string) *strings.Replacer {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := strconv.Quote(secret)
		forms = append(forms, secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1:len(quoted)-1], strings.ReplaceAll(secret, "/", `\/`))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // or a part of one would be cut out, and the rest stay
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, instead)
	}
	return strings.NewReplacer(pairs...)
}

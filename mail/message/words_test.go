package message_test

import (
	"strings"
	"testing"

	"postrider/mail/message"
)

func TestWordsAreDecodedAsFarAsTheyCanBeRead(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Hello":                                           "Hello",
		"=?utf-8?Q?Gr=C3=BC=C3=9Fe?=":                     "Grüße",
		"=?ISO-8859-1?q?Gr=FC_=DFe?= x":                   "Grü ße x",
		"=?utf-8?B?R3LDvMOfZQ==?=":                        "Grüße",
		"=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?Q?_Ann?=": "Grüße Ann",
		"a =?utf-8?Q?b?= c =?utf-8?Q?d?=":                 "a b c d",
		"=?utf-8?B?R3LDvMOfZQ?=":                          "Grüße", // no padding
		"=?utf-8?B?R3LD vMOf.ZQ==?=":                      "Grüße", // more than letters
		"=?utf-8?Q?Grü=C3=9Fe?=":                          "Grüße", // not ASCII
		"=?utf-8?Q?Gr=C3=BC=XX?=":                         "Grü=XX",
		"=?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9Fe?=":        "Grüße", // a character in two words
		"=?utf-8?B?R3LD?=\t=?UTF-8?B?vMOfZQ==?=":          "Grüße",
		"=?x-unknown?Q?a=2E?= =?utf-8?Q?b=2Eexe?=":        "a.b.exe",
		"=?utf-8?Q?two words?=":                           "two words",
		"=?utf-8?Q?a?b?=":                                 "a?b",
		"=?utf-8?X?a?=":                                   "=?utf-8?X?a?=",
		"=?utf-8?Q?a":                                     "=?utf-8?Q?a",
		"=?utf-16?B?/v8AYQ==?=":                           "a",
		"Gr\xfc\xdfe":                                     "Grüße",
		"=?utf-8?Q?a=00b?=":                               "ab",
	} {
		if got := message.DecodeHeader(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestEndlessWordsAreDecodedInShortTime(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"=?utf-8?Q?a?= ", "=?utf-8?B?", "=?a?q?x ", "=?", "=?a"} {
		message.DecodeHeader(strings.Repeat(value, 1<<20/len(value)))
	}
}

package spam

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isInvisible tells whether a character takes no room: readers do not see it and filters would trip over it.
func isInvisible(r rune) bool {
	switch r {
	case '\u00ad', '\u034f', '\u180e', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return true
	}
	return false
}

// isOverride tells whether a character turns the letters after it around, whatever their script.
func isOverride(r rune) bool { return r == '\u202d' || r == '\u202e' }

// standsAlone tells whether a letter is a word of its own, in scripts that put no spaces between words.
func standsAlone(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// isFancy tells whether a character is a plain letter in costume: bold, cursive or in a circle.
func isFancy(r rune) bool {
	return r >= 0x1d400 && r <= 0x1d7ff || r >= 0x24b6 && r <= 0x24e9 || r >= 0x1f130 && r <= 0x1f189
}

func isEmoji(r rune) bool {
	return r >= 0x1f300 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf
}

// isWordy tells whether a character can be part of a word.
func isWordy(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || isFancy(r)
}

// isLetter leaves out digits: programs put comments between a number and its unit ("2<!-- -->x").
func isLetter(r rune) bool { return isWordy(r) && !unicode.IsDigit(r) }

// fold returns the form of a letter in which phrases are compared.
func fold(r rune) rune {
	if isFancy(r) || r >= 0xff01 && r <= 0xff5e {
		plain, _ := utf8.DecodeRuneInString(norm.NFKC.String(string(r)))
		r = plain
	}
	return unicode.ToLower(r)
}

// lookAlikes are letters of other scripts that cannot be told from a Latin one, in lower and upper case.
var lookAlikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'ԁ': 'd', 'һ': 'h',
	'ԛ': 'q', 'ԝ': 'w', 'ӏ': 'l', 'Ӏ': 'l', 'А': 'a', 'В': 'b', 'Е': 'e', 'К': 'k', 'М': 'm', 'Н': 'h', 'О': 'o', 'Р': 'p', 'С': 'c', 'Т': 't',
	'Х': 'x', 'І': 'i', 'Ј': 'j', 'Ѕ': 's',
	'ο': 'o', 'ν': 'v', 'ι': 'i', 'Α': 'a', 'Β': 'b', 'Ε': 'e', 'Ζ': 'z', 'Η': 'h', 'Ι': 'i', 'Κ': 'k', 'Μ': 'm', 'Ν': 'n',
	'Ο': 'o', 'Ρ': 'p', 'Τ': 't', 'Υ': 'y', 'Χ': 'x',
}

// digitLetters are the letters that digits stand for in words such as "v1agra".
var digitLetters = map[rune]rune{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b'}

// isAlphabetic tells whether a letter is of a script whose words hold no invisible characters. Arabic, Persian and the scripts
// of India need joiners; emoji are made of them.
func isAlphabetic(r rune) bool {
	return r < utf8.RuneSelf && isWordy(r) || unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
}

func isLatin(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.Is(unicode.Latin, r)
}

// isDisguised tells whether a word mixes Latin letters with foreign ones that look just like Latin. "SMSка" is honest Russian;
// "pаypal" with a Cyrillic "а" is not.
func isDisguised(word []rune) bool {
	latin, foreign := 0, 0
	for _, r := range word {
		switch {
		case isLatin(r):
			latin++
		case lookAlikes[r] != 0:
			foreign++
		case unicode.IsLetter(r):
			return false
		}
	}
	return latin >= 2 && foreign > 0
}

// countLetters returns how many letters and digits of a text a reader could see if it were shown.
func countLetters(text string) int {
	n := 0
	for _, r := range text {
		if isWordy(r) && !isInvisible(r) {
			n++
		}
	}
	return n
}

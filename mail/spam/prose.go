package spam

import (
	"unicode"
	"unicode/utf8"
)

const (
	// maxWord is how many letters of a word are compared; no phrase has a longer word.
	maxWord = 40
	// maxVocabulary bounds the distinct words that are kept to compare two texts.
	maxVocabulary = 20_000
	// longToken is the length from which on a run of letters and digits without a space is data, not a word.
	longToken = 100
)

// prose is what one pass over a text finds out.
type prose struct {
	words int
	// cased are the letters of scripts that have capitals, upper the capitals among them.
	cased, upper int
	emoji        int
	// outcries are runs of at least two exclamation or question marks.
	outcries int
	// joiners are invisible characters inside words, overrides those that turn the direction of the text.
	joiners, overrides int
	// fancy are letters in costume, disguised words that mix look-alikes of several scripts, leet those written with digits.
	fancy, disguised, leet int
	// tokens are long runs of mixed letters and digits.
	tokens int
	// garbled are traces of text that was decoded in the wrong character set.
	garbled int
	// vocabulary has the distinct words.
	vocabulary map[string]struct{}
	said       said
}

// readProse reads a text. It takes time in proportion to its length.
func readProse(text string) prose {
	r := proseReader{word: make([]rune, 0, maxWord)}
	r.prose.vocabulary = map[string]struct{}{}
	r.prose.said = newSaid()
	for _, c := range text {
		r.take(c)
	}
	r.endWord()
	r.endToken()
	return r.prose
}

type proseReader struct {
	prose prose
	last  rune
	// word is what has been read of the current word, not folded.
	word []rune
	// unseen is whether an invisible character came after the last letter of the word.
	unseen bool
	// marks is how many exclamation and question marks have come in a row.
	marks int
	token struct {
		length              int
		lower, upper, digit bool
		other               bool
	}
	listener listener
}

func (r *proseReader) take(c rune) {
	r.count(c)
	r.extendToken(c)
	switch {
	case isInvisible(c):
		r.unseen = len(r.word) > 0 && (r.unseen || c != '\u00ad') // soft hyphens are good typography
		return
	case standsAlone(c):
		r.endWord()
		r.word = append(r.word, c)
		r.endWord()
	case isWordy(c):
		// "iPhone'а" is an honest word with an ending of another language.
		if (r.last == '\'' || r.last == '’') && len(r.word) > 0 && isLatin(c) != isLatin(r.word[len(r.word)-1]) {
			r.endWord()
		}
		if r.unseen && isAlphabetic(c) && isAlphabetic(r.last) {
			r.prose.joiners++
		}
		if len(r.word) < maxWord {
			r.word = append(r.word, c)
		}
	case (c == '\'' || c == '’') && len(r.word) > 0: // "don't" is one word
	default:
		r.endWord()
		if c == '.' || c == '!' || c == '?' || c == ';' {
			r.listener.pause()
		}
	}
	r.unseen = false
	r.last = c
}

// count looks at single characters.
func (r *proseReader) count(c rune) {
	p := &r.prose
	if c == '!' || c == '?' {
		if r.marks++; r.marks == 2 {
			p.outcries++
		}
	} else {
		r.marks = 0
	}
	switch {
	case c >= 'a' && c <= 'z':
		p.cased++
		return
	case c >= 'A' && c <= 'Z':
		p.cased++
		p.upper++
		return
	case c < utf8.RuneSelf:
		return
	case c == utf8.RuneError, r.last == 'Ã' && c >= 0x80 && c <= 0xbf, r.last == 'â' && c == '€':
		p.garbled++
	case isOverride(c):
		p.overrides++
	case isFancy(c):
		p.fancy++
	case isEmoji(c):
		p.emoji++
	case unicode.IsUpper(c):
		p.cased++
		p.upper++
	case unicode.IsLower(c):
		p.cased++
	}
}

func (r *proseReader) extendToken(c rune) {
	t := &r.token
	switch {
	case c >= 'a' && c <= 'z':
		t.lower = true
	case c >= 'A' && c <= 'Z':
		t.upper = true
	case c >= '0' && c <= '9':
		t.digit = true
	case c == '+' || c == '/' || c == '=' || c == '_' || c == '-':
	case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\u00a0':
		r.endToken()
		return
	default:
		t.other = true // addresses of web pages, sentences without spaces
	}
	t.length++
}

func (r *proseReader) endToken() {
	if t := r.token; t.length >= longToken && t.lower && t.upper && t.digit && !t.other {
		r.prose.tokens++
	}
	r.token.length, r.token.other = 0, false
	r.token.lower, r.token.upper, r.token.digit = false, false, false
}

// endWord counts a word and listens whether it ends a phrase.
func (r *proseReader) endWord() {
	if len(r.word) == 0 {
		return
	}
	p := &r.prose
	p.words++
	disguised := isDisguised(r.word)
	if disguised {
		p.disguised++
	}
	digits, letters := 0, 0
	for i, c := range r.word {
		if plain := lookAlikes[c]; disguised && plain != 0 {
			c = plain
		}
		r.word[i] = fold(c)
		if c >= '0' && c <= '9' {
			digits++
		} else {
			letters++
		}
	}
	word := string(r.word)
	if digits > 0 && letters > 1 {
		if meant := unleet(r.word); isTelling(meant) {
			p.leet++
			word = meant
		}
	}
	if len(p.vocabulary) < maxVocabulary {
		p.vocabulary[word] = struct{}{}
	}
	r.listener.hear(word, p.said)
	r.word = r.word[:0]
}

// unleet returns the word that is meant if the digits in it are letters.
func unleet(word []rune) string {
	meant := make([]rune, len(word))
	for i, c := range word {
		meant[i] = c
		if letter := digitLetters[c]; letter != 0 {
			meant[i] = letter
		}
	}
	return string(meant)
}

package spam

import "strings"

// topic is what a phrase is about.
type topic int

const (
	advanceFee topic = iota
	prize
	pressure
	pharmacy
	crypto
	credentials
	loan
	income
	gambling
	adult
	diet
	promotion
	extortion
	disclaimer
	greeting
	filler
	// unsubscribing is no sign of spam but of a mailing.
	unsubscribing
	topics
)

// phrase is a sequence of words that some topic is known by.
type phrase struct {
	topic  topic
	weight float64
}

// said has the phrases that were heard, each once however often it was repeated.
type said map[*phrase]struct{}

func newSaid() said { return said{} }

// weights sums up what was said by topic.
func weights(heard ...said) [topics]float64 {
	var sums [topics]float64
	counted := said{}
	for _, s := range heard {
		for p := range s {
			if _, again := counted[p]; !again {
				counted[p] = struct{}{}
				sums[p.topic] += p.weight
			}
		}
	}
	for i := range sums {
		sums[i] = round(sums[i], 2) // the order of a map must not show in the last bit
	}
	return sums
}

// stem is a place in the tree of all phrases: the words so far, and how they may go on.
type stem struct {
	next  map[string]*stem
	whole *phrase
}

// phraseTree holds the phrases of phraseTable word by word.
var phraseTree = plant(phraseTable)

func plant(table []phraseRow) *stem {
	root := &stem{}
	for _, row := range table {
		for text := range strings.SplitSeq(row.texts, "|") {
			root.grow(splitWords(text), &phrase{topic: row.topic, weight: row.weight})
		}
	}
	return root
}

func (s *stem) grow(words []string, whole *phrase) {
	for _, word := range words {
		if s.next == nil {
			s.next = map[string]*stem{}
		}
		if s.next[word] == nil {
			s.next[word] = &stem{}
		}
		s = s.next[word]
	}
	if len(words) > 0 {
		s.whole = whole
	}
}

// splitWords cuts a phrase as readProse cuts a text.
func splitWords(text string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	for _, c := range text {
		switch {
		case standsAlone(c):
			flush()
			words = append(words, string(fold(c)))
		case isWordy(c):
			word = append(word, fold(c))
		case c != '\'':
			flush()
		}
	}
	flush()
	return words
}

// isTelling tells whether a word by itself is a phrase.
func isTelling(word string) bool {
	s := phraseTree.next[word]
	return s != nil && s.whole != nil
}

// listener follows a text word by word. It holds no more open phrases than the longest phrase has words.
type listener struct {
	open []*stem
}

func (l *listener) hear(word string, heard said) {
	still := l.open[:0]
	for _, s := range l.open {
		if next := s.next[word]; next != nil {
			still = append(still, next)
		}
	}
	if next := phraseTree.next[word]; next != nil {
		still = append(still, next)
	}
	for _, s := range still {
		if s.whole != nil {
			heard[s.whole] = struct{}{}
		}
	}
	l.open = still
}

// pause forgets open phrases: they do not reach over the end of a sentence.
func (l *listener) pause() { l.open = l.open[:0] }

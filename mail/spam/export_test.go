package spam

// RuleIDs returns the ids of all built-in rules in the order of the book.
func RuleIDs() []string {
	var ids []string
	for _, chapter := range book {
		for _, r := range chapter.rules {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// Described is a rule as far as people read it.
type Described struct {
	ID, Description, Code, Advice string
	Severity                      Severity
	Score                         float64
}

// Rules returns what people read about each built-in rule.
func Rules() []Described {
	var all []Described
	for _, chapter := range book {
		for _, r := range chapter.rules {
			all = append(all, Described{ID: r.id, Description: r.description, Code: r.advice.code, Advice: r.advice.message, Severity: r.severity, Score: r.score})
		}
	}
	return all
}

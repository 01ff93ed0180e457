package spam

// rule is a claim about a message and what it costs if it is true.
type rule struct {
	id       string
	severity Severity
	// score is what the rule adds to the sum, and the most it adds if points measures how much.
	score       float64
	description string
	advice      advice
	// One of these two says whether the rule applies; points of 0 means that it does not.
	when   func(*facts) bool
	points func(*facts) float64
}

// advice is what an author can do about a rule. Rules with one code share one advice.
type advice struct {
	code    string
	message string
}

// book holds all rules. The order is that in which equally costly rules are told.
var book = []struct {
	category Category
	rules    []rule
}{
	{CategorySubject, subjectRules},
	{CategoryContent, contentRules},
	{CategoryStructure, structureRules},
	{CategoryLinks, linkRules},
	{CategoryHeaders, headerRules},
	{CategorySender, senderRules},
	{CategoryAuthentication, authenticationRules},
}

func (r rule) apply(f *facts) (score float64, applies bool) {
	if r.points == nil {
		return r.score, r.when(f)
	}
	points := r.points(f)
	return round(min(points, r.score), 1), points > 0
}

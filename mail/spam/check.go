package spam

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// builtinVersion changes when the same message may get another score.
const builtinVersion = "3"

// Builtin is the engine of this package. Its errors are always nil.
type Builtin struct{}

// Check is the function of the same name.
func (Builtin) Check(_ context.Context, m Message) (Result, error) { return Check(m), nil }

// Check applies the built-in rules to a message.
func Check(m Message) Result {
	hits, advices := judge(gather(m))
	sum := 0.0
	for _, h := range hits {
		sum += h.Score
	}
	return conclude(Result{
		Score:           sum,
		Rules:           hits,
		Recommendations: merge(hits, advices),
		Authentication:  m.Authentication,
		Engine:          "builtin",
		EngineVersion:   builtinVersion,
	})
}

// judge returns the rules that apply to the facts, the costliest first, and the advice of each by its id.
func judge(f *facts) ([]Hit, map[string]advice) {
	hits := []Hit{}
	advices := map[string]advice{}
	for _, chapter := range book {
		for _, r := range chapter.rules {
			score, applies := r.apply(f)
			if !applies {
				continue
			}
			hits = append(hits, Hit{
				ID: r.id, Category: chapter.category, Severity: r.severity, Score: score, Description: r.description,
			})
			advices[r.id] = r.advice
		}
	}
	byScore(hits)
	return hits, advices
}

// byScore sorts the costliest first and keeps the order of equals.
func byScore(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
}

// merge gives each advice once, with the rules it is for.
func merge(hits []Hit, advices map[string]advice) []Recommendation {
	merged := []Recommendation{}
	place := map[string]int{}
	for _, h := range hits {
		a := advices[h.ID]
		at, known := place[a.code]
		if !known {
			at = len(merged)
			place[a.code] = at
			merged = append(merged, Recommendation{Code: a.code, Message: a.message})
		}
		merged[at].RuleIDs = append(merged[at].RuleIDs, h.ID)
	}
	return merged
}

// conclude rounds the score and fills in what follows from it.
func conclude(r Result) Result {
	r.Score = round(min(max(r.Score, 0), MaxScore), 1)
	r.Threshold, r.MaxScore = Threshold, MaxScore
	switch {
	case r.Score >= Threshold:
		r.Verdict = Spam
	case r.Score >= reviewFrom:
		r.Verdict = Review
	default:
		r.Verdict = OK
	}
	r.Sendable = r.Score < Threshold && r.Authentication.Verified
	return r
}

func round(x float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(x*unit) / unit
}

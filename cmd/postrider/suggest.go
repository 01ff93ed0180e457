package main

import (
	"fmt"
	"slices"
)

// mostChanges is how many letters a word may be away from one that was meant.
const mostChanges = 3

// suggestion says which of the known words was probably meant; nothing if none is near.
func suggestion(word string, known []string) string {
	slices.Sort(known)
	best, nearest := "", min(mostChanges, len(word)/2)+1
	for _, candidate := range known {
		if d := distance(word, candidate); d < nearest {
			best, nearest = candidate, d
		}
	}
	if best == "" {
		return "; postrider serve --help lists what there is"
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is how many letters must be added, removed or changed to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

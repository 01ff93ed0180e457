package reseal

// Column is where a package keeps something sealed.
type Column struct {
	Table, Name string
	// Key are the columns of the primary key; Context is what a value was sealed in, by those of its row.
	Key     []string
	Context func(key ...string) string
}

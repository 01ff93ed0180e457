package filter

// Lead is a question that reads one index and finds every contact for which a tree can be true, and others. Where a tree is true for
// few among many, one of its leads may find little more than those few.
type Lead struct {
	// Query selects numbers of contacts.
	Query string
	Args  []any
}

// Leads returns the leads of a tree in a workspace, of which there may be none: each is a condition that all of its contacts have to fulfil.
func (t *Tree) Leads(ws any) []Lead {
	var leads []Lead
	var walk func(node)
	walk = func(n node) {
		switch n.kind {
		case andNode:
			for _, child := range n.rules {
				walk(child)
			}
		case leafNode:
			w := &Writer{}
			if query := w.lead(n.rule, ws); query != "" {
				leads = append(leads, Lead{query, w.Args})
			}
		}
	}
	walk(t.root)
	return leads
}

// lead returns the question for a rule that an index answers, or nothing.
func (w *Writer) lead(r rule, ws any) string {
	if r.operator != "eq" && r.operator != "in" {
		return ""
	}
	switch {
	case r.field.property != 0 && r.field.kind == textField:
		return "SELECT contact FROM contact_value WHERE property = " + w.Argument(r.field.property) + " AND folded IS NOT NULL AND " + w.compare(r, "folded")
	case r.field.property != 0:
		return "SELECT contact FROM contact_value WHERE property = " + w.Argument(r.field.property) + " AND amount IS NOT NULL AND " + w.compare(r, "amount")
	case r.field.column == "contact.host":
		return "SELECT number FROM contact WHERE workspace_id = " + w.Argument(ws) + " AND " + w.compare(r, "host")
	}
	return ""
}

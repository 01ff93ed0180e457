package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/db"
)

// mostRows is how many rows of one table a statement of a hot path may touch: several times the largest batch that there is.
const mostRows = 3_000

var errOnlyAsked = errors.New("only asked")

// judge asks the engine how it goes about a statement, in a transaction that is taken back, and returns what is wrong with it.
func judge(t *testing.T, in *apptest.Installation, engine string, s statement) (complaints []string, plan string) {
	t.Helper()
	err := in.App.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
		if engine == "postgres" {
			complaints, plan, err = judgePostgres(tx, s)
		} else {
			complaints, plan, err = judgeSQLite(tx, s)
		}
		return errors.Join(errOnlyAsked, err)
	})
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 1 {
		t.Errorf("asking about %q: %v", s.query, err)
	}
	return complaints, plan
}

// step is a node of a plan of PostgreSQL.
type step struct {
	Type     string  `json:"Node Type"`
	Table    string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Checked  float64 `json:"Rows Removed by Index Recheck"`
	Steps    []step  `json:"Plans"`
}

// judgePostgres lets the statement run: what it reads is counted, not guessed. An INSERT of rows reads none, and could not run twice.
func judgePostgres(tx *db.Tx, s statement) (complaints []string, plan string, err error) {
	how := `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) `
	if strings.HasPrefix(s.query, "INSERT") {
		how = `EXPLAIN (FORMAT JSON) `
	}
	raw, err := db.One(tx, db.Value[string], how+s.query, s.args...)
	if err != nil {
		return nil, "", err
	}
	var plans []struct{ Plan step }
	if err := json.Unmarshal([]byte(raw), &plans); err != nil {
		return nil, "", err
	}
	var look func(step, int)
	var text strings.Builder
	look = func(p step, depth int) {
		touched := (p.Rows + p.Filtered + p.Checked) * max(p.Loops, 1)
		fmt.Fprintf(&text, "%s%s %s %s: %.0f rows\n", strings.Repeat("  ", depth), p.Type, p.Table, p.Index, touched)
		switch {
		case p.Type == "Seq Scan" && crowded()[p.Table] != nil:
			complaints = append(complaints, "reads "+p.Table+" through")
		case touched > mostRows && p.Type != "Bitmap Index Scan": // what it finds is counted above it
			complaints = append(complaints, fmt.Sprintf("%s %s touches %.0f rows", p.Type, p.Table, touched))
		}
		for _, below := range p.Steps {
			look(below, depth+1)
		}
	}
	for _, p := range plans {
		look(p.Plan, 0)
	}
	return complaints, text.String(), nil
}

// judgeSQLite reads the plan: the engine does not count. A SCAN that names an index reads all of it, unless it may stop early.
func judgeSQLite(tx *db.Tx, s statement) (complaints []string, plan string, err error) {
	type line struct {
		parent int64
		text   string
	}
	lines, err := db.All(tx, func(row db.Scanner) (l line, err error) {
		var id, unused int64
		err = row.Scan(&id, &l.parent, &unused, &l.text)
		return l, err
	}, `EXPLAIN QUERY PLAN `+s.query, s.args...)
	if err != nil {
		return nil, "", err
	}
	if complaints, err = replanned(tx, s); err != nil {
		return nil, "", err
	}
	last := map[int64]string{} // the table that was visited last in each part of the query
	for _, l := range lines {
		plan += l.text + "\n"
		if found := visited.FindStringSubmatch(l.text); found != nil {
			table := tableOf(s.query, found[2])
			last[l.parent] = table
			if found[1] == "SCAN" && crowded()[table] != nil && !mayScan(s.query, l.text) {
				complaints = append(complaints, "reads "+table+" through")
			}
			if strings.HasSuffix(l.text, "(workspace_id=?)") && crowded()[table] != nil && strings.Contains(s.query, "{in ") && !strings.Contains(s.query, "LIMIT") {
				complaints = append(complaints, "reads all that a workspace has of "+table)
			}
		}
		// What was bounded before, by a LIMIT inside, goes by a name that is no table's.
		if strings.HasPrefix(l.text, "USE TEMP B-TREE FOR ORDER BY") && crowded()[last[l.parent]] != nil {
			complaints = append(complaints, "sorts "+last[l.parent])
		}
	}
	return complaints, plan, nil
}

// replanned complains of a statement into whose program SQLite has written an argument: it will plan it anew at every run.
func replanned(tx *db.Tx, s statement) (complaints []string, err error) {
	read, err := db.All(tx, func(row db.Scanner) (argument int64, err error) {
		var operation string
		var unused any
		err = row.Scan(&unused, &operation, &argument, &unused, &unused, &unused, &unused, &unused)
		if operation != "Variable" {
			argument = 0
		}
		return argument, err
	}, `EXPLAIN `+s.query, s.args...)
	asked := argument.FindAllString(owned.ReplaceAllString(s.query, ""), -1)
	for i := range s.args {
		if name := fmt.Sprintf("$%d", i+1); slices.Contains(asked, name) && !slices.Contains(read, int64(i+1)) {
			complaints = append(complaints, "is planned anew for every value of "+name)
		}
	}
	return complaints, err
}

var (
	argument = regexp.MustCompile(`\$\d+`)
	owned    = regexp.MustCompile(`\{matching \w+ \$\d+`) // whose rows they are is among the words
	visited  = regexp.MustCompile(`^(SCAN|SEARCH) (\w+)`)
	named    = regexp.MustCompile(`(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+(?:AS\s+)?([a-z]\w*))?`)
)

// mayScan tells of a SCAN that it reads an index only until it has found enough, or the few rows that are leased.
func mayScan(query, line string) bool {
	return strings.Contains(line, "USING") && strings.Contains(query, "LIMIT") || strings.Contains(line, "queue_item_leased")
}

// tableOf returns the table that goes by a name in a query.
func tableOf(query, name string) string {
	for _, found := range named.FindAllStringSubmatch(query, -1) {
		if found[2] == name {
			return found[1]
		}
	}
	return name
}

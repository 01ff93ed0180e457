package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

var ways = Ways{"trigger": {"default"}, "send_email": {"default"}, "delay": {"default"}, "condition": {"condition_met", "condition_not_met"},
	"split": {"branch"}, "http_request": {"default", "error"}, "exit": {}, "wait_for_event": {"event_received", "timeout"}}

// plan reads a definition from lines such as "ask -yes-> mail", with types by the beginning of the keys.
func plan(t *testing.T, text string) Definition {
	t.Helper()
	types := map[string]string{"start": "trigger", "mail": "send_email", "wait": "delay", "ask": "condition", "split": "split", "call": "http_request", "exit": "exit"}
	kinds := map[string]string{"": "default", "yes": "condition_met", "no": "condition_not_met", "error": "error"}
	var d Definition
	seen := map[string]bool{}
	add := func(key string) {
		kind := types[strings.TrimRight(key, "0123456789")]
		if seen[key] {
			return
		}
		seen[key] = true
		config := json.RawMessage(`{}`)
		if kind == "split" {
			config = json.RawMessage(`{"branches":[{"key":"a","weight":1},{"key":"b","weight":1},{"key":"c","weight":1}]}`)
		}
		d.Steps = append(d.Steps, Step{key, kind, config})
	}
	for _, line := range strings.Fields(text) {
		from, rest, _ := strings.Cut(line, "-")
		way, to, _ := strings.Cut(rest, ">")
		add(from)
		if to == "" {
			continue
		}
		add(to)
		c := Connection{From: from, To: to, Type: kinds[way]}
		if c.Type == "" {
			c.Type, c.Branch = "branch", way
		}
		d.Connections = append(d.Connections, c)
	}
	return d
}

func grow(d Definition) *Tree {
	return Grow(d, ways, func(s Step, _ int) Face { return Face{Title: s.Key} })
}

// drawn writes a tree as one line.
func drawn(t *Tree) string {
	var all []string
	for _, root := range t.Roots {
		text := ""
		for _, n := range root.Triggers {
			text += n.Key + " "
		}
		if root.Lost {
			text += "lost "
		}
		all = append(all, text+written(root.Body))
	}
	return strings.Join(all, " | ")
}

func written(s Sequence) string {
	var parts []string
	for _, item := range s.Items {
		switch {
		case item.Gap != nil:
			parts = append(parts, "+")
		case item.Node != nil:
			parts = append(parts, item.Node.Key)
		case item.Jump != nil:
			parts = append(parts, "jump:"+item.Jump.Key)
		case item.Line:
			parts = append(parts, "|")
		case item.End:
			parts = append(parts, "end")
		case item.Fork != nil:
			var ways []string
			for _, w := range item.Fork.Ways {
				mark := ""
				if w.Open {
					mark = " v"
				}
				ways = append(ways, written(w.Body)+mark)
			}
			parts = append(parts, "("+strings.Join(ways, " / ")+")")
		}
	}
	return strings.Join(parts, " ")
}

func TestDefinitionsAreDrawnAsSequencesAndForks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, plan, want string }{
		{"nothing but a trigger", "start", "start + end"},
		{"one after the other", "start->mail mail->wait", "start + mail + wait + end"},
		{"ways that join", "start->ask ask-yes>mail1 ask-no>mail2 mail1->wait mail2->wait", "start + ask (+ mail1 + v / + mail2 + v) + wait + end"},
		{"a way that is empty", "start->ask ask-yes>mail ask-no>wait mail->wait", "start + ask (+ mail + v / + v) + wait + end"},
		{"ways that meet only at the end", "start->ask ask-yes>mail", "start + ask (+ mail + v / + v) + end"},
		{"a way that leaves", "start->ask ask-yes>mail ask-no>exit mail->wait", "start + ask (+ mail + wait + end / + exit)"},
		{"a fork in a fork", "start->ask1 ask1-yes>ask2 ask1-no>mail3 ask2-yes>mail1 ask2-no>mail2 mail1->wait mail2->wait mail3->wait",
			"start + ask1 (+ ask2 (+ mail1 + v / + mail2 + v) + v / + mail3 + v) + wait + end"},
		{"a fork whose one way goes on outside", "start->ask1 ask1-yes>ask2 ask1-no>wait ask2-yes>wait", "start + ask1 (+ ask2 (+ v / + end) | v / + v) + wait + end"},
		{"three branches of which two join", "start->split split-a>mail1 split-b>mail2 split-c>exit mail1->wait mail2->wait", "start + split (+ mail1 + v / + mail2 + v / + exit) + wait + end"},
		{"a failure without a way", "start->call call->mail", "start + call + mail + end"},
		{"a failure with a way", "start->call call->mail call-error>wait", "start + call (+ mail + v / + wait + v) + end"},
		{"a circle", "start->mail mail->wait wait->mail", "start + mail + wait + jump:mail"},
		{"two triggers", "start1->mail start2->mail", "start1 start2 + mail + end"},
		{"triggers with steps of their own", "start1->mail1 start2->mail2", "start1 + mail1 + end | start2 + mail2 + end"},
		{"a step that nothing leads to", "start->mail wait", "start + mail + end | lost wait + end"},
	} {
		if got := drawn(grow(plan(t, c.plan))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestStepsAreAddedAndTakenOutWithoutBreakingTheTree(t *testing.T) {
	t.Parallel()
	d := plan(t, "start->mail mail->wait")
	d = d.Insert(grow(d).Gap("mail:default:"), Step{"ask", "condition", nil}, ways)
	if got, want := drawn(grow(d)), "start + mail + ask (+ v / + v) + wait + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	d = d.Insert(grow(d).Gap("ask:condition_met:"), Step{"mail2", "send_email", nil}, ways)
	after := "after:mail2:default::2"
	d = d.Insert(grow(d).Gap(after), Step{"mail3", "send_email", nil}, ways)
	if got, want := drawn(grow(d)), "start + mail + ask (+ mail2 + v / + v) + mail3 + wait + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(grow(d).Inside("ask")), "[mail2]"; got != want {
		t.Fatalf("inside is %s, want %s", got, want)
	}
	d = d.Remove(grow(d), "ask")
	if got, want := drawn(grow(d)), "start + mail + mail3 + wait + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	d = d.Remove(grow(d), "wait")
	if got, want := drawn(grow(d)), "start + mail + mail3 + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestStepAfterWaysThatEndJoinsThem(t *testing.T) {
	t.Parallel()
	d := plan(t, "start->ask ask-yes>mail1")
	tree := grow(d)
	for id, gap := range tree.gaps {
		if len(gap.Edges) == 2 {
			d = d.Insert(tree.Gap(id), Step{"wait", "delay", nil}, ways)
		}
	}
	if got, want := drawn(grow(d)), "start + ask (+ mail1 + v / + v) + wait + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestBranchThatIsAddedLeadsToWhereTheOthersJoin(t *testing.T) {
	t.Parallel()
	d := plan(t, "start->split split-a>mail1 split-b>wait split-c>wait mail1->wait")
	d = d.Change(grow(d), "split", json.RawMessage(`{"branches":[{"key":"a","weight":1},{"key":"b","weight":1},{"key":"new","weight":1}]}`))
	if got, want := drawn(grow(d)), "start + split (+ mail1 + v / + v / + v) + wait + end"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for _, c := range d.Connections {
		if c.Branch == "c" {
			t.Error("the branch that is gone is still connected")
		}
	}
}

func TestLinesReachEveryWayThatGoesOn(t *testing.T) {
	t.Parallel()
	lines := merge([]int{1, 2, 1}, []bool{true, false, true})
	if lines.Width != 4*Unit || len(lines.Paths) != 2 || !strings.HasPrefix(lines.Paths[0], fmt.Sprintf("M%d 0", Unit/2)) {
		t.Errorf("%+v", lines)
	}
	if straight := split([]int{1}).Paths[0]; straight != fmt.Sprintf("M%d 0V%d", Unit/2, height) {
		t.Errorf("%s", straight)
	}
}

func TestTreeThatIsOnlyLookedAtHasNoPlacesToAddSteps(t *testing.T) {
	t.Parallel()
	d := plan(t, "start->ask ask-yes>mail1 ask-no>mail2 mail1->wait mail2->wait")
	tree := grow(d).Fixed()
	if got, want := drawn(tree), "start | ask (| mail1 | v / | mail2 | v) | wait | end"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !tree.Roots[0].Triggers[0].Fixed {
		t.Error("the trigger is a button")
	}
}

package flow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/product/automation/internal/flow"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func trigger(key string) flow.Step {
	return flow.Step{Key: key, Type: flow.Trigger, Config: raw(`{"event_name":"go"}`)}
}

func delay(key, duration string) flow.Step {
	return flow.Step{Key: key, Type: flow.Delay, Config: raw(`{"duration":"` + duration + `"}`)}
}

func connect(text string) flow.Connection {
	parts := strings.Fields(text)
	c := flow.Connection{From: parts[0], To: parts[1], Type: flow.Default}
	if len(parts) > 2 {
		c.Type = flow.Way(parts[2])
	}
	return c
}

func TestMistakesAreToldAtTheirPlace(t *testing.T) {
	t.Parallel()
	condition := flow.Step{Key: "if", Type: flow.Condition, Config: raw(`{"type":"rule","field":"event.x","operator":"exists"}`)}
	with := func(kind flow.Type, config string) []flow.Step {
		return []flow.Step{trigger("a"), {Key: "b", Type: kind, Config: raw(config)}}
	}
	ab := []flow.Connection{connect("a b")}
	for name, c := range map[string]struct {
		steps       []flow.Step
		connections []flow.Connection
		path        string
	}{
		"no trigger":                 {[]flow.Step{delay("a", "1 day")}, nil, "steps"},
		"unreachable":                {[]flow.Step{trigger("a"), delay("b", "1 day")}, nil, "steps[1]"},
		"key twice":                  {[]flow.Step{trigger("a"), delay("a", "1 day")}, nil, "steps[1].key"},
		"key with a dot":             {[]flow.Step{trigger("a.b")}, nil, "steps[0].key"},
		"unknown type":               {[]flow.Step{trigger("a"), {Key: "b", Type: "sms"}}, ab, "steps[1].type"},
		"from nowhere":               {[]flow.Step{trigger("a")}, []flow.Connection{connect("x a")}, "connections[0].from"},
		"to nowhere":                 {[]flow.Step{trigger("a")}, []flow.Connection{connect("a x")}, "connections[0].to"},
		"to a trigger":               {[]flow.Step{trigger("a"), trigger("b")}, ab, "connections[0].to"},
		"wrong way out":              {[]flow.Step{trigger("a"), condition, delay("c", "1 day")}, []flow.Connection{connect("a if"), connect("if c")}, "connections[1].type"},
		"two ways out":               {[]flow.Step{trigger("a"), delay("b", "1 day"), delay("c", "1 day")}, []flow.Connection{connect("a b"), connect("a c")}, "connections[1]"},
		"fast circle":                {[]flow.Step{trigger("a"), delay("b", "59 minutes")}, []flow.Connection{connect("a b"), connect("b b")}, "steps[1]"},
		"short delay":                {[]flow.Step{trigger("a"), delay("b", "59 seconds")}, ab, "steps[1].config.duration"},
		"no delay":                   {[]flow.Step{trigger("a"), delay("b", "0 days")}, ab, "steps[1].config.duration"},
		"long delay":                 {[]flow.Step{trigger("a"), delay("b", "366 days")}, ab, "steps[1].config.duration"},
		"odd delay":                  {[]flow.Step{trigger("a"), delay("b", "soon")}, ab, "steps[1].config.duration"},
		"long wait":                  {with(flow.WaitForEvent, `{"event_name":"x","timeout":"91 days"}`), ab, "steps[1].config.timeout"},
		"unknown variable":           {with(flow.EmitEvent, `{"event_name":"x","payload":{"y":{"var":"secrets.x"}}}`), ab, "steps[1].config.payload.y"},
		"credentials as a variable":  {with(flow.HTTPRequest, `{"url":"https://x.example","body":[{"var":"credentials.crm"}]}`), ab, "steps[1].config.body[0]"},
		"output of a later step":     {with(flow.EmitEvent, `{"event_name":"x","payload":{"y":{"var":"steps.b.output.x"}}}`), ab, "steps[1].config.payload.y"},
		"output of no step":          {with(flow.EmitEvent, `{"event_name":"x","payload":{"y":{"var":"steps.z.output.x"}}}`), ab, "steps[1].config.payload.y"},
		"not an output":              {with(flow.EmitEvent, `{"event_name":"x","payload":{"y":{"var":"steps.a.config"}}}`), ab, "steps[1].config.payload.y"},
		"secret in a header":         {with(flow.HTTPRequest, `{"url":"https://x.example","headers":{"authorization":"Bearer x"}}`), ab, "steps[1].config.headers.authorization"},
		"header of the connection":   {with(flow.HTTPRequest, `{"url":"https://x.example","headers":{"Host":"x"}}`), ab, "steps[1].config.headers.Host"},
		"method":                     {with(flow.HTTPRequest, `{"url":"https://x.example","method":"CONNECT"}`), ab, "steps[1].config.method"},
		"retries":                    {with(flow.HTTPRequest, `{"url":"https://x.example","retry":99}`), ab, "steps[1].config.retry"},
		"mail of nothing":            {with(flow.SendEmail, `{"from":"a@b.example"}`), ab, "steps[1].config.template"},
		"one branch":                 {with(flow.Split, `{"branches":[{"key":"a","weight":1}]}`), ab, "steps[1].config.branches"},
		"weight":                     {with(flow.Split, `{"branches":[{"key":"a","weight":0},{"key":"b","weight":1}]}`), ab, "steps[1].config.branches[0].weight"},
		"system event of no kind":    {[]flow.Step{{Key: "a", Type: flow.Trigger, Config: raw(`{"event_name":"system:moon"}`)}}, nil, "steps[0].config.event_name"},
		"re-entry":                   {[]flow.Step{{Key: "a", Type: flow.Trigger, Config: raw(`{"event_name":"x","re_entry":"never"}`)}}, nil, "steps[0].config.re_entry"},
		"cron":                       {[]flow.Step{{Key: "a", Type: flow.Trigger, Config: raw(`{"event_name":"system:schedule","cron":"61 * * * *"}`)}}, nil, "steps[0].config.cron"},
		"31 February":                {[]flow.Step{{Key: "a", Type: flow.Trigger, Config: raw(`{"event_name":"system:schedule","cron":"0 0 31 2 *"}`)}}, nil, "steps[0].config.cron"},
		"time zone":                  {[]flow.Step{{Key: "a", Type: flow.Trigger, Config: raw(`{"event_name":"system:schedule","cron":"0 0 * * *","timezone":"Moon"}`)}}, nil, "steps[0].config.timezone"},
		"a system event to be sent":  {with(flow.EmitEvent, `{"event_name":"system:contact.created"}`), ab, "steps[1].config.event_name"},
		"a config that is no object": {with(flow.Delay, `[1]`), ab, "steps[1].config"},
	} {
		graph, problems := flow.Read(flow.Definition{Steps: c.steps, Connections: c.connections})
		found := false
		for _, p := range problems {
			found = found || p.Path == c.path
		}
		if !found || graph != nil {
			t.Errorf("%s: %v, want a problem at %s", name, problems, c.path)
		}
	}
}

func TestStepsAreCounted(t *testing.T) {
	t.Parallel()
	definition := flow.Definition{Steps: []flow.Step{trigger("s0")}}
	for i := 1; i <= flow.MaxSteps; i++ {
		definition.Steps = append(definition.Steps, delay(fmt.Sprintf("s%d", i), "1 day"))
		definition.Connections = append(definition.Connections, connect(fmt.Sprintf("s%d s%d", i-1, i)))
	}
	if problems := flow.CheckDraft(definition); len(problems) != 1 || problems[0].Path != "steps" {
		t.Errorf("151 steps: %v", problems)
	}
	definition.Steps, definition.Connections = definition.Steps[:flow.MaxSteps], definition.Connections[:flow.MaxSteps-1]
	if _, problems := flow.Read(definition); len(problems) > 0 {
		t.Errorf("150 steps: %v", problems)
	}
}

// Whatever graph is accepted, a run that always has a next step ends or waits for an hour within 150 steps, wherever it begins and
// whichever way it takes.
func TestNoAcceptedGraphTurnsWithoutAWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "steps")
		definition := flow.Definition{Steps: []flow.Step{trigger("s0")}}
		kinds := []flow.Step{{Type: flow.Condition, Config: raw(`{"type":"rule","field":"event.x","operator":"exists"}`)}, delay("", "1 minute"), delay("", "1 hour"),
			{Type: flow.EmitEvent, Config: raw(`{"event_name":"x"}`)}, {Type: flow.HTTPRequest, Config: raw(`{"url":"https://x.example"}`)}}
		ways := map[flow.Type][]flow.Way{flow.Condition: {flow.Met, flow.NotMet}, flow.HTTPRequest: {flow.Default, flow.Failed}}
		for i := 1; i <= n; i++ {
			step := rapid.SampledFrom(kinds).Draw(t, "kind")
			step.Key = fmt.Sprintf("s%d", i)
			definition.Steps = append(definition.Steps, step)
		}
		for _, step := range definition.Steps {
			out := ways[step.Type]
			if out == nil {
				out = []flow.Way{flow.Default}
			}
			for _, way := range out {
				if to := rapid.IntRange(0, n).Draw(t, "to"); to > 0 {
					definition.Connections = append(definition.Connections, flow.Connection{From: step.Key, To: fmt.Sprintf("s%d", to), Type: way})
				}
			}
		}
		graph, problems := flow.Read(definition)
		if (graph == nil) == (len(problems) == 0) {
			t.Fatalf("graph %v, problems %v", graph, problems)
		}
		if graph == nil {
			return
		}
		for range 20 {
			at := rapid.SampledFrom(definition.Steps).Draw(t, "start").Key
			for count := 0; at != ""; count++ {
				node := graph.Step(at)
				if node.Type == flow.Delay && node.Config.Duration >= time.Hour {
					break
				}
				if count > len(definition.Steps) {
					t.Fatalf("a run turns at %s", at)
				}
				out := ways[node.Type]
				if out == nil {
					out = []flow.Way{flow.Default}
				}
				at = node.Next(rapid.SampledFrom(out).Draw(t, "way"), "")
			}
		}
	})
}

// No text is read in a way that panics, and reading is the same every time.
func TestAnyDefinitionIsReadOrRefused(t *testing.T) {
	t.Parallel()
	types := []flow.Type{flow.Trigger, flow.SendEmail, flow.Delay, flow.WaitForEvent, flow.Condition, flow.ContactUpdate, flow.AddToList, flow.SetTopic, flow.EmitEvent,
		flow.HTTPRequest, flow.Split, flow.Exit, "x"}
	rapid.Check(t, func(t *rapid.T) {
		var d flow.Definition
		for i := range rapid.IntRange(0, 4).Draw(t, "steps") {
			value := rapid.SampledFrom([]string{``, `null`, `{}`, `[]`, `1`, `"x"`, `{"event_name":1}`, `{"branches":{}}`, `{"body":{"var":1}}`, `{"payload":{"a":[[[{"var":"x"}]]]}}`,
				`{"properties":1}`, `{"template":{"id":"x","variables":{"a":{"var":"contact.a.b"}}}}`, `{"reply_to":{}}`, `{"headers":{"":""}}`}).Draw(t, "config")
			d.Steps = append(d.Steps, flow.Step{Key: fmt.Sprintf("s%d", i), Type: rapid.SampledFrom(types).Draw(t, "type"), Config: raw(value)})
		}
		_, first := flow.Read(d)
		_, second := flow.Read(d)
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Fatalf("%v, then %v", first, second)
		}
	})
}

func TestSplitsFollowTheirWeightsAndStayTheSame(t *testing.T) {
	t.Parallel()
	graph, problems := flow.Read(flow.Definition{Steps: []flow.Step{trigger("a"), {Key: "b", Type: flow.Split, Config: raw(`{"branches":[{"key":"x","weight":1},{"key":"y","weight":3}]}`)}},
		Connections: []flow.Connection{connect("a b")}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	counts := map[string]int{}
	for i := range 4000 {
		run := fmt.Sprintf("run-%d", i)
		branch := graph.Step("b").Choose(run)
		if counts[branch]++; branch != graph.Step("b").Choose(run) {
			t.Fatal("a run was sent another way")
		}
	}
	if counts["x"] < 850 || counts["x"] > 1150 || counts["x"]+counts["y"] != 4000 {
		t.Errorf("%v", counts)
	}
}

func TestSchedulesComeAtTheirTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cron, zone, after, want string }{
		{"0 9 * * 1", "UTC", "2026-11-15T12:00:00Z", "2026-11-16T09:00:00Z"},
		{"0 9 * * 1", "Europe/Berlin", "2026-11-15T12:00:00Z", "2026-11-16T08:00:00Z"},
		{"*/15 * * * *", "UTC", "2026-11-15T12:00:00Z", "2026-11-15T12:15:00Z"},
		{"0 0 29 2 *", "UTC", "2026-11-15T12:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 1 * 7", "UTC", "2026-11-15T12:00:00Z", "2026-11-22T00:00:00Z"},
		{"5-10/5 8,20 * 12 *", "UTC", "2026-11-15T12:00:00Z", "2026-12-01T08:05:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-30T00:30:00Z"}, // the hour does not exist on that day
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}, // clocks show it twice on that day
		{"0 2,3 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"},
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}, // set back by half an hour
		{"0 9 * 10 *", "America/Asuncion", "2023-09-15T00:00:00Z", "2023-10-01T12:00:00Z"},    // the month begins without a midnight
		{"59 23 31 12 *", "America/New_York", "2026-12-31T00:00:00Z", "2027-01-01T04:59:00Z"},
	} {
		cron, err := flow.ParseCron(c.cron, c.zone)
		if err != nil {
			t.Errorf("%s: %v", c.cron, err)
			continue
		}
		after, _ := time.Parse(time.RFC3339, c.after)
		if got := cron.Next(after).Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s after %s: %s, want %s", c.cron, c.zone, c.after, got, c.want)
		}
	}
}

func TestVariablesStandForWhatIsThere(t *testing.T) {
	t.Parallel()
	scope := flow.Scope{"event": map[string]any{"a": map[string]any{"b": 1}}, "contact": map[string]any{"email": "x", "properties": map[string]any{"plan": "pro"}},
		"steps": map[string]any{"crm": map[string]any{"output": map[string]any{"status_code": 200, "body": map[string]any{"id": "7"}}}}}
	for name, want := range map[string]string{"event.a.b": "1", "event.x.y": "<nil>", "contact.plan": "pro", "contact.properties.plan": "pro", "steps.crm.output.id": "7",
		"steps.crm.output.status_code": "200", "steps.none.output.x": "<nil>", "credentials.x": "<nil>"} {
		if got := fmt.Sprint(scope.Resolve(map[string]any{"var": name})); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// People mend what they are told of and look again: what is told must not change by itself.
func TestTheSameMistakesAreToldEveryTime(t *testing.T) {
	t.Parallel()
	split := flow.Step{Key: "split", Type: flow.Split, Config: raw(`{"branches":[{"key":"x","weight":1},{"key":"y","weight":1},{"key":"z","weight":1}]}`)}
	circles := flow.Definition{Steps: []flow.Step{trigger("a"), split, delay("b", "1 minute"), delay("c", "1 minute"), delay("d", "1 minute")},
		Connections: []flow.Connection{connect("a split"), connect("b b"), connect("c c"), connect("d d"), {From: "split", To: "b", Type: flow.AlongABranch, Branch: "x"},
			{From: "split", To: "c", Type: flow.AlongABranch, Branch: "y"}, {From: "split", To: "d", Type: flow.AlongABranch, Branch: "z"}}}
	var values []string
	for i := range 150 { // more than are told at once
		values = append(values, fmt.Sprintf(`"v%d":{"var":"secrets.x"}`, i))
	}
	variables := flow.Definition{Steps: []flow.Step{trigger("a"), {Key: "b", Type: flow.EmitEvent, Config: raw(`{"event_name":"x","payload":{` + strings.Join(values, ",") + `}}`)}},
		Connections: []flow.Connection{connect("a b")}}
	for name, d := range map[string]flow.Definition{"circles": circles, "variables": variables} {
		_, first := flow.Read(d)
		for range 20 {
			if _, again := flow.Read(d); fmt.Sprint(again) != fmt.Sprint(first) || len(first) == 0 {
				t.Fatalf("%s: %v, then %v", name, first, again)
			}
		}
	}
}

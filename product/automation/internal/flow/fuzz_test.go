package flow_test

import (
	"encoding/json"
	"testing"
	"time"

	"postrider/product/automation/internal/flow"
)

// A definition is a graph or a list of what is wrong with it, never both and never neither.
func FuzzDefinitionsAreReadOrBlamed(f *testing.F) {
	for _, seed := range []string{
		`{"steps":[{"key":"a","type":"trigger","config":{"event_name":"go"}},{"key":"b","type":"delay","config":{"duration":"1 hour"}}],"connections":[{"from":"a","to":"b"}]}`,
		`{"steps":[{"key":"a","type":"trigger","config":{"schedule":"0 9 * * 1","timezone":"Europe/Berlin"}}],"connections":[]}`,
		`{"steps":[{"key":"a","type":"trigger"},{"key":"a","type":"delay"}],"connections":[{"from":"a","to":"a"}]}`,
		`{"steps":[{"key":"c","type":"condition","config":{"rules":{"type":"rule","field":"email","operator":"eq","value":"x"}}}]}`,
		`{"steps":[{"key":"h","type":"http_request","config":{"url":"https://x.test/{{contact.email}}","method":"POST","headers":{"a":"b"}}}]}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d flow.Definition
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		flow.CheckDraft(d)
		graph, problems := flow.Read(d)
		if (graph == nil) == (len(problems) == 0) {
			t.Fatalf("%q: graph %v, problems %v", raw, graph, problems)
		}
	})
}

// A schedule that is taken comes again and again, and never before it was asked for.
func FuzzSchedulesComeLater(f *testing.F) {
	for _, seed := range []string{"0 9 * * 1", "*/5 * * * *", "0 0 29 2 *", "59 23 31 12 7", "1-5,9 1-3/2 * * *", "* * * *", "60 * * * *", "0 2 * 3 0"} {
		f.Add(seed, "Europe/Berlin", int64(1_743_300_000))
	}
	f.Fuzz(func(t *testing.T, text, zone string, seconds int64) {
		cron, err := flow.ParseCron(text, zone)
		if err != nil {
			return
		}
		after := time.Unix(seconds%4_000_000_000, 0)
		if next := cron.Next(after); !next.IsZero() && !next.After(after) {
			t.Fatalf("%q in %s: %s after %s", text, zone, next, after)
		}
	})
}

func FuzzDurationsAreBounded(f *testing.F) {
	for _, seed := range []string{"1 hour", "3 days", "0 seconds", "99999999 weeks", "-1 day", " 2  minutes ", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := flow.ParseDuration(text); ok && (d < 0 || d > 2*365*24*time.Hour) {
			t.Fatalf("%q is %s", text, d)
		}
	})
}

package logs

import "testing"

func TestEntryOfAMailShowsTheBestOfManyAndTheLastOfOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recipients int
		states     []string
		want       string
		level      Level
	}{
		{1, []string{"delivered", "bounced"}, "bounced", Warning},
		{2, []string{"delivered", "bounced"}, "delivered", Info},
		{2, []string{"bounced", "delivered"}, "delivered", Info},
		{3, []string{"suppressed", "failed"}, "failed", Warning},
		{1, []string{"delivered", ""}, "delivered", Info},
		{2, []string{"opened", "clicked", "opened"}, "clicked", Info},
	} {
		e := Entry{Recipients: c.recipients, Status: "queued", Level: Info}
		for _, state := range c.states {
			e.become(state)
		}
		if e.Status != c.want || e.Level != c.level {
			t.Errorf("%d recipients, told %v: %s, %s", c.recipients, c.states, e.Status, e.Level)
		}
	}
}

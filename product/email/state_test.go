package email_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"postrider/product/email"
)

// anyStates draws the states of one or more recipients.
func anyStates(t *rapid.T) []email.State {
	return rapid.SliceOfN(rapid.SampledFrom(email.States), 1, 6).Draw(t, "states")
}

// steps returns where a recipient may go from a state.
func steps(from email.State) []email.State {
	return slices.DeleteFunc(slices.Clone(email.States), func(next email.State) bool { return !from.CanBecome(next) })
}

func TestStatesFollowTheTable(t *testing.T) {
	t.Parallel()
	for from, want := range map[email.State][]email.State{
		email.Scheduled:  {email.Scheduled, email.Queued, email.Failed, email.Cancelled},
		email.Queued:     {email.Sending, email.Bounced, email.Failed, email.Suppressed, email.Cancelled},
		email.Sending:    {email.Queued, email.Sending, email.Accepted, email.Sent, email.Bounced, email.Failed, email.Suppressed, email.Cancelled},
		email.Accepted:   {email.Sent, email.Delivered, email.Complained},
		email.Sent:       {email.Delivered, email.Opened, email.Clicked, email.Bounced, email.Complained},
		email.Delivered:  {email.Opened, email.Clicked, email.Bounced, email.Complained},
		email.Opened:     {email.Clicked, email.Complained},
		email.Clicked:    {email.Complained},
		email.Bounced:    {},
		email.Complained: {},
		email.Failed:     {},
		email.Suppressed: {},
		email.Cancelled:  {},
	} {
		if got := steps(from); !slices.Equal(got, want) {
			t.Errorf("%s can become %v, want %v", from, got, want)
		}
	}
}

func TestNothingIsSentAgainAfterItIsDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := rapid.SampledFrom(email.States).Draw(t, "start")
		for range rapid.IntRange(0, 10).Draw(t, "length") {
			next := steps(state)
			if len(next) == 0 {
				return
			}
			was := state
			state = rapid.SampledFrom(next).Draw(t, "step")
			if was.Terminal() && !state.Terminal() {
				t.Fatalf("%s is done but can become %s", was, state)
			}
		}
	})
}

func TestEmailIsDoneExactlyWhenAllItsRecipientsAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := anyStates(t)
		open := slices.ContainsFunc(states, func(s email.State) bool { return !s.Terminal() })
		if got := email.Overall(states); got.Terminal() == open {
			t.Fatalf("%v is %s", states, got)
		}
	})
}

func TestEmailThatIsDoneStaysDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := anyStates(t)
		if !email.Overall(states).Terminal() {
			return
		}
		changed := rapid.IntRange(0, len(states)-1).Draw(t, "recipient")
		if next := steps(states[changed]); len(next) > 0 {
			states[changed] = rapid.SampledFrom(next).Draw(t, "step")
		}
		if got := email.Overall(states); !got.Terminal() {
			t.Fatalf("%v is %s", states, got)
		}
	})
}

func TestOrderOfRecipientsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := anyStates(t)
		shuffled := rapid.Permutation(states).Draw(t, "shuffled")
		if a, b := email.Overall(states), email.Overall(shuffled); a != b {
			t.Fatalf("%v is %s, %v is %s", states, a, shuffled, b)
		}
	})
}

func TestOverallStateIsTheOneThatMattersMost(t *testing.T) {
	t.Parallel()
	const (
		scheduled, queued, sending, accepted, sent, delivered = email.Scheduled, email.Queued, email.Sending, email.Accepted, email.Sent, email.Delivered
		opened, clicked, bounced, complained                  = email.Opened, email.Clicked, email.Bounced, email.Complained
		failed, suppressed, cancelled                         = email.Failed, email.Suppressed, email.Cancelled
	)
	for _, c := range []struct {
		recipients []email.State
		want       email.State
	}{
		{[]email.State{bounced}, bounced},
		{[]email.State{scheduled, scheduled}, scheduled},
		{[]email.State{scheduled, sending}, sending},
		{[]email.State{scheduled, failed}, queued},
		{[]email.State{queued, sending}, sending},
		{[]email.State{sending, delivered}, accepted},
		{[]email.State{sending, complained, queued}, accepted},
		{[]email.State{queued, delivered}, queued},
		{[]email.State{accepted, delivered}, accepted},
		{[]email.State{delivered, opened, clicked}, clicked},
		{[]email.State{complained, opened}, opened},
		{[]email.State{complained, delivered}, complained},
		{[]email.State{sent, delivered}, delivered},
		{[]email.State{bounced, sent}, sent},
		{[]email.State{failed, bounced}, bounced},
		{[]email.State{suppressed, failed}, failed},
		{[]email.State{cancelled, suppressed}, suppressed},
	} {
		if got := email.Overall(c.recipients); got != c.want {
			t.Errorf("%v is %s, want %s", c.recipients, got, c.want)
		}
	}
}

func TestOlderSDKsReadTheirOwnWords(t *testing.T) {
	t.Parallel()
	want := map[email.State]string{
		email.Scheduled: "scheduled", email.Queued: "queued", email.Sending: "queued", email.Accepted: "delivered", email.Sent: "sent",
		email.Delivered: "delivered", email.Opened: "opened", email.Clicked: "clicked", email.Bounced: "bounced", email.Complained: "complained",
		email.Failed: "failed", email.Suppressed: "suppressed", email.Cancelled: "canceled",
	}
	for _, state := range email.States {
		if got := email.LastEvent(state, false); got != want[state] {
			t.Errorf("%s reads %q, want %q", state, got, want[state])
		}
	}
	if got := email.LastEvent(email.Sending, true); got != "delivery_delayed" {
		t.Errorf("sending after a delay reads %q", got)
	}
}

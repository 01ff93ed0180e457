package email

import "slices"

// State is where a recipient, or an email as a whole, stands.
type State string

// States in the order in which mail passes through them.
const (
	Scheduled  State = "scheduled"
	Queued     State = "queued"
	Sending    State = "sending"
	Accepted   State = "accepted_by_remote_mx"
	Sent       State = "sent"
	Delivered  State = "delivered"
	Opened     State = "opened"
	Clicked    State = "clicked"
	Bounced    State = "bounced"
	Complained State = "complained"
	Failed     State = "failed"
	Suppressed State = "suppressed"
	Cancelled  State = "cancelled"
)

// transitions is the whole law of states: what is not here does not happen. Mail that waits for another attempt can still be
// suppressed: who is put on the list gets no more mail, whatever had been tried before.
var transitions = map[State][]State{
	Scheduled: {Scheduled, Queued, Cancelled, Failed},
	Queued:    {Sending, Suppressed, Failed, Bounced, Cancelled},
	Sending:   {Queued, Sending, Accepted, Sent, Bounced, Failed, Suppressed, Cancelled},
	Accepted:  {Sent, Delivered, Complained},
	Sent:      {Delivered, Opened, Clicked, Bounced, Complained},
	Delivered: {Opened, Clicked, Bounced, Complained},
	Opened:    {Clicked, Complained},
	Clicked:   {Complained},
}

// CanBecome tells whether a recipient may go from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// openStates are those in which SMTP work is left.
var openStates = []State{Scheduled, Queued, Sending, Accepted}

// Terminal tells whether no SMTP work is left.
func (s State) Terminal() bool { return !slices.Contains(openStates, s) }

// States are all states, for filters and checks.
var States = []State{Scheduled, Queued, Sending, Accepted, Sent, Delivered, Opened, Clicked, Bounced, Complained, Failed, Suppressed, Cancelled}

// finalRank orders final states of several recipients: the email shows the first that is present.
var finalRank = []State{Clicked, Opened, Complained, Delivered, Sent, Bounced, Failed, Suppressed, Cancelled}

// Overall derives the status of an email from the states of its recipients. It is scheduled only as long as all of them are:
// once one has been picked up, a cancel would come too late.
func Overall(recipients []State) State {
	if len(slices.Compact(slices.Clone(recipients))) == 1 { // all agree
		return recipients[0]
	}
	has := func(s State) bool { return slices.Contains(recipients, s) }
	accepted := slices.ContainsFunc(recipients, func(s State) bool {
		return slices.Contains([]State{Accepted, Sent, Delivered, Opened, Clicked, Complained}, s)
	})
	switch {
	case has(Sending) && accepted:
		return Accepted
	case has(Sending):
		return Sending
	case has(Queued) || has(Scheduled):
		return Queued
	case has(Accepted):
		return Accepted
	}
	for _, s := range finalRank {
		if has(s) {
			return s
		}
	}
	return Queued
}

// LastEvent is the status in the vocabulary of older SDKs.
func LastEvent(s State, delayed bool) string {
	switch s {
	case Sending:
		if delayed {
			return "delivery_delayed"
		}
		return "queued"
	case Accepted:
		return "delivered"
	case Cancelled:
		return "canceled"
	}
	return string(s)
}

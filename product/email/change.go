package email

import (
	"strings"

	"postrider/platform/api"
)

// change is what an event says for those who count: what it changed about whom.
type change struct {
	// Previous is the state that events had told before, if this one tells another.
	Previous State `json:"previous_status,omitempty"`
	// ISP is who runs the mailbox of the recipient.
	ISP string `json:"isp,omitempty"`
	// DeliveredAt is when a mail that bounced after all had been delivered.
	DeliveredAt *api.Time `json:"delivered_at,omitempty"`
	// Relayed is how many recipients of an email that is sent are in the hands of a relay.
	Relayed int `json:"relayed,omitempty"`
}

// change begins to tell of a change of the recipient. It is to be asked before the state changes.
func (b *batch) change(r *Recipient) change { return change{Previous: b.toldState(r), ISP: r.ISP} }

// toldState is where a recipient stands as far as events have told: they are silent about attempts under way, and tell of an email
// as a whole when its time has come and when it has gone to a relay.
func (b *batch) toldState(r *Recipient) State {
	e := b.emails[r.Email]
	switch {
	case r.State == Scheduled && e.QueuedAt.IsZero():
		return Scheduled
	case !r.State.Terminal(), r.State == Sent && e.SentAt.IsZero():
		return Queued
	}
	return r.State
}

// mailHosts tell by the name of a mail server who runs it. Google and Microsoft run the mail of other companies, too.
var mailHosts = []struct{ suffix, isp string }{
	{".google.com", "corporate_google"}, {".googlemail.com", "corporate_google"}, {".mail.protection.outlook.com", "corporate_microsoft"},
	{".mx.microsoft", "corporate_microsoft"}, {".olc.protection.outlook.com", "microsoft"}, {".yahoodns.net", "yahoo"},
	{".mail.icloud.com", "apple"}, {".comcast.net", "comcast"}, {".gmx.net", "gmx_webde"}, {".web.de", "gmx_webde"},
	{".orange.fr", "orange"}, {".protonmail.ch", "proton"}, {".zoho.com", "zoho"}, {".zoho.eu", "zoho"},
}

// ispBehind tells who runs the mailboxes behind a mail server. What the address has told already is not doubted.
func ispBehind(host, known string) string {
	if known != "" && known != otherISP {
		return known
	}
	host = "." + strings.ToLower(strings.TrimSuffix(host, "."))
	for _, h := range mailHosts {
		if strings.HasSuffix(host, h.suffix) {
			return h.isp
		}
	}
	return otherISP
}

// otherISP are all whom nobody has named.
const otherISP = "other"

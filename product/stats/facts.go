package stats

import (
	"encoding/json"
	"slices"
	"time"
)

// facts is what an event of an email says that matters for counting.
type facts struct {
	CreatedAt   time.Time         `json:"created_at"`
	To          []json.RawMessage `json:"to"`
	Subject     string            `json:"subject"`
	Status      string            `json:"status"`
	Previous    string            `json:"previous_status"`
	Tags        map[string]string `json:"tags"`
	Template    string            `json:"template_id"`
	Version     int64             `json:"template_version"`
	Broadcast   string            `json:"broadcast_id"`
	ISP         string            `json:"isp"`
	DeliveredAt time.Time         `json:"delivered_at"`
	Relayed     int64             `json:"relayed"`
	Simulated   bool              `json:"simulated"`
	Delivery    struct {
		WaitedMs int64 `json:"waited_ms"`
	} `json:"delivery"`
	Delay struct {
		Class string `json:"class"`
		First bool   `json:"first"`
	} `json:"delay"`
	Bounce struct {
		Class        string `json:"class"`
		Asynchronous bool   `json:"asynchronous"`
	} `json:"bounce"`
	Failed struct {
		Reason string `json:"reason"`
	} `json:"failed"`
	Open  visit `json:"open"`
	Click visit `json:"click"`
}

// visit is an open or a click. Count is the how manieth of the recipient it is; those of programs are counted apart.
type visit struct {
	Automated bool `json:"automated"`
	Count     int  `json:"count"`
}

// Words of events that counting depends on.
const (
	scheduled = "scheduled"
	queued    = "queued"
	delivered = "delivered"
	expired   = "delivery_expired"
	block     = "block"
	otherISP  = "other"
)

// waits tells whether nothing has been decided about a recipient in this state.
func waits(state string) bool { return state == scheduled || state == queued }

// complete fills in what an event does not say because it was erased, or recorded before events said so.
func (f *facts) complete(kind string) {
	if f.ISP == "" {
		f.ISP = otherISP
	}
	if f.Previous == "" && !f.Bounce.Asynchronous && slices.Contains([]string{"email.delivered", "email.bounced", "email.failed", "email.suppressed"}, kind) {
		f.Previous = queued
	}
}

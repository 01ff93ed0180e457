package web

// badge is a state as people see it: never colour alone, always a picture and a word.
type badge struct{ State, Icon, Label string }

// states are how the states of every kind of record look. The style of a state is a class of its name; those of other records
// than emails borrow one that means the same.
var states = map[string]badge{
	"scheduled": {"scheduled", "calendar-clock", "Scheduled"}, "queued": {"queued", "clock", "Queued"}, "sending": {"sending", "loader-circle", "Sending"},
	"accepted_by_remote_mx": {"accepted_by_remote_mx", "server", "Accepted by remote MX"}, "sent": {"sent", "check", "Sent"},
	"delivered": {"delivered", "check-check", "Delivered"}, "opened": {"opened", "mail-open", "Opened"}, "clicked": {"clicked", "mouse-pointer-click", "Clicked"},
	"bounced": {"bounced", "mail-x", "Bounced"}, "complained": {"complained", "flag", "Complained"}, "failed": {"failed", "circle-x", "Failed"},
	"suppressed": {"suppressed", "circle-slash", "Suppressed"}, "cancelled": {"cancelled", "circle-minus", "Cancelled"}, "canceled": {"cancelled", "circle-minus", "Cancelled"},
	"delivery_delayed": {"suppressed", "hourglass", "Delayed"}, "delayed": {"suppressed", "hourglass", "Delayed"}, "deferred": {"suppressed", "hourglass", "Deferred"},
	"retrying": {"suppressed", "hourglass", "Retrying"}, "received": {"opened", "inbox", "Received"},

	"verified": {"delivered", "circle-check", "Verified"}, "pending": {"queued", "clock", "Pending"}, "not_started": {"queued", "clock", "Not started"},
	"temporary_failure": {"suppressed", "triangle-alert", "Temporary failure"}, "pass": {"delivered", "check", "Pass"}, "missing": {"queued", "clock", "Not found yet"},
	"partially_verified": {"suppressed", "circle-dashed", "Partly verified"}, "partially_failed": {"bounced", "triangle-alert", "Records are gone"},
	"mismatch": {"bounced", "x", "Does not match"}, "unverified": {"queued", "clock", "Not verified"},

	"active": {"delivered", "circle-check", "Active"}, "enabled": {"delivered", "circle-check", "Enabled"}, "disabled": {"cancelled", "circle-minus", "Disabled"},
	"paused": {"suppressed", "pause", "Paused"}, "archived": {"cancelled", "archive", "Archived"}, "draft": {"queued", "pencil", "Draft"},
	"published": {"delivered", "circle-check", "Published"}, "revoked": {"cancelled", "circle-slash", "Revoked"}, "expired": {"suppressed", "hourglass", "Expired"},
	"running": {"sending", "loader-circle", "Running"}, "waiting": {"queued", "clock", "Waiting"}, "completed": {"delivered", "circle-check", "Completed"},
	"succeeded": {"delivered", "circle-check", "Succeeded"}, "success": {"delivered", "circle-check", "Success"}, "skipped": {"cancelled", "circle-minus", "Skipped"},
	"processing": {"sending", "loader-circle", "Processing"}, "subscribed": {"delivered", "check", "Subscribed"}, "unsubscribed": {"cancelled", "circle-minus", "Unsubscribed"},
	"in_progress": {"sending", "loader-circle", "In progress"}, "opt_in": {"delivered", "check", "Subscribed"}, "opt_out": {"cancelled", "circle-minus", "Unsubscribed"},
	"unconfirmed": {"queued", "clock", "Not confirmed"}, "suspended": {"bounced", "circle-slash", "Suspended"}, "healthy": {"delivered", "circle-check", "Healthy"},
	"unhealthy": {"bounced", "triangle-alert", "Unhealthy"}, "warning": {"suppressed", "triangle-alert", "Warning"}, "error": {"bounced", "circle-x", "Error"},
	"info": {"queued", "info", "Info"}, "ok": {"delivered", "circle-check", "OK"}, "rejected": {"bounced", "circle-x", "Rejected"}, "accepted": {"accepted_by_remote_mx", "server", "Accepted"},

	"critical": {"bounced", "triangle-alert", "Critical"}, "degraded": {"suppressed", "triangle-alert", "Degraded"}, "blocked": {"bounced", "circle-slash", "Blocked"},
	"stopped": {"bounced", "pause", "Held by an operator"}, "idle": {"cancelled", "circle-dashed", "Idle"}, "resting": {"suppressed", "hourglass", "Backing off"},
	"slowed": {"suppressed", "timer", "Slowed"}, "adjusted": {"clicked", "gauge", "Limits of an operator"}, "quarantined": {"bounced", "circle-slash", "Quarantined"},
	"unreachable": {"bounced", "triangle-alert", "Unreachable"}, "probing": {"sending", "loader-circle", "Trying again"}, "offline": {"bounced", "power", "Offline"},
	"draining": {"suppressed", "hourglass", "Draining"}, "warming": {"scheduled", "gauge", "Warming up"}, "not_checked": {"queued", "clock", "Not checked"},
	"multiple": {"bounced", "x", "More than one"}, "too_many_lookups": {"bounced", "x", "Too many look-ups"}, "dns_error": {"suppressed", "triangle-alert", "No answer"},
	"fail": {"bounced", "x", "Fail"},

	"spam_ok": {"delivered", "circle-check", "Looks fine"}, "spam_review": {"suppressed", "triangle-alert", "Worth another look"}, "spam_spam": {"bounced", "flag", "Looks like spam"},
}

// newBadge returns how a state looks. One that this version does not know is grey and called by its name.
func newBadge(state string) badge {
	if known, ok := states[state]; ok {
		return known
	}
	return badge{"queued", "info", words(state)}
}

// sentences say what the state of an email means, and never promise the inbox.
var sentences = map[string]string{
	"scheduled":             "Waits until its time. You can still change or cancel it.",
	"queued":                "Passed every check and waits for a worker.",
	"sending":               "A worker signs it and hands it over.",
	"accepted_by_remote_mx": "The recipient's server said yes.",
	"sent":                  "Our part is finished. This is no proof that it is in the inbox.",
	"delivered":             "The receiving server took it. This is no proof that it is in the inbox.",
	"opened":                "The tracking picture was loaded. Privacy proxies do this, too.",
	"clicked":               "A tracked link was followed. Scanners do this, too.",
	"bounced":               "Refused for good. The address is suppressed if the mailbox does not exist.",
	"complained":            "The recipient reported it as spam. The address is suppressed now.",
	"failed":                "Stopped before delivery. The reason is below.",
	"suppressed":            "Not sent, because the address is on your suppression list.",
	"cancelled":             "Cancelled before it left.",
}

// field is an input with its label, and what is wrong with its value.
type field struct {
	Name, Label, Kind, Value, Hint, Error string
}

// newField returns the input of a form. The kind is that of HTML, or "textarea".
func newField(name, label, kind, value, hint, wrong string) field {
	return field{Name: name, Label: label, Kind: kind, Value: value, Hint: hint, Error: wrong}
}

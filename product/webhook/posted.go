package webhook

import (
	"time"

	"postrider/platform/space"
)

// Posted is one attempt, for whoever keeps a record of them.
type Posted struct {
	Workspace space.ID
	Delivery  Delivery
	Attempt   Attempt
	// Next is when it is tried again; zero if it is not.
	Next time.Time
}

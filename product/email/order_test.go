package email_test

import (
	"slices"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
)

// Emails whose last recipients fail at the same moment are told of one after the other, the first that was sent first.
func TestEmailsThatEndTogetherAreToldOfInOneOrder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		var sent []string
		for range 12 {
			sent = append(sent, in.Send("ann@example.net", "deferred@simulator.mail.postrider.test"))
		}
		in.Deliver()
		in.Clock.Advance(73 * time.Hour)
		in.Deliver()
		var told []string
		err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			told, err = db.All(tx, db.Value[string], `
				SELECT subject_id FROM event
				WHERE type = 'email.sent'
				ORDER BY seq`)
			return err
		})
		if err != nil || !slices.Equal(told, sent) {
			t.Errorf("sent %v, told %v: %v", sent, told, err)
		}
	})
}

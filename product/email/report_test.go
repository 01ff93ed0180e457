package email_test

import (
	"testing"

	"postrider/app/apptest"
	"postrider/product/email"
)

// Whoever is asked to come again about mail that waits for hours would be, until he gives up.
func TestAReportAboutMailThatWaitsForItsNextAttemptIsTakenAndChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": "busy@example.net"})
		in.Deliver()
		before := in.Email(id)
		for _, told := range []email.Reported{
			{Bounce: &email.LateBounce{Enhanced: "5.1.1", Message: "550 5.1.1 No such user."}},
			{Complaint: &email.Complaint{Type: "abuse", Source: "fbl"}},
		} {
			reported(t, in, id, "busy@example.net", told)
		}
		if after := in.Email(id); before.Text("status") != "sending" || string(after.Raw) != string(before.Raw) {
			t.Errorf("%s, it was %s", after.Raw, before.Raw)
		}
	})
}

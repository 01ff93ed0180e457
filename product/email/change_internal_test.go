package email

import "testing"

func TestWhoRunsAMailboxIsToldByItsServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, known, want string }{
		{"aspmx.l.google.com", "other", "corporate_google"}, {"ASPMX.L.GOOGLE.COM.", "", "corporate_google"}, {"gmail-smtp-in.l.google.com", "google", "google"},
		{"acme-com.mail.protection.outlook.com", "other", "corporate_microsoft"}, {"mta5.am0.yahoodns.net", "other", "yahoo"},
		{"mx1.notgoogle.com", "other", "other"}, {"google.com.evil.test", "other", "other"}, {"", "other", "other"},
	} {
		if got := ispBehind(c.host, c.known); got != c.want {
			t.Errorf("behind %q, known as %q, is %q, want %q", c.host, c.known, got, c.want)
		}
	}
}

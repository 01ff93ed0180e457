package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"postrider/product/account"
	"postrider/product/account/accounttest"
)

const newPassword = "an entirely new one"

func TestAPasswordResetEndsEverySessionAndIsGoodOnce(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		one, two := h.SignUp("olga@acme.test"), h.Browser()
		two.SignIn("olga@acme.test", accounttest.Password)
		for range 10 {
			h.Browser().SignIn("olga@acme.test", "wrong")
		}
		h.Browser().Must(202, "POST", "/auth/password/forgot", map[string]any{"email": "OLGA@acme.test"})
		token := h.LastLetter("olga@acme.test").Token("/reset/")
		reset := map[string]any{"token": token, "password": newPassword}

		h.Browser().Refused(400, "validation_error", "POST", "/auth/password/reset", map[string]any{"token": token, "password": "short"})
		h.Browser().Must(200, "POST", "/auth/password/reset", reset)

		one.Refused(401, "session_expired", "GET", "/auth/session", nil)
		two.Refused(401, "session_expired", "GET", "/auth/session", nil)
		h.Browser().Refused(400, "validation_error", "POST", "/auth/password/reset", reset)
		if got := h.Browser().SignIn("olga@acme.test", accounttest.Password); got.Code != 401 {
			t.Errorf("the old password was answered with %d", got.Code)
		}
		if got := h.Browser().SignIn("olga@acme.test", newPassword); got.Code != 200 || got.Value("user.email_verified") != true {
			t.Errorf("the new password was answered with %d %s", got.Code, got.Body)
		}
	})
}

func TestAResetEndsSignInsThatWaitForASecondFactorAndKeepsTheFactor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		p, _ := withPhone(h.SignUp("olga@acme.test"))
		b := h.Browser()
		open := challenge(b, "olga@acme.test")
		h.Browser().Must(202, "POST", "/auth/password/forgot", map[string]any{"email": "olga@acme.test"})
		h.Browser().Must(200, "POST", "/auth/password/reset", map[string]any{"token": h.LastLetter("olga@acme.test").Token("/reset/"), "password": newPassword})

		b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": p.next()})
		if got := b.SignIn("olga@acme.test", newPassword); got.Text("status") != "two_factor_required" {
			t.Fatalf("after a reset: %s", got.Body)
		}
	})
}

func TestForgottenPasswordsTellNobodyWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		h.LastLetter("olga@acme.test") // the verification
		var answers []string
		for _, email := range []string{"olga@acme.test", "nobody@acme.test", "no address", ""} {
			answers = append(answers, h.Browser().Must(202, "POST", "/auth/password/forgot", map[string]any{"email": email}).Body)
		}
		h.Work()

		if answers[0] != answers[1] || answers[0] != answers[2] || answers[0] != answers[3] {
			t.Errorf("answers differ: %q", answers)
		}
		if len(h.Mails.Letters) != 2 {
			t.Errorf("%d letters, want the verification and one reset", len(h.Mails.Letters))
		}
	})
}

func TestOneMailboxGetsFewLettersHoweverOftenSomebodyAsks(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		for range 3 {
			b.Must(202, "POST", "/auth/verify-email/resend", nil)
		}
		for range 20 {
			h.Browser().Must(202, "POST", "/auth/password/forgot", map[string]any{"email": "olga@acme.test"})
		}
		b.Refused(429, "rate_limit_exceeded", "POST", "/auth/verify-email/resend", nil)
		h.Work()

		if len(h.Mails.Letters) != 6 {
			t.Fatalf("%d letters, want that of the sign-up, three verifications and two resets", len(h.Mails.Letters))
		}
	})
}

func TestLinksLeadToTheConfiguredAddressAndExpire(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		evil := h.Browser()
		evil.Header = map[string]string{"X-Forwarded-Host": "evil.test", "Forwarded": "host=evil.test"}
		evil.Must(202, "POST", "/auth/password/forgot", map[string]any{"email": "olga@acme.test"})
		letter := h.LastLetter("olga@acme.test")
		if strings.Contains(letter.Text, "evil") || !strings.Contains(letter.Text, accounttest.BaseURL+"/reset/") {
			t.Errorf("letter: %s", letter.Text)
		}
		h.Clock.Move(time.Hour)

		h.Browser().Refused(410, "token_expired", "POST", "/auth/password/reset", map[string]any{"token": letter.Token("/reset/"), "password": newPassword})
	})
}

func TestATokenOpensOnlyTheDoorItWasMadeFor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		token := h.LastLetter("olga@acme.test").Token("/verify-email/")

		h.Browser().Refused(400, "validation_error", "POST", "/auth/password/reset", map[string]any{"token": token, "password": newPassword})
		h.Browser().Refused(400, "validation_error", "POST", "/auth/invitation", map[string]any{"token": token})
		h.Browser().Refused(400, "validation_error", "POST", "/auth/verify-email", map[string]any{"token": token[1:]})
	})
}

func TestChangingThePasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		here, there := h.SignUp("olga@acme.test"), h.Browser()
		there.SignIn("olga@acme.test", accounttest.Password)
		old := *here
		here.Refused(401, "invalid_credentials", "POST", "/account/password", map[string]any{"password": "wrong", "new_password": newPassword})
		here.Must(200, "POST", "/account/password", map[string]any{"password": accounttest.Password, "new_password": newPassword})

		here.Must(200, "GET", "/auth/session", nil)
		there.Refused(401, "session_expired", "GET", "/auth/session", nil)
		old.Refused(401, "session_expired", "GET", "/auth/session", nil)
	})
}

func TestAnAddressIsVerifiedByTheLinkInTheMail(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		first := h.LastLetter("olga@acme.test").Token("/verify-email/")
		h.Clock.Move(3 * 24 * time.Hour)
		b.SignIn("olga@acme.test", accounttest.Password)
		h.Browser().Refused(410, "token_expired", "POST", "/auth/verify-email", map[string]any{"token": first})
		b.Must(202, "POST", "/auth/verify-email/resend", nil)
		second := h.LastLetter("olga@acme.test").Token("/verify-email/")

		h.Browser().Must(200, "POST", "/auth/verify-email", map[string]any{"token": second})
		h.Browser().Must(200, "POST", "/auth/verify-email", map[string]any{"token": second})

		if got := b.Must(200, "GET", "/account", nil); got.Value("email_verified") != true {
			t.Fatalf("account: %s", got.Body)
		}
		b.Must(202, "POST", "/auth/verify-email/resend", nil)
		h.Work()
		if len(h.Mails.Letters) != 2 {
			t.Fatalf("%d letters; a verified address needs none", len(h.Mails.Letters))
		}
	})
}

func TestAMailIsTriedAgainUntilThePostmanTakesIt(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		h.Mails.Broken = errors.New("no route to the mail server")
		h.Work()
		h.Mails.Broken = nil
		h.Work()
		if len(h.Mails.Letters) != 0 {
			t.Fatal("tried again at once")
		}
		h.Clock.Move(10 * time.Minute)
		h.Work()

		if len(h.Mails.Letters) != 1 {
			t.Fatalf("%d letters", len(h.Mails.Letters))
		}
	})
}

func TestWithoutAPostmanOnlyDevelopersSeeLinks(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{Dev: true}, func(t *testing.T, h *accounttest.House) {
		h.SignUp("olga@acme.test")
		h.Work()
		if !strings.Contains(h.Log.String(), accounttest.BaseURL+"/verify-email/") {
			t.Fatal("no link in the log")
		}

		closed := account.New(h.World, h.DB, h.Keyring, h.Plans, account.Config{BaseURL: "https://closed.test"})
		h.Browser().Must(202, "POST", "/auth/password/forgot", map[string]any{"email": "olga@acme.test"})
		if _, err := closed.Workers()[0].Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if log := h.Log.String(); strings.Contains(log, "closed.test") || strings.Count(log, "account mail has no postman") != 2 {
			t.Fatalf("an installation for others logs links: %s", log)
		}
	})
}

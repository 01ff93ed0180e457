package account_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"postrider/product/account"
	"postrider/product/account/accounttest"
)

// phone is an authenticator app, of another make than ours.
type phone struct {
	house  *accounttest.House
	secret string
}

func (p phone) code() string {
	p.house.T.Helper()
	code, err := totp.GenerateCode(p.secret, p.house.Clock.Now())
	if err != nil {
		p.house.T.Fatal(err)
	}
	return code
}

// next waits for a code that was not used yet.
func (p phone) next() string {
	p.house.Clock.Move(31 * time.Second)
	return p.code()
}

// withPhone turns the second factor of a browser's user on and returns their phone and recovery codes.
func withPhone(b *accounttest.Browser) (phone, []string) {
	b.House.T.Helper()
	p := phone{b.House, b.Must(200, "POST", "/account/2fa/setup", nil).Text("secret")}
	enabled := b.Must(200, "POST", "/account/2fa/enable", map[string]any{"code": p.code()})
	var codes []string
	for i := range 10 {
		codes = append(codes, enabled.Text(fmt.Sprintf("recovery_codes.%d", i)))
	}
	return p, codes
}

// challenge signs in with the password and returns what the second step needs.
func challenge(b *accounttest.Browser, email string) string {
	b.House.T.Helper()
	got := b.SignIn(email, accounttest.Password)
	if got.Code != 200 || got.Text("status") != "two_factor_required" || got.Header.Get("Set-Cookie") != "" {
		b.House.T.Fatalf("sign-in with a second factor: %d %s", got.Code, got.Body)
	}
	return got.Text("challenge")
}

func TestSignInWithASecondFactor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		p, _ := withPhone(h.SignUp("olga@acme.test"))
		b := h.Browser()
		open := challenge(b, "olga@acme.test")

		b.Refused(401, "session_expired", "GET", "/auth/session", nil)
		code := p.next()
		got := b.Must(200, "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": code})

		if got.Value("two_factor_fresh") != true || got.Value("user.two_factor_enabled") != true {
			t.Errorf("session: %s", got.Body)
		}
		h.Browser().Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": p.next()})
		again := challenge(h.Browser(), "olga@acme.test")
		h.Browser().Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": again, "code": code})
	})
}

func TestANewSecretIsConfirmedWithACodeAsAppsShowIt(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		p := phone{h, b.Must(200, "POST", "/account/2fa/setup", nil).Text("secret")}
		code := p.code()
		b.Must(200, "POST", "/account/2fa/enable", map[string]any{"code": code[:3] + " " + code[3:]})
	})
}

func TestACodeIsGoodOnceAndNearItsTime(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		p, _ := withPhone(b)
		verify := func(code string) int { return b.Do("POST", "/auth/2fa/verify", map[string]any{"code": code}).Code }

		used := p.next()
		if verify(used) != 200 || verify(used) != 401 {
			t.Error("a code was not good exactly once")
		}
		late := p.next()
		h.Clock.Move(30 * time.Second)
		if verify(late) != 200 {
			t.Error("a code of the step before was refused")
		}
		older := p.next()
		newer := p.next()
		if verify(newer) != 200 || verify(older) != 401 {
			t.Error("an older code was good after a newer one")
		}
		stale := p.next()
		h.Clock.Move(61 * time.Second)
		if verify(stale) != 401 {
			t.Error("a code of two steps before was accepted")
		}
	})
}

func TestAChallengeTakesFiveTriesAndTenMinutes(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		p, _ := withPhone(h.SignUp("olga@acme.test"))
		b := h.Browser()
		open := challenge(b, "olga@acme.test")
		for range 5 {
			b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": "000000"})
		}

		b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": p.next()})
		late := challenge(b, "olga@acme.test")
		h.Clock.Move(10 * time.Minute)
		b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": late, "code": p.next()})
	})
}

func TestGuessedCodesLockTheAccountOverManyChallenges(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		p, _ := withPhone(h.SignUp("olga@acme.test"))
		b := h.Browser()
		for range 2 {
			open := challenge(b, "olga@acme.test")
			for range 5 {
				b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": open, "code": "000000"})
			}
		}

		if got := b.SignIn("olga@acme.test", accounttest.Password); got.Code != 429 {
			t.Fatalf("after ten guesses: %d %s", got.Code, got.Body)
		}
		h.Clock.Move(16 * time.Minute)
		b.Must(200, "POST", "/auth/login/2fa", map[string]any{"challenge": challenge(b, "olga@acme.test"), "code": p.next()})
	})
}

func TestARecoveryCodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner := h.SignUp("olga@acme.test")
		_, codes := withPhone(owner)
		b := h.Browser()

		b.Must(200, "POST", "/auth/login/2fa", map[string]any{"challenge": challenge(b, "olga@acme.test"), "recovery_code": codes[3]})
		b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": challenge(b, "olga@acme.test"), "recovery_code": codes[3]})

		renewed := owner.Must(200, "POST", "/account/2fa/recovery-codes", nil)
		b.Refused(401, "invalid_credentials", "POST", "/auth/login/2fa", map[string]any{"challenge": challenge(b, "olga@acme.test"), "recovery_code": codes[4]})
		b.Must(200, "POST", "/auth/login/2fa", map[string]any{"challenge": challenge(b, "olga@acme.test"), "recovery_code": renewed.Text("recovery_codes.0")})
	})
}

func TestTheSecondFactorGoesStaleAfterTenMinutes(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		p, _ := withPhone(b)
		h.Clock.Move(10 * time.Minute)
		stale := b.Refused(403, "two_factor_required", "POST", "/account/2fa/recovery-codes", nil)
		old := *b

		fresh := b.Must(200, "POST", "/auth/2fa/verify", map[string]any{"code": p.next()})

		if stale.Value("error.details.max_age_sec") != 600.0 {
			t.Errorf("details: %s", stale.Body)
		}
		at, err := time.Parse(time.RFC3339, fresh.Text("two_factor_at"))
		until, err2 := time.Parse(time.RFC3339, fresh.Text("fresh_until"))
		if err != nil || err2 != nil || until.Sub(at) != 10*time.Minute {
			t.Errorf("fresh: %s", fresh.Body)
		}
		b.Must(200, "POST", "/account/2fa/recovery-codes", nil)
		old.Refused(401, "session_expired", "GET", "/auth/session", nil)
	})
}

func TestWithdrawingAnInvitationNeedsAFreshSecondFactor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		owner, path := team(h)
		withPhone(owner)
		invited := owner.Must(201, "POST", path+"/invitations", map[string]any{"email": "ann@b.test", "role": "viewer"}).Text("id")

		h.Clock.Move(10 * time.Minute)

		owner.Refused(403, "two_factor_required", "DELETE", path+"/invitations/"+invited, nil)
	})
}

func TestSettingUpASecondFactorNeedsARecentPassword(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		h.Clock.Move(11 * time.Minute)
		b.Refused(403, "reauthentication_required", "POST", "/account/2fa/setup", nil)
		b.Refused(401, "invalid_credentials", "POST", "/auth/reauthenticate", map[string]any{"password": "wrong"})
		b.Must(200, "POST", "/auth/reauthenticate", map[string]any{"password": accounttest.Password})
		secret := b.Must(200, "POST", "/account/2fa/setup", nil).Text("secret")
		b.Refused(401, "invalid_credentials", "POST", "/account/2fa/enable", map[string]any{"code": "000000"})
		h.Clock.Move(10 * time.Minute)

		b.Refused(409, "invalid_state", "POST", "/account/2fa/enable", map[string]any{"code": phone{h, secret}.code()})
	})
}

func TestTurningTheSecondFactorOffNeedsPasswordAndCode(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		p, _ := withPhone(b)

		b.Refused(409, "invalid_state", "POST", "/account/2fa/setup", nil)
		b.Refused(401, "invalid_credentials", "POST", "/account/2fa/disable", map[string]any{"password": "wrong", "code": p.next()})
		b.Refused(401, "invalid_credentials", "POST", "/account/2fa/disable", map[string]any{"password": accounttest.Password, "code": "000000"})
		b.Refused(400, "validation_error", "POST", "/account/2fa/disable", map[string]any{"password": accounttest.Password})
		if got := h.Browser().SignIn("olga@acme.test", accounttest.Password); got.Text("status") != "two_factor_required" {
			t.Fatalf("the second factor is gone: %s", got.Body)
		}
		b.Must(200, "POST", "/account/2fa/disable", map[string]any{"password": accounttest.Password, "code": p.next()})
		if got := h.Browser().SignIn("olga@acme.test", accounttest.Password); got.Text("object") != "session" {
			t.Fatalf("the second factor is still asked for: %s", got.Body)
		}
	})
}

func TestThePasswordBuysNoMoreGuessesAtTheSecondFactor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		withPhone(b)
		h.Clock.Move(11 * time.Minute)
		guess := func() {
			b.Refused(401, "invalid_credentials", "POST", "/auth/2fa/verify", map[string]any{"code": "000000"})
		}
		for range 9 {
			guess()
		}

		b.Must(200, "POST", "/auth/reauthenticate", map[string]any{"password": accounttest.Password})

		guess()
		b.Refused(429, "rate_limit_exceeded", "POST", "/auth/2fa/verify", map[string]any{"code": "000000"})
	})
}

func TestAPasskeyIsNoWayAroundTheSecondFactor(t *testing.T) {
	t.Parallel()
	accounttest.Each(t, account.Config{}, func(t *testing.T, h *accounttest.House) {
		b := h.SignUp("olga@acme.test")
		b.Must(200, "POST", "/account/passkeys/begin", nil)
		p, _ := withPhone(b)
		h.Clock.Move(11 * time.Minute)
		b.Must(200, "POST", "/auth/reauthenticate", map[string]any{"password": accounttest.Password})

		b.Refused(403, "two_factor_required", "POST", "/account/passkeys/begin", nil)
		b.Refused(403, "two_factor_required", "DELETE", "/account/passkeys/"+missing, nil)

		b.Must(200, "POST", "/auth/2fa/verify", map[string]any{"code": p.next()})
		b.Must(200, "POST", "/account/passkeys/begin", nil)
		b.Refused(404, "not_found", "DELETE", "/account/passkeys/"+missing, nil)
	})
}

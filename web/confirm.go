package web

import (
	"net/http"
	"net/url"
	"strings"
)

// The names of inputs that prove who posts a form; the action that the form is about never sees them.
const (
	confirmCode     = "confirm_code"
	confirmPassword = "confirm_password"
)

// confirmPage asks for a second factor, or for the password, in the middle of an action. The form that was filled in is kept in
// it, and posted again with the proof.
type confirmPage struct {
	shell
	Action   string
	Kept     []keptValue
	Password bool
	Problem  *problem
}

type keptValue struct{ Name, Value string }

// confirmed checks the proof that came with a form. It tells whether it had to ask again.
func (v *visit) confirmed() (asked bool, err error) {
	code, password := strings.TrimSpace(v.value(confirmCode)), v.value(confirmPassword)
	v.form.Del(confirmCode)
	v.form.Del(confirmPassword)
	switch {
	case code != "":
		err = v.send(http.MethodPost, "/auth/2fa/verify", proofOf(code), nil)
	case password != "":
		err = v.send(http.MethodPost, "/auth/reauthenticate", map[string]string{"password": password}, nil)
	}
	if isRefused(err, "invalid_credentials", "validation_error") {
		return true, v.askToConfirm(&problem{Code: codeFor(password)}, err.(*problem))
	}
	return false, err
}

// proofOf tells codes of an app from recovery codes by their form: six digits.
func proofOf(code string) map[string]string {
	digits := strings.ReplaceAll(code, " ", "")
	if len(digits) == 6 && strings.Trim(digits, "0123456789") == "" {
		return map[string]string{"code": digits}
	}
	return map[string]string{"recovery_code": code}
}

func codeFor(password string) string {
	if password != "" {
		return "reauthentication_required"
	}
	return "two_factor_required"
}

func (v *visit) askToConfirm(why, wrong *problem) error {
	p := confirmPage{shell: v.shell("Confirm that it is you", "").with("passkey.js"), Action: v.r.URL.RequestURI(), Password: why.Code == "reauthentication_required", Problem: wrong}
	p.Kept = kept(v.form)
	return v.showStatus(http.StatusForbidden, "confirm", p)
}

func kept(form url.Values) []keptValue {
	var all []keptValue
	for name, values := range form {
		for _, value := range values {
			all = append(all, keptValue{name, value})
		}
	}
	return all
}

package account

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

const (
	defaultLocale   = "en"
	defaultTimezone = "UTC"
)

// localeForm is a language with an optional region, such as pt-BR (a small part of BCP 47).
var localeForm = regexp.MustCompile(`^[a-z]{2,3}(-[A-Z]{2})?$`)

// Profile is what users can change about themselves; what was not sent stays.
type Profile struct {
	Name     api.Optional[string] `json:"name" example:"Olga"`
	Locale   api.Optional[string] `json:"locale" example:"en"`
	Timezone api.Optional[string] `json:"timezone" example:"Europe/Berlin"`
}

func (p Profile) check() error {
	var wrong api.Fields
	if p.Name.Set {
		api.CheckName(&wrong, "name", p.Name.Value, maxName)
	}
	if p.Locale.Set && !localeForm.MatchString(p.Locale.Value) {
		wrong.Add("locale", "Must be a language such as en or pt-BR.")
	}
	if p.Timezone.Set {
		if _, err := time.LoadLocation(p.Timezone.Value); err != nil || p.Timezone.Value == "" || p.Timezone.Value == "Local" {
			wrong.Add("timezone", fmt.Sprintf("%q is not a time zone.", p.Timezone.Value))
		}
	}
	return wrong.Err()
}

// UpdateProfile changes the caller's profile.
func (s *Service) UpdateProfile(ctx context.Context, caller api.Caller, p Profile) (user User, err error) {
	if err := p.check(); err != nil {
		return User{}, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if _, user, err = mySession(tx, caller); err != nil {
			return err
		}
		user.Name = strings.TrimSpace(p.Name.Or(user.Name))
		user.Locale, user.Timezone = p.Locale.Or(user.Locale), p.Timezone.Or(user.Timezone)
		return updateProfile(tx, user)
	})
	return user, err
}

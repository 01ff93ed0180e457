package main

import (
	"time"

	"postrider/app"
)

// acmeFlags say who gives certificates to the installation.
type acmeFlags struct {
	Email string `help:"Address that the authority may write to about certificates." env:"POSTRIDER_ACME_EMAIL"`
	CA    string `name:"ca" help:"Directory of the ACME authority; Let's Encrypt if absent." placeholder:"URL" env:"POSTRIDER_ACME_CA"`
	Roots string `help:"PEM file of who vouches for a private authority." type:"path" env:"POSTRIDER_ACME_ROOTS"`

	RenewRatio float64       `hidden:"" env:"POSTRIDER_ACME_RENEW_RATIO"`
	LookEvery  time.Duration `hidden:"" env:"POSTRIDER_ACME_LOOK_EVERY"`
}

// config returns nil if nobody is asked: on a node that has neither the secure door nor words about the authority.
func (f acmeFlags) config(wanted bool) *app.ACME {
	if !wanted && f.Email == "" && f.CA == "" {
		return nil
	}
	return &app.ACME{Email: f.Email, Directory: f.CA, Roots: f.Roots, RenewRatio: f.RenewRatio, LookEvery: f.LookEvery}
}

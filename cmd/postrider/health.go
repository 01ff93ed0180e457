package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthCommand is for supervisors, such as that of a container, which have no other way to ask.
type healthCommand struct {
	Admin string `help:"Address of the admin door of the server." default:"127.0.0.1:8026" env:"POSTRIDER_ADMIN"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// healthWithin is how long the server may take; supervisors are not patient.
const healthWithin = 8 * time.Second

// Run asks, and fails if the answer is not yes.
func (c healthCommand) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(c.Admin)
	if err != nil {
		return mistake("admin", c.Admin, "must be host:port, such as 127.0.0.1:8026")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, done := context.WithTimeout(ctx, healthWithin)
	defer done()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		err = fmt.Errorf("no server answers at %s: %w; is it running, with --admin %s?", c.Admin, errors.Unwrap(err), c.Admin)
	} else {
		answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
		case http.StatusServiceUnavailable:
			err = errors.New("the server cannot take mail now: its database does not take writes; postrider doctor looks for the reason")
		default:
			err = fmt.Errorf("%s answers %s to /readyz, which no Postrider does; is --admin the address of its admin door?", c.Admin, answer.Status)
		}
	}
	if c.JSON {
		if failed := printJSON(map[string]bool{"ok": err == nil}); failed != nil {
			return failed
		}
	} else if err == nil {
		fmt.Println("ok")
	}
	return err
}

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"postrider/app"
	"postrider/app/install"
	"postrider/product/plan"
	"postrider/world"
)

// secretBytes is how long a made-up secret is.
const secretBytes = 32

type setupWorkspace struct {
	app.CreatedWorkspace
	OwnerEmail    string `json:"owner_email"`
	OwnerPassword string `json:"owner_password,omitempty"` // only if it was made up
}

// write makes the files, and the first workspace if it is wanted. A file that would be replaced stops it before anything is written.
func (c setupCommand) write(ctx context.Context, w world.World, site install.Site, report *setupReport) error {
	files := install.Files{Site: site, Program: c.Program, Config: c.File, Data: c.Data, User: c.User, ACMEEmail: c.ACMEEmail, DatabaseURL: c.DatabaseURL}
	if files.Program == "" {
		own, err := os.Executable()
		if err != nil {
			return fmt.Errorf("--program: %w", err)
		}
		files.Program = own
	}
	if c.DatabaseURL != "" {
		var err error
		if files.Secret, err = c.secret(w); err != nil {
			return err
		}
	}
	configuration, err := files.Configuration()
	if err != nil {
		return err
	}
	unit, err := files.Unit()
	if err != nil {
		return err
	}
	// The configuration may name a password; its group is the user that runs the program.
	type wanted struct {
		path    string
		content []byte
		mode    fs.FileMode
	}
	both := []wanted{{c.File, configuration, 0o640}}
	if c.Unit != "" {
		both = append(both, wanted{c.Unit, unit, 0o644})
	}
	for _, file := range both {
		if err := install.Keep(file.path, file.content); err != nil && !c.Force {
			return err
		}
	}
	for _, file := range both {
		written, err := install.Write(file.path, file.content, file.mode)
		if err != nil {
			return err
		}
		report.Files = append(report.Files, setupFile{file.path, written})
	}
	if c.OwnerEmail != "" {
		if err := c.createWorkspace(ctx, w, files.Secret, report); err != nil {
			return err
		}
	}
	return c.handOver()
}

// secret is the one of the file that is there already, or of the data that was moved into the database: with another, nobody could open
// what it holds. Without either it is made up.
func (c setupCommand) secret(w world.World) (string, error) {
	var there struct{ Secret string }
	if _, err := toml.DecodeFile(c.File, &there); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is there already and its secret cannot be read, which must be kept: %w", c.File, err)
	}
	if there.Secret != "" {
		return there.Secret, nil
	}
	moved, err := os.ReadFile(filepath.Join(c.Data, "secret"))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(string(moved)), err
	}
	return base64.RawURLEncoding.EncodeToString(w.Bytes(secretBytes)), nil
}

func (c setupCommand) createWorkspace(ctx context.Context, w world.World, secret string, report *setupReport) error {
	made := setupWorkspace{OwnerEmail: c.OwnerEmail}
	password := c.OwnerPassword
	if password == "" {
		password = base64.RawURLEncoding.EncodeToString(w.Bytes(secretBytes / 2))
		made.OwnerPassword = password
	}
	flags := storageFlags{Data: c.Data, DatabaseURL: c.DatabaseURL, Secret: secret}
	err := operate(ctx, flags, func(a *app.App) (err error) {
		made.CreatedWorkspace, err = a.CreateWorkspace(ctx, app.NewWorkspace{Name: c.WorkspaceName, Plan: plan.Unlimited, OwnerEmail: c.OwnerEmail, OwnerPassword: password})
		return err
	})
	report.Workspace = &made
	if err != nil {
		return fmt.Errorf("first workspace: %w", err)
	}
	return nil
}

// handOver gives what root has made to the user that runs the program, if there is one yet.
func (c setupCommand) handOver() error {
	owner, err := user.Lookup(c.User)
	if os.Geteuid() != 0 || err != nil {
		return nil
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	if err := os.Chown(c.File, 0, gid); err != nil {
		return err
	}
	err = filepath.WalkDir(c.Data, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// next are the commands that are left to do, in order.
func (c setupCommand) next(report setupReport) []string {
	var next []string
	if _, err := user.Lookup(c.User); err != nil {
		next = append(next, fmt.Sprintf("useradd --system --home-dir %s --shell /usr/sbin/nologin %s", c.Data, c.User),
			fmt.Sprintf("chgrp %s %s", c.User, c.File))
		if report.Workspace != nil {
			next = append(next, fmt.Sprintf("chown -R %s: %s", c.User, c.Data))
		}
	}
	if c.Unit != "" {
		next = append(next, "systemctl daemon-reload", "systemctl enable --now "+filepath.Base(c.Unit))
	} else {
		next = append(next, "postrider serve --config "+c.File)
	}
	if report.Workspace == nil {
		next = append(next, fmt.Sprintf("sudo -u %s postrider workspace create --config %s --name Acme --owner-email you@%s --owner-password '…'", c.User, c.File, report.Domain))
	}
	return append(next, "postrider doctor --config "+c.File)
}

// print tells a person all of it.
func (c setupCommand) print(report setupReport) {
	out := newTerminal(os.Stdout)
	marks := map[install.State]string{install.Published: out.paint(green, "ok       "), install.Missing: out.paint(red, "missing  "),
		install.Different: out.paint(red, "different"), install.Unanswered: out.paint(yellow, "no answer")}
	fmt.Printf("%s\n\n", out.paint(bold, "DNS records of "+report.Domain))
	for _, r := range report.Records {
		mark := marks[r.State]
		if r.State == install.Missing && !r.Required {
			mark = out.paint(yellow, "advised  ")
		}
		fmt.Printf("%s  %s\n", mark, r.Record)
		if r.State == install.Different {
			fmt.Printf("           there is: %s\n", strings.Join(r.Found, "; "))
		}
		if r.State != install.Published {
			fmt.Printf("           %s\n", r.Purpose)
		}
	}
	for _, file := range report.Files {
		verb := "unchanged"
		if file.Written {
			verb = "written"
		}
		fmt.Printf("\n%s %s", file.Path, verb)
	}
	if w := report.Workspace; w != nil {
		fmt.Printf("\n\nWorkspace %s\nOwner     %s\nAPI key   %s  (shown once)", w.WorkspaceID, w.OwnerEmail, w.APIKey)
		if w.OwnerPassword != "" {
			fmt.Printf("\nPassword  %s  (shown once)", w.OwnerPassword)
		}
	}
	fmt.Printf("\n\n%s\n\n  %s\n", out.paint(bold, "Next"), strings.Join(report.Next, "\n  "))
}

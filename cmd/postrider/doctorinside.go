package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"postrider/app"
	"postrider/app/doctor"
	"postrider/platform/certstore"
	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/inbound"
	"postrider/world"
)

// hostname is that of the public address, the domain if none is given.
func (c doctorCommand) hostname() string {
	if base, err := url.Parse(c.BaseURL); err == nil && base.Hostname() != "" {
		return base.Hostname()
	}
	return c.Domain
}

// open opens what is there. A doctor makes no installation of his own where none is.
func (c doctorCommand) open(ctx context.Context, w world.World) (app.Stores, error) {
	if err := c.storage().CheckPresent(); err != nil {
		return app.Stores{}, err
	}
	return c.storage().Open(ctx, w)
}

func (c doctorCommand) checkDatabase(w world.World) func(context.Context) error {
	return func(ctx context.Context) error {
		stores, err := c.open(ctx, w)
		if err != nil {
			return err
		}
		defer stores.DB.Close()
		migrated, err := stores.DB.Migrated(ctx)
		if err == nil && !migrated {
			err = errors.New("its schema is older than this program")
		}
		if err == nil {
			err = stores.DB.Check(ctx)
		}
		return err
	}
}

// checkBucket is nil if blobs are in files: a doctor who writes there as another user leaves folders that the server cannot write to.
func (c doctorCommand) checkBucket(w world.World) func(context.Context) error {
	if c.BlobURL == "" {
		return nil
	}
	return func(ctx context.Context) error { return c.storage().TryBucket(ctx, w) }
}

// reportDays is how far back reports of others are read. Most come a day late.
const reportDays = 7

// readReports adds up what other providers have reported lately about all domains.
func (c doctorCommand) readReports(w world.World) func(context.Context) (inbound.Digest, error) {
	return func(ctx context.Context) (all inbound.Digest, err error) {
		stores, err := c.open(ctx, w)
		if err != nil {
			return all, err
		}
		defer stores.DB.Close()
		err = stores.DB.Read(ctx, func(tx *db.Tx) error {
			digests, err := inbound.Digests(tx, nil, tx.Now().AddDate(0, 0, -reportDays))
			for _, d := range digests {
				all = all.Plus(d)
			}
			return err
		})
		return all, err
	}
}

// mostFailing bounds how many domains are told of.
const mostFailing = 20

// lookInside asks the database how the installation is.
func (c doctorCommand) lookInside(w world.World) func(context.Context) (doctor.Inside, error) {
	return func(ctx context.Context) (in doctor.Inside, err error) {
		stores, err := c.open(ctx, w)
		if err != nil {
			return in, err
		}
		defer stores.DB.Close()
		a := app.Assemble(w, stores.DB, stores.Blobs, stores.Keys, app.Settings{ServiceDomain: c.Domain})
		in.FileBlobs = c.BlobURL == ""
		if contested, err := custody.Contested(ctx, stores.DB, stores.Blobs); err == nil { // a bucket that cannot be asked has been told of already
			in.Contested = contested
		}
		aside, err := custody.Aside(ctx, stores.DB)
		if err != nil {
			return in, err
		}
		in.Copied = aside == custody.Copied
		var failing []domain.Domain
		err = stores.DB.Read(ctx, func(tx *db.Tx) error {
			if in.Live, err = a.Nodes.Live(tx); err != nil {
				return err
			}
			if failing, err = a.Domains.Failing(tx, mostFailing); err != nil {
				return err
			}
			loads, err := queue.Survey(tx)
			for _, load := range loads {
				if !email.IsMail(load.Lane) {
					continue
				}
				in.Ready += load.Ready
				if in.Oldest.IsZero() || !load.Oldest.IsZero() && load.Oldest.Before(in.Oldest) {
					in.Oldest = load.Oldest
				}
			}
			return err
		})
		if err != nil {
			return in, err
		}
		for _, d := range failing {
			told, err := failingDomain(ctx, a, d)
			if err != nil {
				return in, err
			}
			in.Failing = append(in.Failing, told)
		}
		in.Certificate, err = storedCertificate(ctx, certstore.New(w, stores.DB, stores.Keys), domain.Hosts{Service: c.Domain}.MX()[0])
		return in, err
	}
}

// failingDomain names the first record of a domain that is not as it must be.
func failingDomain(ctx context.Context, a *app.App, d domain.Domain) (doctor.FailingDomain, error) {
	told := doctor.FailingDomain{Name: d.Name, Problem: "its records are not as they must be", Publish: "Show its owner: GET /v1/domains/" + string(d.ID)}
	records, err := a.Domains.RecordsFor(ctx, d.Name)
	for _, r := range records {
		if r.Required && r.Message != "" {
			told.Problem = strings.TrimSuffix(string(r.Message), ".")
			told.Publish = fmt.Sprintf("Publish: %s. %s %q", r.Name, r.Type, r.Value)
			break
		}
	}
	return told, err
}

// storedCertificate is the one that was got for a host by itself, nil if there is none.
func storedCertificate(ctx context.Context, store *certstore.Store, host string) (*x509.Certificate, error) {
	paths, err := store.List(ctx, "certificates", true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !strings.HasSuffix(path, "/"+host+".crt") {
			continue
		}
		raw, err := store.Load(ctx, path)
		if err != nil {
			return nil, err
		}
		if block, _ := pem.Decode(raw); block != nil {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, nil
}

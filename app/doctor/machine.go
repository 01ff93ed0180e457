package doctor

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"postrider/mail/standing"
	"postrider/platform/db"
	"postrider/product/domain"
)

func (e *examination) disk(context.Context) {
	dir := e.patient.Dir
	if dir == "" {
		return
	}
	file, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		e.note("disk", standing.Fail, "Create the directory and make it writable for the user that runs Postrider: install -d -m 700 "+dir, "%s cannot be written: %v.", dir, err)
		return
	}
	file.Close()
	os.Remove(file.Name())
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		e.note("disk", standing.Warn, "", "How full the disk is cannot be told: %v.", err)
		return
	}
	free := int64(fs.Bavail) * fs.Bsize
	if free < lowDisk {
		e.note("disk", standing.Fail, "Free or add disk space before mail is refused.", "Only %d MB are free in %s.", free>>20, dir)
		return
	}
	e.note("disk", standing.Good, "", "%s is writable, %d GB are free.", dir, free>>30)
}

func (e *examination) database(ctx context.Context) {
	if e.patient.Database == nil {
		return
	}
	err := e.patient.Database(ctx)
	if errors.Is(err, db.ErrNewer) {
		e.note("database", standing.Fail, "Install the version of postrider that ran here last, or a newer one.", "The database cannot be used: %v.", err)
		return
	}
	if err != nil {
		e.note("database", standing.Fail, "Check --data and --database-url, and that the server runs; then: postrider migrate", "The database cannot be used: %v.", err)
		return
	}
	e.note("database", standing.Good, "", "The database answers and its schema is up to date.")
}

// bucketWithin is how long a bucket may take.
const bucketWithin = 15 * time.Second

func (e *examination) bucket(ctx context.Context) {
	if e.patient.Bucket == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, bucketWithin)
	defer cancel()
	if err := e.patient.Bucket(ctx); err != nil {
		e.note("bucket", standing.Fail, "Check --blob-url: the host, the bucket and its region, and that the key may put, get, list and delete.",
			"Large bodies and attachments cannot be kept: %v.", err)
		return
	}
	e.note("bucket", standing.Good, "", "The bucket keeps what is put into it.")
}

// fewFiles is too few for the connections of a mail server.
const fewFiles = 4096

func (e *examination) limits(context.Context) {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil || files.Max >= fewFiles {
		return
	}
	e.note("limits", standing.Warn, "Put LimitNOFILE=65536 into the systemd unit, or raise ulimit -n.", "Only %d files and connections may be open at once.", files.Max)
}

func (e *examination) certificate(context.Context) {
	if e.patient.Certificate == "" && e.shown != nil {
		e.add(standing.CertificateInUse(e.shown, domain.Hosts{Service: e.patient.Domain}.MX()[0], e.world.Clock.Now()))
		return
	}
	e.add(standing.Certificate(e.patient.Certificate, domain.Hosts{Service: e.patient.Domain}.MX()[0], e.world.Clock.Now()))
}

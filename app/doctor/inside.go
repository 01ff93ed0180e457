package doctor

import (
	"context"
	"crypto/x509"
	"time"

	"postrider/mail/standing"
)

// Inside is how an installation is, by its own record.
type Inside struct {
	// Live is how many servers run.
	Live int64
	// FileBlobs tells that large bodies and attachments are kept in the directory of one server.
	FileBlobs bool
	// Copied tells that it is a copy that nobody has adopted.
	Copied bool
	// Contested tells that another database has signed the blob store.
	Contested bool
	// Ready is how many recipients are due, Oldest since when the first of them is; zero if none is.
	Ready  int64
	Oldest time.Time
	// Failing are domains whose mail is refused or not believed.
	Failing []FailingDomain
	// Certificate is what was got for the mail host by itself, nil if nothing was.
	Certificate *x509.Certificate
}

// FailingDomain is one whose records are not as they must be, and the record to publish.
type FailingDomain struct{ Name, Problem, Publish string }

// stuckAfter is how long due mail may wait before something is wrong with the workers.
const stuckAfter = 10 * time.Minute

func (e *examination) inside(ctx context.Context) {
	if e.patient.Inside == nil {
		return
	}
	in, err := e.patient.Inside(ctx)
	if err != nil {
		return // the database has been told of already
	}
	e.shown = in.Certificate
	if in.Copied {
		e.note("copy", standing.Warn, "If the original is gone for good, run: postrider adopt",
			"This database comes from a backup, and nothing is sent from it, because the original may have sent it.")
	}
	if in.Live == 0 {
		e.note("server", standing.Warn, "Start it: systemctl start postrider, or postrider serve", "No server is running on this database, so nothing is accepted or sent.")
	} else {
		e.note("server", standing.Good, "", "%d running on this database.", in.Live)
	}
	if in.Live > 1 && in.FileBlobs {
		e.note("blobs", standing.Warn, "Give every node the same bucket with --blob-url; "+
			"postrider migrate --from DIRECTORY --from postgres://… --to s3://… moves what is in files",
			"%d servers run, and large bodies and attachments are in files: a server that does not see the same files cannot send them.", in.Live)
	}
	if in.Contested {
		e.note("blobs", standing.Warn, "Stop the servers on the other one, then run: postrider adopt",
			"Another database, or a copy of this one, uses the same bucket or blob directory. Until it is said whose it is, nothing is removed from it.")
	}
	if waited := e.world.Clock.Now().Sub(in.Oldest); !in.Oldest.IsZero() && waited > stuckAfter {
		e.note("queue", standing.Fail, "Run a server with the role worker (--roles) and look into its log: journalctl -u postrider", "%d recipients are due, the first since %s ago, and nobody sends to them.", in.Ready, waited.Round(time.Minute))
	} else {
		e.note("queue", standing.Good, "", "%d recipients are due.", in.Ready)
	}
	for _, d := range in.Failing {
		e.note("domains", standing.Warn, d.Publish, "Mail from %s is refused or not believed: %s.", d.Name, d.Problem)
	}
}

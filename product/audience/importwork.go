package audience

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
)

const (
	// importLease outlives a step by far; a step is a few seconds of work.
	importLease = 2 * time.Minute
	// importBatch is how many rows one transaction imports, stepBatches how many transactions make a step.
	importBatch = 1000
	stepBatches = 10
	// importRetry is how soon an import is tried again when the store of files or the database was away.
	importRetry = 30 * time.Second
	// maxErrorsKept is how many failed rows are remembered with their reasons.
	maxErrorsKept  = 100_000
	maxErrorsShown = 100
)

var errTooManyRows = fmt.Errorf("the file has more than %d rows; cut it into several", maxImportRows)

// stepImport imports some rows of the import that has waited longest. Every batch moves the place in the file in the transaction of
// its contacts, so a crash repeats nothing and loses nothing.
func (s *Service) stepImport(ctx context.Context) (bool, error) {
	items, err := s.holder.Claim(ctx, ImportLane, importLease, 1)
	if err != nil || len(items) == 0 {
		return false, err
	}
	item := items[0]
	done, err := s.workOff(ctx, ImportID(item.ID))
	if err != nil {
		s.world.Log.Error("import interrupted", "import", item.ID, "tries", item.Claims, "error", err)
	}
	return true, s.db.Write(ctx, func(tx *db.Tx) error {
		switch {
		case done:
			return queue.Finish(tx, item.ID)
		case err != nil:
			_, err := queue.Postpone(tx, item, tx.Now().Add(importRetry))
			return err
		}
		_, err := queue.Postpone(tx, item, tx.Now())
		return err
	})
}

// workOff imports the next batches and tells whether the import has ended.
func (s *Service) workOff(ctx context.Context, id ImportID) (done bool, err error) {
	var im Import
	var known schema
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if im, err = selectImportForWork(tx, id); err != nil {
			return err
		}
		known, err = loadSchema(tx, im.Workspace)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return true, nil
	}
	if err != nil || im.Status == Completed || im.Status == Failed {
		return err == nil, err
	}
	file, err := s.parts.Blobs.Open(ctx, im.blob)
	if err != nil {
		return s.endIfOfFile(ctx, im, err)
	}
	defer file.Close()
	next, err := openRows(file, im, known, im.wishOfAll(known, s.world.Clock.Now()), s.world.Clock.Now())
	if err != nil {
		return s.endIfOfFile(ctx, im, err)
	}
	for range stepBatches {
		ended, err := s.importSome(ctx, &im, known, next)
		if err != nil {
			return s.endIfOfFile(ctx, im, err)
		}
		if ended {
			return true, s.endImport(ctx, im, nil)
		}
	}
	return false, nil
}

// endIfOfFile ends an import that its file stops for good. Other trouble passes, and the import is tried again.
func (s *Service) endIfOfFile(ctx context.Context, im Import, cause error) (ended bool, err error) {
	if isOfFile(cause) {
		return true, s.endImport(ctx, im, cause)
	}
	return false, fmt.Errorf("read import %s: %w", im.ID, cause)
}

// wishOfAll is what the import says of every contact.
func (im Import) wishOfAll(known schema, now time.Time) wish {
	all := wish{topics: map[int64]Subscription{}, presumed: &Consent{Source: "import", At: now}}
	if l, err := known.listByID(string(im.List)); err == nil {
		all.lists = []List{l}
	}
	for _, id := range im.options.Segments {
		if g := known.Segments[id]; g != nil {
			all.segments = append(all.segments, g.Number)
		}
	}
	for id, subscription := range im.options.Topics {
		if t, ok := known.Topics[id]; ok {
			all.topics[t.Number] = subscription
		}
	}
	return all
}

// importSome imports a batch. ended is true after the last.
func (s *Service) importSome(ctx context.Context, im *Import, known schema, next rows) (ended bool, err error) {
	batch, read := make([]importRow, 0, importBatch), next.offset()
	for len(batch) < importBatch && !ended {
		row, err := next.next()
		switch {
		case errors.Is(err, io.EOF):
			ended = true
		case err != nil:
			if len(batch) > 0 { // what came before the row that cannot be read is good
				if err := s.saveBatch(ctx, im, known, batch, read); err != nil {
					return false, err
				}
			}
			return false, err
		default:
			batch, read = append(batch, row), next.offset()
		}
	}
	if len(batch) == 0 {
		return ended, nil
	}
	return ended, s.saveBatch(ctx, im, known, batch, read)
}

// saveBatch writes a batch and how far the import is.
func (s *Service) saveBatch(ctx context.Context, im *Import, known schema, batch []importRow, offset int64) error {
	limit, err := s.limitOf(im.options.Plan)
	if err != nil {
		return err
	}
	var after Import
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		after = *im
		after.done, after.Status = offset, InProgress
		if after.StartedAt.IsZero() {
			after.StartedAt = tx.Now()
		}
		failures, written, err := s.importRows(tx, &after, known, limit, batch)
		if err != nil {
			return err
		}
		if after.Counts.Total > maxImportRows {
			return errTooManyRows
		}
		if im.Counts.Failed < maxErrorsKept {
			if err := insertImportErrors(tx, im.ID, failures); err != nil {
				return err
			}
		}
		if im.options.Confirmations {
			if err := s.askJoined(tx, known, *im, written); err != nil {
				return err
			}
		}
		moved, err := updateImport(tx, after, im.done, im.Counts.Total)
		if err == nil && !moved {
			err = errOvertaken
		}
		return err
	})
	if err == nil {
		*im = after
	}
	return err
}

// errOvertaken means that another process has gone on with an import whose lease had run out.
var errOvertaken = errors.New("another process goes on with the import")

// importRows saves the contacts of a batch and counts what became of them.
func (s *Service) importRows(tx *db.Tx, im *Import, known schema, limit *int64, batch []importRow) (failures []importError, written []Contact, err error) {
	erased, err := selectErased(tx, im.Workspace, addressesOf(batch), im.CreatedAt)
	if err != nil {
		return nil, nil, err
	}
	first := im.Counts.Total + 1
	var wishes []wish
	var places []int
	fail := func(i int, email, message string) {
		im.Counts.Failed++
		failures = append(failures, importError{Row: first + int64(i), Email: api.Ref(short(email)), Message: message})
	}
	for i, row := range batch {
		switch {
		case erased[row.address]:
			fail(i, "", "The person was forgotten after the import was asked for.")
		case row.problem != "":
			fail(i, row.email, row.problem)
		default:
			wishes, places = append(wishes, row.wish), append(places, i)
		}
	}
	im.Counts.Total += int64(len(batch))
	if len(wishes) == 0 {
		return failures, nil, nil
	}
	outcomes, err := s.save(tx, im.Workspace, known, limit, wishes, im.options.OnConflict)
	for k, o := range outcomes {
		switch {
		case o.full:
			fail(places[k], batch[places[k]].email, "The plan has no room for more contacts.")
		case o.skipped:
			im.Counts.Skipped++
		case o.created:
			im.Counts.Created++
			written = append(written, *o.Contact)
		default:
			im.Counts.Updated++
			written = append(written, *o.Contact)
		}
	}
	return failures, written, err
}

func addressesOf(batch []importRow) []string {
	addresses := make([]string, len(batch))
	for i, row := range batch {
		addresses[i] = row.address
	}
	return addresses
}

// short cuts what somebody took for an address.
func short(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// endImport writes the file of errors and closes the import. A cause means that it could not go on.
func (s *Service) endImport(ctx context.Context, im Import, cause error) error {
	var err error
	if im.Counts.Failed > 0 {
		if im.errors, err = s.writeErrors(ctx, im.ID); err != nil {
			return err
		}
	}
	im.Status, im.blob = Completed, ""
	kind := importedEvent
	if cause != nil {
		im.Status, im.Failure, kind = Failed, sentence(cause), importFailedEvent
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		im.CompletedAt = tx.Now()
		if im.StartedAt.IsZero() {
			im.StartedAt = tx.Now()
		}
		ended, err := closeImport(tx, im)
		if err != nil || !ended {
			return err
		}
		if err := trimImportErrors(tx, im.ID, maxErrorsShown); err != nil {
			return err
		}
		shown, err := selectImportErrors(tx, im.ID, 0, maxErrorsShown)
		if err != nil {
			return err
		}
		record := s.newImportRecord(im, shown)
		return event.Append(tx, s.newEvent(tx, im.Workspace, kind, string(im.ID), "", record))
	})
}

// sentence makes one for people of an error of ours.
func sentence(err error) string {
	text := err.Error()
	return "Stopped: " + text + "."
}

package audience

import (
	"context"
	"io"
	"strconv"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/product/audience/internal/table"
)

// errorsPage is how many failed rows are read at a time for the file of them.
const errorsPage = 1000

// writeErrors puts the rows that failed into a file, without holding them all.
func (s *Service) writeErrors(ctx context.Context, id ImportID) (blob.Ref, error) {
	info, err := s.putFile(ctx, func(out io.Writer) error { return s.printErrors(ctx, id, out) })
	return info.Ref, err
}

// putFile puts a file into the store while it is written.
func (s *Service) putFile(ctx context.Context, print func(io.Writer) error) (blob.Info, error) {
	read, write := io.Pipe()
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		write.CloseWithError(print(write))
	}()
	info, err := s.parts.Blobs.Put(ctx, read, maxPlain)
	read.CloseWithError(err) // ends the writer, should the store have given up first
	<-printed
	return info, err
}

func (s *Service) printErrors(ctx context.Context, id ImportID, out io.Writer) error {
	w := table.NewWriter(out)
	if err := w.Write("row", "email", "message"); err != nil {
		return err
	}
	for after := int64(0); ; {
		var page []importError
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			page, err = selectImportErrors(tx, id, after, errorsPage)
			return err
		})
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := w.Write(table.PlainCell(strconv.FormatInt(e.Row, 10)), string(e.Email), e.Message); err != nil {
				return err
			}
			after = e.Row
		}
		if len(page) < errorsPage {
			return w.Flush()
		}
	}
}

// ReferencedBlobs returns those of the contents that imports still need.
func (s *Service) ReferencedBlobs(ctx context.Context, refs []blob.Ref) (used map[blob.Ref]bool, err error) {
	used = map[blob.Ref]bool{}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := selectUsedBlobs(tx, refs)
		for _, ref := range found {
			used[ref] = true
		}
		return err
	})
	return used, err
}

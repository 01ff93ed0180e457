package audience

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/product/audience/internal/table"
)

// forgetErrorFiles takes a person out of the files of what imports could not take: of a long import most rows stand only there.
func (s *Service) forgetErrorFiles(ctx context.Context, e erasure) error {
	var files map[ImportID]blob.Ref
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		files, err = selectErrorFiles(tx, e.workspace)
		return err
	})
	if err != nil {
		return err
	}
	for id, file := range files {
		if err := s.forgetErrorFile(ctx, id, file, e.address); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) forgetErrorFile(ctx context.Context, id ImportID, file blob.Ref, who string) error {
	named, err := s.copyErrors(ctx, io.Discard, file, who)
	if errors.Is(err, blob.ErrNotFound) || err == nil && !named {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := s.putFile(ctx, func(out io.Writer) error {
		_, err := s.copyErrors(ctx, out, file, who)
		return err
	})
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return replaceErrorFile(tx, id, file, info.Ref) })
}

// copyErrors writes a file of failed rows without the address of a person, and tells whether it named them.
func (s *Service) copyErrors(ctx context.Context, out io.Writer, file blob.Ref, who string) (named bool, err error) {
	content, err := s.parts.Blobs.Open(ctx, file)
	if err != nil {
		return false, err
	}
	defer content.Close()
	rows, w := csv.NewReader(content), table.NewWriter(out)
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return named, w.Flush()
		}
		if err != nil {
			return false, err
		}
		if isAddress(row[1], who) {
			named, row[1] = true, ""
		}
		if err := w.Write(table.PlainCell(row[0]), table.PlainCell(row[1]), table.PlainCell(row[2])); err != nil {
			return false, err
		}
	}
}

// forgetFailedRows forgets that an address, in any spelling, could not be imported, and returns the imports that told of it.
func forgetFailedRows(tx *db.Tx, e erasure) (imports []string, err error) {
	rows, err := selectFailedRows(tx, e.workspace)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r failedRow) bool { return !isAddress(r.email, e.address) })
	for _, r := range rows {
		imports = append(imports, r.importID)
	}
	return slices.Compact(imports), unnameRows(tx, rows)
}

// isAddress tells whether a cell is an address in some spelling.
func isAddress(cell, key string) bool {
	cell = strings.TrimPrefix(cell, "'") // see table.Defuse
	if strings.EqualFold(strings.TrimSpace(cell), key) {
		return true
	}
	a, err := address.Parse(cell)
	return err == nil && a.Key() == key
}

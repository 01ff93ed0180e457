package audience

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience/internal/filter"
	"postrider/product/audience/internal/table"
)

// exportPage is how many contacts are read at a time.
const exportPage = 500

// export is a file of contacts. It is read page by page while it is sent, each page in a transaction of its own.
type export struct {
	service *Service
	ws      space.ID
	query   contactQuery
}

// File names it.
func (export) File() (mediaType, filename string) { return "text/csv; charset=utf-8", "contacts.csv" }

// WriteFile writes the table.
func (e export) WriteFile(ctx context.Context, out io.Writer) error {
	w := table.NewWriter(out)
	var columns []Property
	for begun := false; ; begun = true {
		var page []detail
		err := e.service.db.Read(ctx, func(tx *db.Tx) error {
			known, err := loadSchema(tx, e.ws)
			if err != nil {
				return err
			}
			if !begun {
				columns = known.properties
			}
			page, err = e.page(tx, known)
			return err
		})
		if err != nil {
			return fmt.Errorf("export contacts: %w", err)
		}
		if !begun {
			if err := w.Write(headerOf(columns)...); err != nil {
				return err
			}
		}
		for _, d := range page {
			if err := w.Write(d.row(columns)...); err != nil {
				return err
			}
			e.query.part.Beyond = contactKeys(d.Number, d.ID)
		}
		if err := w.Flush(); err != nil || len(page) < exportPage {
			return err
		}
	}
}

func (e export) page(tx *db.Tx, known schema) ([]detail, error) {
	r, err := newReach(tx, e.ws, known, e.query)
	if err != nil {
		return nil, err
	}
	found, err := selectReach(tx, r, e.query.part, exportPage, 0)
	if err != nil {
		return nil, err
	}
	return loadDetails(tx, found)
}

func headerOf(columns []Property) []any {
	header := []any{"email", "first_name", "last_name", "unsubscribed", "status", "created_at"}
	for _, p := range columns {
		header = append(header, p.Key)
	}
	return header
}

func (d detail) row(columns []Property) []any {
	row := []any{d.Address, d.FirstName, d.LastName, table.PlainCell(strconv.FormatBool(d.Unsubscribed)), string(d.Status), table.PlainCell(d.CreatedAt.UTC().Format(time.RFC3339))}
	for _, p := range columns {
		row = append(row, cellOf(p.Type, d.values[p.Number].value))
	}
	return row
}

// cellOf writes a value so that an import reads it back. Only texts can be taken for formulas.
func cellOf(of filter.Type, v filter.Value) any {
	switch {
	case !v.Present:
		return ""
	case of == filter.Number:
		return table.PlainCell(strconv.FormatFloat(v.Amount, 'f', -1, 64))
	case of == filter.Boolean:
		return table.PlainCell(strconv.FormatBool(v.Amount == 1))
	case of == filter.Date:
		return table.PlainCell(v.At.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return v.Text
}

package move

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"postrider/platform/db"
)

// digest is a sum over all rows that does not depend on their order: the engines sort differently.
type digest struct {
	rows int64
	sum  [4]uint64
}

func (d *digest) add(row []any) error {
	h := sha256.New()
	for _, value := range row {
		tag, raw, err := canonical(value)
		if err != nil {
			return err
		}
		var head [9]byte
		head[0] = tag
		binary.BigEndian.PutUint64(head[1:], uint64(len(raw)))
		h.Write(head[:])
		h.Write(raw)
	}
	sum := h.Sum(nil)
	for i := range d.sum {
		d.sum[i] += binary.BigEndian.Uint64(sum[8*i:])
	}
	d.rows++
	return nil
}

// canonical is the same for a value on both engines.
func canonical(value any) (tag byte, raw []byte, err error) {
	switch v := value.(type) {
	case nil:
		return '0', nil, nil
	case bool:
		n := uint64(0)
		if v {
			n = 1
		}
		return 'l', binary.BigEndian.AppendUint64(nil, n), nil
	case int64:
		return 'n', binary.BigEndian.AppendUint64(nil, uint64(v)), nil
	case float64:
		return 'f', binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), nil
	case string:
		return 't', []byte(v), nil
	case []byte:
		return 'b', v, nil
	}
	return 0, nil, fmt.Errorf("a value of type %T", value)
}

// compare reads a table on both sides to the end.
func (m *mover) compare(ctx context.Context, t db.Table) (int64, error) {
	t, changed := ruleOf(t)
	total := m.done[t.Name].rows
	want, err := m.digestOf(ctx, m.from, t, changed, func(rows int64) { m.tell("compare "+t.Name, rows, 2*total) })
	if err != nil {
		return 0, err
	}
	there, err := tablesOf(ctx, m.to)
	if err != nil {
		return 0, err
	}
	target := t
	for _, other := range there {
		if other.Name == t.Name {
			target.Key = other.Key
		}
	}
	got, err := m.digestOf(ctx, m.to, target, nil, func(rows int64) { m.tell("compare "+t.Name, total+rows, 2*total) })
	switch {
	case err != nil:
		return 0, err
	case got.rows != want.rows:
		return 0, fmt.Errorf("%w: %d rows became %d. Empty the target and begin again", ErrDiffers, want.rows, got.rows)
	case got.sum != want.sum:
		return 0, fmt.Errorf("%w: %d rows on both sides, but not the same. "+
			"The source may have changed since the move began: empty the target and begin again", ErrDiffers, got.rows)
	}
	return got.rows, nil
}

func (m *mover) digestOf(ctx context.Context, d *db.DB, t db.Table, changed change, tell func(int64)) (digest, error) {
	var sum digest
	var at progress
	for {
		p, err := read(ctx, d, t, at, changed)
		if err != nil || p.size() == 0 {
			return sum, err
		}
		for _, doc := range p.docs {
			// The moment is left out: the embedded engine may have moved it by a microsecond to tell rows apart.
			p.rows = append(p.rows, []any{doc.Space, doc.ID, strings.Join(doc.Words, " ")})
		}
		for _, row := range p.rows {
			if err := sum.add(row); err != nil {
				return sum, err
			}
		}
		at = progress{rows: at.rows + int64(len(p.rows)), place: p.place}
		tell(at.rows)
	}
}

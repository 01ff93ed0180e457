package reseal

import (
	"context"
	"errors"

	"postrider/platform/db"
	"postrider/platform/seal"
)

// ErrOtherSecret means that the secrets at hand are not those that the database was sealed with.
var ErrOtherSecret = errors.New("the secret is not the one that this database is sealed with")

// witness is what an installation keeps sealed for no other reason than to tell whether a secret is its own.
const witness = "installation"

var witnesses = Column{Table: "reseal_witness", Name: "sealed", Key: []string{"name"},
	Context: func(key ...string) string { return "reseal_witness/" + key[0] }}

// Sealed tells where secrets are kept.
func Sealed() []Column { return []Column{witnesses} }

// Check refuses secrets that do not open the witness. Where there is none, one value that they open is enough, among the first of every
// column: any of them may be damaged, or be of a secret of long ago.
func Check(ctx context.Context, d *db.DB, keys *seal.Keyring, columns []Column) error {
	return d.Read(ctx, func(tx *db.Tx) error {
		opened, closed, err := witnesses.try(tx, keys)
		if err != nil || opened > 0 {
			return err
		}
		if closed > 0 {
			return ErrOtherSecret
		}
		for _, column := range columns {
			opened, more, err := column.try(tx, keys)
			if err != nil || opened > 0 {
				return err
			}
			closed += more
		}
		if closed > 0 {
			return ErrOtherSecret
		}
		return nil
	})
}

// try counts, among the first values, those that the secrets open and those that they do not.
func (c Column) try(tx *db.Tx, keys *seal.Keyring) (opened, closed int, err error) {
	rows, err := c.page(tx, nil)
	for _, row := range rows {
		if len(row.sealed) == 0 {
			continue
		}
		if _, err := keys.Open(row.sealed, c.Context(row.key...)); err == nil {
			opened++
		} else {
			closed++
		}
	}
	return opened, closed, err
}

// Witness leaves a witness, unless there is one, and checks it: another node may have left its own a moment ago.
func Witness(ctx context.Context, d *db.DB, keys *seal.Keyring) error {
	sealed := keys.Seal([]byte(witness), witnesses.Context(witness))
	if err := d.Write(ctx, func(tx *db.Tx) error { return insertWitness(tx, witness, sealed) }); err != nil {
		return err
	}
	return Check(ctx, d, keys, nil)
}

package reseal_test

import (
	"errors"
	"log/slog"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/reseal"
	"postrider/platform/seal"
	"postrider/world"
)

func TestAnotherSecretIsRefusedBesideTheWitness(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		theirs, ours, both := seal.NewKeyring(oldSecret), seal.NewKeyring(newSecret), seal.NewKeyring(newSecret, oldSecret)
		if err := reseal.Check(t.Context(), d, ours, nil); err != nil {
			t.Errorf("an empty database refused a secret: %v", err)
		}
		for range 2 {
			if err := reseal.Witness(t.Context(), d, theirs); err != nil {
				t.Fatal(err)
			}
		}

		if err := reseal.Witness(t.Context(), d, ours); !errors.Is(err, reseal.ErrOtherSecret) {
			t.Errorf("another node with another secret: %v", err)
		}
		if err := reseal.Check(t.Context(), d, both, nil); err != nil {
			t.Errorf("with the previous secret named: %v", err)
		}

		again := reseal.New(d, both, slog.New(slog.DiscardHandler), reseal.Sealed())
		for busy := true; busy; {
			var err error
			if busy, err = again.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		if err := reseal.Check(t.Context(), d, ours, nil); err != nil {
			t.Errorf("sealed again: %v", err)
		}
		if err := reseal.Check(t.Context(), d, theirs, nil); !errors.Is(err, reseal.ErrOtherSecret) {
			t.Errorf("the old secret alone: %v", err)
		}
	})
}

// An installation of an older version has no witness.
func TestWithoutAWitnessAnythingThatOpensWillDo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		columns := []reseal.Column{
			{Table: "certificate_file", Name: "content", Key: []string{"path"}, Context: func(...string) string { return "sealed in something else" }},
			{Table: "certificate_file", Name: "content", Key: []string{"path"}, Context: func(key ...string) string { return key[0] }},
		}
		put(t, d, "a", []byte{})
		if err := reseal.Check(t.Context(), d, seal.NewKeyring(newSecret), columns); err != nil {
			t.Errorf("nothing is sealed: %v", err)
		}
		put(t, d, "b", []byte("damaged"))
		put(t, d, "c", seal.NewKeyring(oldSecret).Seal([]byte("content"), "c"))

		if err := reseal.Check(t.Context(), d, seal.NewKeyring(oldSecret), columns); err != nil {
			t.Errorf("a damaged value beside one that opens: %v", err)
		}
		if err := reseal.Check(t.Context(), d, seal.NewKeyring(newSecret), columns); !errors.Is(err, reseal.ErrOtherSecret) {
			t.Errorf("another secret: %v", err)
		}
	})
}

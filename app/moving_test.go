package app_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"postrider/app"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

// Verbs take no lock, because they work beside servers. What one wrote into a table that is compared already would stay behind.
func TestAVerbThatComesWhileItsDatabaseIsMovedIsRefused(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			from := app.Storage{Dir: t.TempDir(), Secret: strings.Repeat("secret", 8)}
			if engine == "postgres" {
				from.DatabaseURL = dbtest.URL(t, "postgres")
			}
			opens := func(s app.Storage) error {
				stores, err := s.Open(t.Context(), w)
				if err == nil {
					err = stores.DB.Close()
				}
				return err
			}
			if err := opens(from); err != nil {
				t.Fatal(err)
			}
			asked := 0
			verb := func(what string, _, _ int64) { // at the beginning, and when most tables have been copied
				if asked == 0 || asked == 1 && what == "webhook" {
					asked++
					if err := opens(from); err == nil || !strings.Contains(err.Error(), "is being moved") {
						t.Errorf("a verb meanwhile: %v", err)
					}
				}
			}

			interrupted, interrupt := context.WithCancel(t.Context())
			_, err := app.Move(interrupted, w, from, app.Storage{Dir: t.TempDir(), Secret: from.Secret}, func(string, int64, int64) { interrupt() })
			if err == nil {
				t.Error("an interrupted move has ended well")
			}
			if err := opens(from); err != nil {
				t.Errorf("after a move that was interrupted: %v", err)
			}

			to := app.Storage{Dir: t.TempDir(), Secret: from.Secret}
			if _, err := app.Move(t.Context(), w, from, to, verb); err != nil || asked != 2 {
				t.Fatalf("asked %d times: %v", asked, err)
			}
			if err := opens(from); err == nil {
				t.Error("a verb is let into what was moved")
			}
			if err := opens(to); err != nil {
				t.Error(err)
			}
		})
	}
}

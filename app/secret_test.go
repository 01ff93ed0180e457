package app_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
	"postrider/platform/blob"
	"postrider/platform/certstore"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/reseal"
	"postrider/platform/seal"
)

// keeps are the columns that hold what a secret has sealed. Each such value tells in its first bytes which secret that was.
func keeps(t *testing.T, in *apptest.Installation, secret *seal.Keyring) string {
	t.Helper()
	const told = 5
	mark := secret.Seal(nil, "")[:told]
	found := map[string]bool{}
	err := in.App.DB.Read(t.Context(), func(tx *db.Tx) error {
		tables, err := tx.Tables()
		if err != nil {
			return err
		}
		for _, table := range tables {
			for _, column := range table.Columns {
				values, err := db.All(tx, db.Value[any], fmt.Sprintf(`SELECT %s FROM %s`, column, table.Name))
				if err != nil {
					return err
				}
				for _, value := range values {
					if raw, ok := value.([]byte); ok && bytes.HasPrefix(raw, mark) {
						found[table.Name+"."+column] = true
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " ")
}

func TestWhatIsSealedMovesToTheNewSecret(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hook := in.Must(http.StatusCreated, http.MethodPost, "/webhooks", map[string]any{"url": "https://hooks.example.com/", "events": []string{"*"}, "custom_headers": map[string]any{"x-token": "t"}})
		if answer := in.Browse(http.MethodPost, "/v1/webhooks/"+hook.Text("id")+"/rotate-secret", map[string]any{}); answer.Status != http.StatusOK {
			t.Fatalf("%s", answer.Raw)
		}
		in.Must(http.StatusCreated, http.MethodPost, "/automation-credentials", map[string]any{"name": "x", "type": "bearer", "secret": "x", "allowed_hosts": []string{"x.example.com"}})
		connection := in.App.World.NewID()
		write(t, in, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO relay (workspace_id, host, port, security, username, password, created_at, updated_at)
				VALUES ($1, 'smtp.example.net', 587, 'starttls', 'u', $2, $3, $3)`, in.Workspace, in.Keys.Seal([]byte("p"), "relay/"+string(in.Workspace)), tx.Now())
			if err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO dnsprovider_connection (id, workspace_id, provider, name, token, token_end, created_at)
				VALUES ($1, $2, 'cloudflare', 'x', $3, 'x', $4)`, connection, in.Workspace, in.Keys.Seal([]byte("p"), connection), tx.Now())
			if err != nil {
				return err
			}
			code := in.App.World.NewID()
			_, err = tx.Exec(`INSERT INTO account_recovery_code (id, user_id, hash) VALUES ($1, $1, $2)`, code, in.Keys.Seal([]byte("p"), "account_recovery_code/"+code))
			if err != nil {
				return err
			}
			owner, err := db.One(tx, db.Value[string], `SELECT id FROM account_user ORDER BY id LIMIT 1`)
			if err != nil {
				return err
			}
			_, err = tx.Exec(`UPDATE account_user SET totp_secret = $1, totp_offered = $1 WHERE id = $2`, in.Keys.Seal([]byte("p"), "account_user/totp/"+owner), owner)
			return err
		})
		if err := certstore.New(in.App.World, in.App.DB, in.Keys).Store(t.Context(), "acme/key", []byte("k")); err != nil {
			t.Fatal(err)
		}
		if err := reseal.Witness(t.Context(), in.App.DB, in.Keys); err != nil {
			t.Fatal(err)
		}
		next := bytes.Repeat([]byte("next"), 8)
		alone := seal.NewKeyring(next)
		before := keeps(t, in, in.Keys)
		if kinds := strings.Fields(before); len(kinds) != 12 {
			t.Fatalf("sealed: %v", kinds)
		}

		blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		rotated := app.Assemble(in.App.World, in.App.DB, blobs, seal.NewKeyring(next, bytes.Repeat([]byte("test"), 8)), app.Settings{ServiceDomain: "mail.postrider.test"})
		workers := rotated.Workers()
		in.Finish(workers[slices.IndexFunc(workers, func(w queue.Worker) bool { return w.Name == "previous secrets" })].Step)

		if left, moved := keeps(t, in, in.Keys), keeps(t, in, alone); left != "" || moved != before {
			t.Errorf("still under the previous secret: %s; moved: %s, of: %s", left, moved, before)
		}
		if key, err := certstore.New(in.App.World, in.App.DB, alone).Load(context.Background(), "acme/key"); err != nil || string(key) != "k" {
			t.Errorf("%q %v", key, err)
		}
	})
}

// While the nodes of an installation are told of a new secret one by one, as docs/security.md has it, whatever one hands out is good on the other.
func TestNodesThatAreToldOfANewSecretOneByOneTakeWhatTheOthersHandedOut(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Send("ann@example.net")
		in.Send("bob@example.net")
		next, last := bytes.Repeat([]byte("next"), 8), bytes.Repeat([]byte("test"), 8)
		blobs, err := blob.NewFiles(t.TempDir(), in.App.World.Clock, in.App.World.Random)
		if err != nil {
			t.Fatal(err)
		}
		node := func(current, other []byte) *app.App {
			return app.Assemble(in.App.World, in.App.DB, blobs, seal.NewKeyring(current, other), app.Settings{ServiceDomain: "mail.postrider.test"})
		}
		untold, told, exchanged := in.App, node(last, next), node(next, last)
		for _, way := range [][2]*app.App{{untold, told}, {told, untold}, {told, exchanged}, {exchanged, told}} {
			in.App = way[0]
			cursor := in.Must(http.StatusOK, http.MethodGet, "/emails?limit=1", nil).Text("next_cursor")
			in.SignInAnew()
			in.App = way[1]
			if answer := in.Call(http.MethodGet, "/emails?limit=1&cursor="+cursor, nil); answer.Status != http.StatusOK {
				t.Errorf("a cursor of the other node: %d %s", answer.Status, answer.Raw)
			}
			if answer := in.Browse(http.MethodPatch, "/account", map[string]any{"name": "Ann"}); answer.Status != http.StatusOK {
				t.Errorf("a form of the other node: %d %s", answer.Status, answer.Raw)
			}
		}
	})
}

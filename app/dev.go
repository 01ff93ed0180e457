package app

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/sandbox"
	"postrider/web"
	"postrider/world"
)

// DevDomain is the domain that can send from the first moment in dev mode.
const DevDomain = "acme.test"

// Dev is the small internet of an installation on a laptop, and the workspace that is ready in it.
type Dev struct {
	sandbox *sandbox.Sandbox
	dir     string
	// door is a link that signs the owner in, once; guarded by mu.
	mu   sync.Mutex
	door string
}

// claimForSandbox makes a directory one of dev mode, unless it holds the database of a server: the sandbox would take the mail that waits there,
// and it would count as delivered.
func claimForSandbox(s Storage) error {
	own := filepath.Join(s.Dir, sandboxDir)
	if _, err := os.Stat(own); errors.Is(err, fs.ErrNotExist) && s.DatabaseURL == "" && s.CheckPresent() == nil {
		return Misconfigured{fmt.Errorf("%s is the directory of a server, whose mail dev would take into its sandbox as if it were delivered: "+
			"name another with --data, or make %s to try out a copy", s.Dir, own)}
	}
	return os.MkdirAll(own, 0o700)
}

// sandboxDir is what the directory of dev mode is known by.
const sandboxDir = "sandbox"

// open starts the sandbox and points the installation at it.
func (d *Dev) open(ctx context.Context, w *world.World, config *Config, s *server) error {
	d.dir = config.Dir
	var err error
	// It outlives the order to stop: conversations with its servers are let end, as with those of the internet.
	d.sandbox, err = sandbox.Open(context.WithoutCancel(ctx), *w, sandbox.Config{
		Dir: filepath.Join(config.Dir, sandboxDir), ServiceDomain: config.ServiceDomain,
	})
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(d.sandbox.SMTPAddr())
	if err != nil {
		return err
	}
	if config.Delivery.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	config.Delivery.AllowPrivate, config.Outbound.AnyLoopbackPort = true, true
	w.Resolver = world.NewResolver([]string{d.sandbox.DNSAddr()})
	d.door = hex.EncodeToString(w.Bytes(16))
	config.Web = web.Config{Sandbox: d.sandbox.Handler(), SandboxDomain: DevDomain, Submission: s.ready.Submission,
		Start: func(ctx context.Context, r *http.Request, token string) (*http.Cookie, string, error) {
			return d.enter(ctx, s.app, r, token)
		}}
	s.ready.DNS, s.ready.SandboxSMTP, s.ready.Sandbox = d.sandbox.DNSAddr(), d.sandbox.SMTPAddr(), s.ready.HTTP+"/sandbox"
	return nil
}

// attach makes the installation known to the sandbox, once it can answer.
func (d *Dev) attach(a *App, ready Ready) error {
	return d.sandbox.Attach(sandbox.Product{MXAddr: ready.MX, HTTPAddr: strings.TrimPrefix(ready.HTTP, "http://"),
		RecordsOf: func(ctx context.Context, name string) ([]sandbox.Record, error) {
			records, err := a.SandboxRecords(ctx, name)
			if err == nil && len(records) == 0 {
				err = sandbox.ErrUnknownDomain
			}
			return records, err
		}})
}

// SandboxRecords returns what the owner of a domain has to publish, as the sandbox wants it; none for a domain that nobody has.
func (a *App) SandboxRecords(ctx context.Context, name string) ([]sandbox.Record, error) {
	asked, err := a.Domains.RecordsFor(ctx, name)
	records := make([]sandbox.Record, len(asked))
	for i, r := range asked {
		records[i] = sandbox.Record{Type: r.Type, Name: r.Name, Value: r.Value}
		if r.Priority != nil {
			records[i].Priority = *r.Priority
		}
	}
	return records, err
}

func (d *Dev) close() {
	if d.sandbox != nil {
		d.sandbox.Close()
	}
}

var errDoorClosed = errors.New("the link was used, or is not the one that was printed")

// enter signs the owner in by the link on the terminal. Whoever can read the terminal can read the password on it, too.
func (d *Dev) enter(ctx context.Context, a *App, r *http.Request, token string) (*http.Cookie, string, error) {
	d.mu.Lock()
	good := d.door != "" && subtle.ConstantTimeCompare([]byte(token), []byte(d.door)) == 1
	if good {
		d.door = ""
	}
	d.mu.Unlock()
	if !good {
		return nil, "", errDoorClosed
	}
	state, err := readDevState(filepath.Join(d.dir, "dev.json"))
	if err != nil {
		return nil, "", err
	}
	cookie, err := a.Accounts.Enter(ctx, state.Owner.Email, account.Visitor{UserAgent: r.UserAgent()})
	return cookie, state.WorkspaceID, err
}

// devState is what dev mode remembers between runs.
type devState struct {
	WorkspaceID string     `json:"workspace_id"`
	APIKey      string     `json:"api_key"`
	Owner       ReadyOwner `json:"owner"`
}

// seed makes the workspace, its owner, a verified domain and a key, the first time; later it finds them as they were.
func (d *Dev) seed(ctx context.Context, a *App, ready *Ready) error {
	if err := d.attach(a, *ready); err != nil {
		return err
	}
	path := filepath.Join(d.dir, "dev.json")
	state, err := readDevState(path)
	if errors.Is(err, fs.ErrNotExist) {
		state.Owner = ReadyOwner{Email: "owner@" + DevDomain, Password: hex.EncodeToString(a.World.Bytes(12))}
		err = writeAtomically(path, state) // killed before the workspace is noted, the next run is the same owner
	}
	if err == nil && state.WorkspaceID == "" {
		if state, err = d.createWorkspace(ctx, a, state.Owner); err == nil {
			err = writeAtomically(path, state)
		}
	}
	if err != nil {
		return err
	}
	if err := d.ensureDomain(ctx, a, space.ID(state.WorkspaceID)); err != nil {
		return err
	}
	ready.APIKey, ready.WorkspaceID, ready.Owner, ready.Domain = state.APIKey, state.WorkspaceID, &state.Owner, DevDomain
	ready.Start = ready.HTTP + "/start/" + d.door
	return nil
}

func readDevState(path string) (devState, error) {
	var state devState
	raw, err := os.ReadFile(path)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(raw, &state)
}

func (d *Dev) createWorkspace(ctx context.Context, a *App, owner ReadyOwner) (devState, error) {
	created, err := a.CreateWorkspace(ctx, NewWorkspace{Name: "Acme", Plan: plan.Unlimited, OwnerEmail: owner.Email, OwnerPassword: owner.Password})
	return devState{WorkspaceID: created.WorkspaceID, APIKey: created.APIKey, Owner: owner}, err
}

func (d *Dev) ensureDomain(ctx context.Context, a *App, ws space.ID) error {
	from, err := a.Domains.ByName(ctx, ws, DevDomain)
	if errors.Is(err, domain.ErrNotYours) {
		from, err = a.Domains.Register(ctx, ws, plan.Unlimited, domain.Registration{Domain: DevDomain})
	}
	if err != nil || from.Verified {
		return err
	}
	if err := d.sandbox.Publish(ctx, DevDomain); err != nil {
		return fmt.Errorf("publish records of %s: %w", DevDomain, err)
	}
	from, err = a.Domains.Verify(ctx, ws, string(from.ID))
	if err != nil {
		return err
	}
	if !from.Verified {
		return fmt.Errorf("%s did not verify: %+v", DevDomain, from.Checks)
	}
	// Where no mail is taken, the domain cannot receive; it still can send.
	if _, err = a.Domains.SetReceiving(ctx, ws, string(from.ID), true); errors.Is(err, domain.ErrReceiverUnhealthy) {
		return nil
	}
	return err
}

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"postrider/app"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/plan"
)

const (
	serviceDomain = "mail.sim.test"
	senderDomain  = "acme.test"
)

// Options say how long and how rough a run is.
type Options struct {
	Seed uint64
	// Dir keeps the data of the run.
	Dir string
	// DatabaseURL is a PostgreSQL to run on; empty means the embedded database, whose disk can then be made to fail too.
	DatabaseURL string
	// Actions is how many things happen before the world is healed.
	Actions int
}

// Report is what a run has been.
type Report struct {
	Emails, Recipients, Crashes int
	// Fates is one line a recipient: what became of it, after how many attempts.
	Fates []string
}

// Run lives through one seed and returns what went wrong, with the seed.
func Run(options Options) (Report, error) {
	s := &simulation{options: options, random: rand.New(rand.NewPCG(options.Seed, 1)),
		clock: &clock{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}, ledger: newLedger()}
	s.network = newNetwork(s.clock, options.Seed)
	s.names = &names{network: s.network, records: map[string][]string{}}
	err := s.live(context.Background())
	s.report.Emails, s.report.Crashes = len(s.ledger.order), s.crashCount
	if err != nil {
		err = fmt.Errorf("seed %d after %d crashes: %w", options.Seed, s.crashCount, err)
	}
	slices.Sort(s.report.Fates)
	return s.report, err
}

// simulation is one run.
type simulation struct {
	options Options
	random  *rand.Rand
	clock   *clock
	network *network
	names   *names
	ledger  *ledger
	report  Report

	app        *app.App   // the first node, which also answers customers
	nodes      []*app.App // all nodes, on one database
	db         *db.DB
	key        string
	workspace  space.ID
	crashCount int
	keyCount   int

	blobs blob.Store

	doom doom

	diskMu   sync.Mutex
	diskFull bool // guarded by diskMu: the writer of the database asks from its own goroutine
}

var errDiskFull = errors.New("simulated disk is full")

// commit is asked before every commit.
func (s *simulation) commit() error {
	if err := s.disk(); err != nil {
		return err
	}
	return s.doom.commit()
}

func (s *simulation) disk() error {
	s.diskMu.Lock()
	defer s.diskMu.Unlock()
	if s.diskFull {
		return errDiskFull
	}
	return nil
}

func (s *simulation) setDiskFull(full bool) {
	s.diskMu.Lock()
	defer s.diskMu.Unlock()
	s.diskFull = full
}

func (s *simulation) live(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	defer func() { s.db.Close() }()
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	for range s.options.Actions {
		if err := s.act(ctx); err != nil {
			return err
		}
	}
	if err := s.heal(ctx); err != nil {
		return err
	}
	return s.verify(ctx)
}

// prepare makes a workspace with a verified domain and a key.
func (s *simulation) prepare(ctx context.Context) error {
	created, err := s.app.CreateWorkspace(ctx, app.NewWorkspace{Name: "Sim", Plan: plan.Unlimited, OwnerEmail: "owner@sim.test", OwnerPassword: "correct horse battery"})
	if err != nil {
		return err
	}
	s.key, s.workspace = created.APIKey, space.ID(created.WorkspaceID)
	d, err := s.app.Domains.Register(ctx, s.workspace, plan.Unlimited, domain.Registration{Domain: senderDomain})
	if err != nil {
		return err
	}
	records, err := s.app.Domains.RecordsFor(ctx, senderDomain)
	if err != nil {
		return err
	}
	for _, r := range records {
		s.names.put(r.Type, r.Name, r.Value)
	}
	if d, err = s.app.Domains.Verify(ctx, s.workspace, string(d.ID)); err == nil && !d.Verified {
		err = fmt.Errorf("domain did not verify: %+v", d.Checks)
	}
	return err
}

// act lets one thing happen.
func (s *simulation) act(ctx context.Context) error {
	switch n := s.random.IntN(100); {
	case n < 35:
		return s.send()
	case n < 40:
		return s.sendTwin()
	case n < 45:
		return s.cancel()
	case n < 75:
		return s.step(ctx)
	case n < 84:
		return s.pass(ctx, time.Duration(s.random.IntN(10*60))*time.Second)
	case n < 87:
		return s.pass(ctx, time.Duration(s.random.IntN(5*60))*time.Minute)
	case n < 88 && s.setsClockBack():
		return s.pass(ctx, -time.Duration(s.random.IntN(5000))*time.Millisecond)
	case n < 90:
		s.network.breakServer(fmt.Sprintf("mx1.d%d.test", s.random.IntN(6)), s.clock.Now().Add(time.Duration(s.random.IntN(120))*time.Minute))
	case n < 91:
		return s.restart(ctx, s.random.IntN(nodeCount))
	case n < 95 && s.options.DatabaseURL == "":
		s.setDiskFull(!s.isDiskFull())
	case n < 97:
		s.network.planCrash(crashPlan{atConnect: s.random.IntN(2) == 0, atReply: s.random.IntN(2) == 0})
	case n < 99:
		return s.crashNode(ctx, s.random.IntN(nodeCount))
	default:
		return s.crash(ctx)
	}
	return nil
}

// setsClockBack tells whether the clock goes wrong in this run. Stories are told by the clock, so they cannot be checked then.
func (s *simulation) setsClockBack() bool { return s.options.Seed%4 == 0 }

func (s *simulation) isDiskFull() bool { return s.disk() != nil }

// step lets every worker of one node do one step; the process may die in it.
func (s *simulation) step(ctx context.Context) (err error) {
	died, n := false, s.random.IntN(nodeCount)
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, planned := p.(crash); !planned {
					panic(p)
				}
				died = true
			}
		}()
		err = s.stepAll(ctx, s.nodes[n])
	}()
	if died {
		return s.crashNode(ctx, n)
	}
	return err
}

func (s *simulation) stepAll(ctx context.Context, node *app.App) error {
	for _, w := range node.Workers() {
		if w.Name == "unused blobs" {
			continue // its grace of a day is not what is simulated here
		}
		if _, err := w.Step(ctx); err != nil && !errors.Is(err, db.ErrUnavailable) {
			return fmt.Errorf("worker %s: %w", w.Name, err)
		}
	}
	return nil
}

// call makes a request to the API and returns its status and body.
func (s *simulation) call(method, path string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	request := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(raw))
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	s.app.API.ServeHTTP(recorder, request)
	var answer map[string]any
	err = json.Unmarshal(recorder.Body.Bytes(), &answer)
	return recorder.Code, answer, err
}

var moods = []string{"ann", "bob", "cat", "dan", "eve", "bounce", "full"}

func (s *simulation) draftRecipients() []string {
	var to []string
	for i := range 1 + s.random.IntN(3) {
		domain := fmt.Sprintf("d%d.test", s.random.IntN(6))
		if s.random.IntN(30) == 0 {
			domain = "null." + domain
		}
		if s.random.IntN(30) == 0 {
			domain = "gone." + domain
		}
		to = append(to, fmt.Sprintf("%s%d-%d@%s", moods[s.random.IntN(len(moods))], len(s.ledger.sent), i, domain))
	}
	return to
}

// send asks for an email to be sent. Whatever is answered goes into the ledger.
func (s *simulation) send() error {
	to := s.draftRecipients()
	body := map[string]any{"from": "hello@" + senderDomain, "to": to, "subject": "Simulated", "text": "Hello"}
	if s.random.IntN(2) == 0 {
		s.keyCount++
		body["idempotency_key"] = fmt.Sprintf("simulated:%d", s.keyCount)
	}
	if s.random.IntN(4) == 0 {
		body["scheduled_at"] = s.clock.Now().Add(time.Duration(1+s.random.IntN(600)) * time.Minute).Format(time.RFC3339)
	}
	return s.post(body, to)
}

func (s *simulation) post(body map[string]any, to []string) error {
	full := s.isDiskFull()
	status, answer, err := s.call(http.MethodPost, "/emails", body)
	if err != nil {
		return err
	}
	switch {
	case status == http.StatusTooManyRequests && s.clock.isBehind():
		return nil
	case status == http.StatusServiceUnavailable && full:
		return nil // an honest refusal; nothing may be found of it later
	case full && status != http.StatusOK: // 200 repeats an earlier promise and needs no disk
		return fmt.Errorf("I8: the disk was full, and the send was answered with %d", status)
	case status != http.StatusAccepted && status != http.StatusOK:
		return fmt.Errorf("send was answered with %d: %v", status, answer)
	}
	return s.ledger.accept(body, answer, to)
}

// sendTwin repeats an earlier request with its key: it must be answered with the same id.
func (s *simulation) sendTwin() error {
	if len(s.ledger.keyed) == 0 {
		return nil
	}
	twin := s.ledger.keyed[s.random.IntN(len(s.ledger.keyed))]
	if s.clock.Now().Sub(twin.at) > 23*time.Hour {
		return nil // keys are remembered for a day
	}
	if scheduled, ok := twin.body["scheduled_at"].(string); ok {
		if at, _ := time.Parse(time.RFC3339, scheduled); at.Before(s.clock.Now()) {
			return nil // the same words would no longer be valid
		}
	}
	return s.post(twin.body, twin.to)
}

// cancel asks for a scheduled email to be cancelled; a yes is a promise.
func (s *simulation) cancel() error {
	if len(s.ledger.order) == 0 {
		return nil
	}
	id := s.ledger.order[s.random.IntN(len(s.ledger.order))]
	status, answer, err := s.call(http.MethodPost, "/emails/"+id+"/cancel", map[string]any{})
	if err != nil {
		return err
	}
	switch status {
	case http.StatusOK:
		s.ledger.sent[id].cancelled = true
	case http.StatusConflict:
	case http.StatusTooManyRequests:
		if !s.clock.isBehind() {
			return fmt.Errorf("cancel was refused for no reason: %v", answer)
		}
	case http.StatusServiceUnavailable:
		if !s.isDiskFull() {
			return fmt.Errorf("cancel was refused for no reason: %v", answer)
		}
	default:
		return fmt.Errorf("I1: cancel of accepted email %s was answered with %d: %v", id, status, answer)
	}
	return nil
}

// healingRounds bounds how long the backlog may take to drain: five simulated days in small steps.
const healingRounds = 5 * 24 * 12

// heal ends all faults and lets time pass until nothing waits any more.
func (s *simulation) heal(ctx context.Context) error {
	s.setDiskFull(false)
	s.network.heal()
	for range healingRounds {
		for range 3 * nodeCount {
			if err := s.step(ctx); err != nil {
				return err
			}
		}
		depth := int64(0)
		if err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			depth, err = queue.Depth(tx, "mail")
			return err
		}); err != nil {
			return err
		}
		if depth == 0 {
			return nil
		}
		if err := s.pass(ctx, 5*time.Minute); err != nil {
			return err
		}
	}
	return errors.New("I9: the backlog did not drain within five days of a healthy world")
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"postrider/app"
	"postrider/platform/db"
)

// SeriesOptions say when in the life of a welcome series the process dies.
type SeriesOptions struct {
	// Dir keeps the data of the run.
	Dir string
	// DieAt is the commit at which the process dies, counted from the beginning of the series; 0 lets it live.
	DieAt int
	// After lets that commit happen, and the process dies before anything that follows from it. Otherwise the commit is lost, but all
	// that came before it was done.
	After bool
}

// SeriesReport is how a welcome series went.
type SeriesReport struct {
	// Commits is how many moments there were to die at.
	Commits int
	// Outcome is all that a customer can see, a line each, without ids and times.
	Outcome []string
	// Requests is how often the customer's server was asked, Copies how many messages arrived once more than they should.
	Requests, Copies int
}

// RunSeries lives through a welcome series: an event, a mail, three days, a condition on a property, a request with a credential, and
// another mail that says what was answered.
func RunSeries(o SeriesOptions) (SeriesReport, error) {
	s := &simulation{options: Options{Seed: 1, Dir: o.Dir}, random: rand.New(rand.NewPCG(1, 1)),
		clock: &clock{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}, ledger: newLedger()}
	s.network = newNetwork(s.clock, 1)
	s.network.heal()
	s.network.crm = &crm{doom: &s.doom, asked: map[string][]string{}}
	s.names = &names{network: s.network, records: map[string][]string{}}
	report, err := s.series(context.Background(), o)
	if err != nil {
		err = fmt.Errorf("dead at commit %d (after it: %v): %w", o.DieAt, o.After, err)
	}
	return report, err
}

// readers are those who sign up, and their plans.
var readers = []struct{ address, plan string }{{"ann@d1.test", "pro"}, {"bob@d2.test", "free"}, {"cat@d3.test", "pro"}}

func (s *simulation) series(ctx context.Context, o SeriesOptions) (report SeriesReport, err error) {
	if err := s.start(ctx); err != nil {
		return report, err
	}
	defer func() { s.db.Close() }()
	if err := s.prepare(ctx); err != nil {
		return report, err
	}
	id, err := s.define()
	if err != nil {
		return report, err
	}
	s.doom.arm(o.DieAt, o.After)
	if err := s.signUp(ctx); err != nil {
		return report, err
	}
	if err := s.untilRest(ctx, id); err != nil {
		return report, err
	}
	report.Commits = s.doom.counted()
	report.Outcome, err = s.outcome(id, &report)
	return report, err
}

// must makes a request that has to be answered with a yes.
func (s *simulation) must(method, path string, body any) (map[string]any, error) {
	status, answer, err := s.call(method, path, body)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%s %s: %d %v", method, path, status, answer)
	}
	return answer, err
}

type fields = map[string]any

// define makes the automation and what it needs.
func (s *simulation) define() (id string, err error) {
	if _, err := s.must(http.MethodPost, "/contact-properties", fields{"key": "plan", "type": "string"}); err != nil {
		return "", err
	}
	for _, r := range readers {
		if _, err := s.must(http.MethodPost, "/contacts", fields{"email": r.address, "properties": fields{"plan": r.plan}}); err != nil {
			return "", err
		}
	}
	credential, err := s.must(http.MethodPost, "/automation-credentials", fields{"name": "CRM", "type": "bearer", "secret": "a secret of the series",
		"allowed_hosts": []string{crmAddress}})
	if err != nil {
		return "", err
	}
	thanks, err := s.must(http.MethodPost, "/templates", fields{"name": "Thanks", "subject": "Thanks", "text": "You are {{LEAD}}"})
	if err != nil {
		return "", err
	}
	step := func(key, kind string, config fields) fields {
		return fields{"key": key, "type": kind, "config": config}
	}
	mail := func(key, subject, text string) fields {
		return step(key, "send_email", fields{"from": "hello@" + senderDomain, "subject": subject, "text": text})
	}
	way := func(from, to, kind string) fields { return fields{"from": from, "to": to, "type": kind} }
	made, err := s.must(http.MethodPost, "/automations", fields{"name": "Welcome", "status": "enabled", "steps": []fields{
		step("start", "trigger", fields{"event_name": "user.signed_up", "re_entry": "always"}),
		mail("hello", "Welcome", "Your code is {{event.code}}"),
		step("wait", "delay", fields{"duration": "3 days"}),
		step("pro", "condition", fields{"type": "rule", "field": "properties.plan", "operator": "eq", "value": "pro"}),
		step("crm", "http_request", fields{"method": "POST", "url": "http://" + crmAddress + "/leads", "credential_id": credential["id"],
			"body": fields{"email": fields{"var": "contact.email"}}}),
		step("thanks", "send_email", fields{"from": "hello@" + senderDomain, "subject": "Thanks",
			"template": fields{"id": thanks["id"], "variables": fields{"LEAD": fields{"var": "steps.crm.output.id"}}}}),
		mail("upgrade", "Upgrade", "There is more"),
	}, "connections": []fields{way("start", "hello", "default"), way("hello", "wait", "default"), way("wait", "pro", "default"), way("pro", "crm", "condition_met"),
		way("pro", "upgrade", "condition_not_met"), way("crm", "thanks", "default")}})
	id, _ = made["id"].(string)
	return id, err
}

// signUp sends the event for everybody, again until it is answered.
func (s *simulation) signUp(ctx context.Context) error {
	for i, r := range readers {
		body := fields{"event": "user.signed_up", "email": r.address, "payload": fields{"code": fmt.Sprint("code ", i)}, "idempotency_key": fmt.Sprint("sign-up:", i)}
		status, answer, err := s.call(http.MethodPost, "/events/send", body)
		if s.doom.isDead() { // whatever it was about to answer, nobody has heard it
			if err := s.die(ctx); err != nil {
				return err
			}
			status, answer, err = s.call(http.MethodPost, "/events/send", body)
		}
		if err != nil || status/100 != 2 {
			return fmt.Errorf("event for %s: %d %v %v", r.address, status, answer, err)
		}
	}
	return nil
}

// die puts another process in the place of the dead one.
func (s *simulation) die(ctx context.Context) error {
	s.doom.over()
	return s.crash(ctx)
}

const (
	// seriesRounds bounds how often everything is done that can be done; a series needs some fifty.
	seriesRounds = 1000
	// seriesPause is how far the clock moves when there is nothing to do.
	seriesPause = 6 * time.Hour
)

// seriesWorkers are those that have to do with a series; the others only add commits at which nothing of it happens.
var seriesWorkers = []string{"automations", "automation leases", "follower automation", "delivery", "delivery leases"}

// untilRest lets the process work, and others after it, until all runs have ended and no mail waits.
func (s *simulation) untilRest(ctx context.Context, id string) error {
	for range seriesRounds {
		busy := false
		for _, w := range s.app.Workers() {
			if !slices.Contains(seriesWorkers, w.Name) {
				continue
			}
			worked, err := w.Step(ctx)
			if s.doom.isDead() {
				if err := s.die(ctx); err != nil {
					return err
				}
				busy = true
				break
			}
			if err != nil {
				return fmt.Errorf("worker %s: %w", w.Name, err)
			}
			busy = busy || worked
		}
		if busy {
			continue
		}
		over, err := s.seriesIsOver(ctx, s.app)
		if over || err != nil {
			return err
		}
		s.clock.advance(seriesPause)
	}
	return errors.New("the series never ends")
}

func (s *simulation) seriesIsOver(ctx context.Context, node *app.App) (over bool, err error) {
	err = node.DB.Read(ctx, func(tx *db.Tx) error {
		open, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM queue_item WHERE lane IN ('mail', 'automation')`)
		over = open == 0
		return err
	})
	return over, err
}

// outcome is what the customer and his readers see in the end.
func (s *simulation) outcome(id string, report *SeriesReport) (lines []string, err error) {
	page, err := s.must(http.MethodGet, "/automations/"+id+"/runs?limit=100", nil)
	if err != nil {
		return nil, err
	}
	for _, row := range rowsOf(page, "data") {
		run, err := s.must(http.MethodGet, fmt.Sprintf("/automations/%s/runs/%v", id, row["id"]), nil)
		if err != nil {
			return nil, err
		}
		var path []string
		for _, step := range rowsOf(run, "steps") {
			path = append(path, fmt.Sprintf("%v %v", step["key"], step["status"]))
		}
		asked := s.network.crm.asked[fmt.Sprintf("%v.crm.1", row["id"])]
		report.Requests += len(asked)
		if len(slices.Compact(slices.Clone(asked))) > 1 {
			return nil, fmt.Errorf("requests with one key differ: %v", asked)
		}
		lines = append(lines, fmt.Sprintf("run of %v: %v: %s: asks %v", run["email"], run["status"], strings.Join(path, ", "), slices.Compact(asked)))
	}
	mails, err := s.must(http.MethodGet, "/emails?limit=200", nil)
	if err != nil {
		return nil, err
	}
	for _, row := range rowsOf(mails, "data") {
		mail, err := s.must(http.MethodGet, fmt.Sprintf("/emails/%v", row["id"]), nil)
		if err != nil {
			return nil, err
		}
		to := fmt.Sprint(mail["to"].([]any)[0])
		key := letterKey{fmt.Sprint(mail["message_id"]), to}
		taken, unsure := s.network.accepted[key], s.network.unsure[key]
		if taken < 1 || taken > 1+unsure {
			return nil, fmt.Errorf("%v to %s was taken %d times, %d of them without our knowing", mail["subject"], to, taken, unsure)
		}
		report.Copies += taken - 1
		lines = append(lines, fmt.Sprintf("mail to %s: %v: %v: %v", to, mail["subject"], mail["text"], mail["status"]))
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprintf("%d keys", len(s.network.crm.asked))), nil
}

func rowsOf(answer fields, name string) (rows []fields) {
	list, _ := answer[name].([]any)
	for _, item := range list {
		if row, ok := item.(fields); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

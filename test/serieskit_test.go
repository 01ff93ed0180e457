package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/mail/smtp"
)

type object = map[string]any

// series is a welcome series on the built program, whose clock can be moved. At each boundary of its steps the program is killed once.
type series struct {
	*shop
	crm        *httptest.Server
	automation string

	mu    sync.Mutex
	asked map[string][]string // requests by idempotency key, guarded by mu
	// fatal is at which boundary of whose run the program is to be killed; what has happened is gone. Guarded by mu.
	fatal map[string]string
	// deaths is how often the program was killed; only the test itself does that.
	deaths int
	// deadly takes the wish that the program be killed now; it is answered when that has happened.
	deadly chan chan struct{}
}

// Boundaries of the steps of a run at which the program is killed.
const (
	atEvent     = "the event was answered"
	beforeMail  = "a server is asked to take the first mail"
	afterMail   = "a server has the first mail and has not said so"
	whileWaits  = "the run waits"
	whenOver    = "the wait is over"
	beforeReply = "the request has come and is not answered"
	afterReply  = "the request was answered"
	beforeLast  = "a server is asked to take the last mail"
	afterLast   = "a server has the last mail and has not said so"
)

var boundaries = []string{atEvent, beforeMail, afterMail, whileWaits, whenOver, beforeReply, afterReply, beforeLast, afterLast}

func openSeries(t *testing.T, storage []string) *series {
	t.Helper()
	base, _ := newShop(t, nil, storage...)
	s := &series{shop: base, asked: map[string][]string{}, fatal: map[string]string{}, deadly: make(chan chan struct{})}
	s.key = s.p.shop(t, s.internet, "", s.storage)
	s.setClock("+0s")
	s.withClock()
	s.crm = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.crm.Close)
	manners := s.receive
	s.manners.Store(&manners)
	s.ask(http.MethodPost, "/contact-properties", object{"key": "plan", "type": "string"})
	return s
}

// ask makes a request that has to be answered with a yes.
func (s *series) ask(method, path string, body any) object {
	s.t.Helper()
	status, answer, err := call(s.key, method, "http://"+s.address+"/v1"+path, body)
	if err != nil || status/100 != 2 {
		s.t.Fatalf("%s %s: %d %v %v", method, path, status, answer, err)
	}
	return answer
}

// definition is a welcome series whose last mail has a subject.
func (s *series) definition(credential, template any, last string) object {
	step := func(key, kind string, config object) object {
		return object{"key": key, "type": kind, "config": config}
	}
	way := func(from, to, kind string) object { return object{"from": from, "to": to, "type": kind} }
	return object{"name": "Welcome", "steps": []object{
		step("start", "trigger", object{"event_name": "user.signed_up", "re_entry": "always"}),
		step("hello", "send_email", object{"from": "olga@shop.test", "subject": "Welcome", "text": "Hello"}),
		step("wait", "delay", object{"duration": "3 days"}),
		step("pro", "condition", object{"type": "rule", "field": "properties.plan", "operator": "eq", "value": "pro"}),
		step("crm", "http_request", object{"method": "POST", "url": s.crm.URL + "/leads", "credential_id": credential, "body": object{"email": object{"var": "contact.email"}}}),
		step("last", "send_email", object{"from": "olga@shop.test", "subject": last,
			"template": object{"id": template, "variables": object{"LEAD": object{"var": "steps.crm.output.id"}}}}),
	}, "connections": []object{way("start", "hello", "default"), way("hello", "wait", "default"), way("wait", "pro", "default"), way("pro", "crm", "condition_met"), way("crm", "last", "default")}}
}

// define makes the series, and returns the credential it shows and the template of its last mail.
func (s *series) define() (credential, template any) {
	s.t.Helper()
	u, err := url.Parse(s.crm.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	credential = s.ask(http.MethodPost, "/automation-credentials", object{"name": "CRM", "type": "bearer", "secret": "a secret of the series", "allowed_hosts": []string{u.Host}})["id"]
	template = s.ask(http.MethodPost, "/templates", object{"name": "Thanks", "subject": "Thanks", "text": "You are {{LEAD}}"})["id"]
	definition := s.definition(credential, template, "Thanks")
	definition["status"] = "enabled"
	s.automation = s.ask(http.MethodPost, "/automations", definition)["id"].(string)
	return credential, template
}

// signUp begins the run of somebody and returns its id. The program may be killed at a boundary of it.
func (s *series) signUp(address, boundary string) string {
	s.t.Helper()
	s.ask(http.MethodPost, "/contacts", object{"email": address, "properties": object{"plan": "pro"}})
	s.mu.Lock()
	s.fatal[address] = boundary
	s.mu.Unlock()
	runs, _ := s.ask(http.MethodPost, "/events/send", object{"event": "user.signed_up", "email": address, "idempotency_key": "sign-up:" + strings.ReplaceAll(address, "@", ".")})["runs"].([]any)
	if len(runs) != 1 {
		s.t.Fatalf("%s began %v", address, runs)
	}
	return runs[0].(string)
}

// reach has the program killed if somebody's run is to be cut off here, and returns once it is.
func (s *series) reach(address, boundary string) bool {
	s.mu.Lock()
	due := s.fatal[address] == boundary
	if due {
		delete(s.fatal, address)
	}
	s.mu.Unlock()
	if !due {
		return false
	}
	killed := make(chan struct{})
	select {
	case s.deadly <- killed:
		<-killed
	case <-s.t.Context().Done():
	}
	return true
}

// die kills the program and starts it again.
func (s *series) die() {
	s.t.Helper()
	s.p.kill()
	s.deaths++
	s.serve("env", "POSTRIDER_CLOCK_FILE="+s.clockFile())
}

// receive is the recipients' server at the stages of a conversation.
func (s *series) receive(stage, to string) *smtp.Reply {
	s.ledger.mu.Lock()
	copies := s.arrived[to]
	s.ledger.mu.Unlock()
	switch {
	case stage == "rcpt" && copies == 0:
		s.reach(to, beforeMail)
	case stage == "rcpt" && copies == 1:
		s.reach(to, beforeLast)
	case stage == "answer" && copies == 1:
		s.reach(to, afterMail)
	case stage == "answer":
		s.reach(to, afterLast)
	}
	return nil
}

// answer is the customer's server.
func (s *series) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var lead struct{ Email string }
	if err != nil || json.Unmarshal(body, &lead) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	s.asked[key] = append(s.asked[key], fmt.Sprintf("%s %s %s", r.URL, r.Header.Get("Authorization"), body))
	s.mu.Unlock()
	if s.reach(lead.Email, beforeReply) {
		return
	}
	text := fmt.Sprintf(`{"id":"lead of %s"}`, lead.Email)
	w.Header().Set("Content-Length", strconv.Itoa(len(text))) // it is whole before the handler ends
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	s.reach(lead.Email, afterReply)
}

// until waits for something, and kills the program whenever that is due meanwhile.
func (s *series) until(what string, happened func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(settleFor); ; {
		select {
		case killed := <-s.deadly:
			s.p.kill()
			s.deaths++
			close(killed)
			s.serve("env", "POSTRIDER_CLOCK_FILE="+s.clockFile())
		case <-time.After(20 * time.Millisecond):
			if happened() {
				return
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s did not come within %s", what, settleFor)
		}
	}
}

// run returns a run as it is, or nil while the program is down.
func (s *series) run(id string) object {
	status, answer, err := call(s.key, http.MethodGet, "http://"+s.address+"/v1/automations/"+s.automation+"/runs/"+id, nil)
	if err != nil || status != http.StatusOK {
		return nil
	}
	return answer
}

// path tells how a run went.
func path(run object) string {
	steps, _ := run["steps"].([]any)
	text := fmt.Sprint(run["status"], " on version ", run["version"], ":")
	for _, one := range steps {
		step, _ := one.(object)
		text += fmt.Sprintf(" %v:%v", step["key"], step["status"])
	}
	return text
}

// hasMails tells whether somebody has so many different messages.
func (s *series) hasMails(address string, count int) bool {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	ids := map[string]bool{}
	for _, a := range s.from[address] {
		ids[a.id] = true
	}
	return len(ids) >= count
}

// waits lets a run come to its wait.
func (s *series) waits(address, run string) {
	s.t.Helper()
	s.until("the wait of "+address, func() bool { return s.run(run)["current_step"] == "wait" && s.hasMails(address, 1) })
}

// ends lets a run come to its end.
func (s *series) ends(address, run string) {
	s.t.Helper()
	s.until("the end of "+address, func() bool { return s.run(run)["status"] == "completed" && s.hasMails(address, 2) })
}

package automation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestMistakesOfADefinitionAreToldWithTheirSteps(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		missing := "0193a1f5-0000-7000-8000-000000000999"
		h.must(201, "POST", "/templates", fields{"name": "Hello", "alias": "hello", "subject": "x", "text": "x"})
		for path, one := range map[string]fields{
			"steps[1].config.duration":                  step("x", "delay", fields{"duration": "soon"}),
			"steps[1].config.list_id":                   step("x", "add_to_list", fields{"list_id": missing}),
			"steps[1].config.segment_id":                step("x", "add_to_segment", fields{"segment_id": missing}),
			"steps[1].config.topic_id":                  step("x", "set_topic", fields{"topic_id": missing, "subscription": "opt_in"}),
			"steps[1].config.credential_id":             step("x", "http_request", fields{"url": "https://x.example.com", "credential_id": missing}),
			"steps[1].config.template.id":               step("x", "send_email", fields{"template": fields{"id": "missing"}}),
			"steps[1].config.template.variables.a":      step("x", "send_email", fields{"template": fields{"id": "missing", "variables": fields{"a": fields{"var": "contact.nothing"}}}}),
			"steps[1].config.subject":                   step("x", "send_email", fields{"from": "a@acme.test", "template": fields{"id": "hello"}, "subject": "Hello {{#if x}}"}),
			"steps[1].config.html":                      step("x", "send_email", fields{"from": "a@acme.test", "subject": "Hello", "html": "Hello {{#if x}}"}),
			"steps[1].config.text":                      step("x", "send_email", fields{"from": "a@acme.test", "subject": "Hello", "text": "begin 644 x.exe\n#0V%T\n`\nend\n"}),
			"steps[1].config.properties.nothing":        step("x", "contact_update", fields{"properties": fields{"nothing": 1}}),
			"steps[1].config.headers.Authorization":     step("x", "http_request", fields{"url": "https://x.example.com", "headers": fields{"Authorization": "Bearer x"}}),
			"steps[1].config.payload.a":                 step("x", "emit_event", fields{"event_name": "x", "payload": fields{"a": fields{"var": "credentials.crm"}}}),
			"steps[1].config.rules[0].field":            step("x", "condition", fields{"type": "and", "rules": []fields{{"type": "rule", "field": "nothing", "operator": "eq", "value": 1}}}),
			"steps[1].config.filter_rule.rules[0].type": step("x", "wait_for_event", fields{"event_name": "x", "timeout": "1 day", "filter_rule": fields{"type": "and", "rules": []fields{{"type": "xor"}}}}),
		} {
			definition := line(on("go"), one)
			draft := h.must(201, "POST", "/automations", definition)
			answer := h.must(400, "POST", "/automations/"+draft.Text("id")+"/publish", nil)
			if problem(answer, path) == "" {
				t.Errorf("nothing is said of %s: %s", path, answer.Raw)
			}
			definition["status"] = "enabled"
			if direct := h.must(400, "POST", "/automations", definition); problem(direct, path) == "" {
				t.Errorf("nothing is said of %s: %s", path, direct.Raw)
			}
			if got := h.must(200, "GET", "/automations/"+draft.Text("id"), nil).Text("published_version"); got != "" {
				t.Errorf("%s was published", path)
			}
		}
		var steps []fields
		for i := range 151 {
			steps = append(steps, step(fmt.Sprintf("s%d", i), "exit", nil))
		}
		if answer := h.must(400, "POST", "/automations", graph(steps, nil)); problem(answer, "steps") == "" {
			t.Errorf("151 steps: %s", answer.Raw)
		}
	})
}

func TestTheSubjectOfAStepIsRenderedBesideATemplate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/templates", fields{"name": "Hello", "alias": "hello", "from": "a@acme.test", "subject": "Of the template", "text": "x"})
		mail := func(key, subject string) fields {
			return step(key, "send_email", fields{"template": fields{"id": "hello"}, "subject": subject})
		}
		h.enabled(line(on("go"), mail("a", "Hello {{{FIRST_NAME|friend}}}, on {{event.plan}}"), mail("b", "")))
		h.send("go", "ann@example.net", fields{"plan": "pro"})
		h.work()
		got := h.mails()
		if slices.Sort(got); fmt.Sprint(got) != "[Hello friend, on pro Of the template]" {
			t.Errorf("subjects %q", got)
		}
	})
}

func TestWhatAStepSaysOfSenderAndRepliesComesBeforeItsTemplate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/templates", fields{"name": "Hello", "alias": "hello", "from": "template@acme.test", "reply_to": []string{"template-replies@acme.test"}, "subject": "x", "text": "x"})
		template := fields{"id": "hello"}
		id := h.enabled(line(on("go"), step("its", "send_email", fields{"template": template}),
			step("own", "send_email", fields{"template": template, "from": "step@acme.test", "reply_to": []string{"step-replies@acme.test"}})))
		run := h.send("go", "ann@example.net", nil)[0]
		h.work()
		taken := h.run(id, run)
		for key, want := range map[string]string{"its": "template", "own": "step"} {
			mail := h.must(200, "GET", fmt.Sprintf("/emails/%s", output(taken, key)["email_id"]), nil)
			if mail.Text("from") != want+"@acme.test" || !slices.Equal(texts(mail.Body["reply_to"]), []string{want + "-replies@acme.test"}) {
				t.Errorf("%s: from %s, replies to %v", key, mail.Text("from"), mail.Body["reply_to"])
			}
		}
	})
}

func TestAKeyOfOneDomainPublishesNoMailFromAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		narrow := h.Browse("POST", "/v1/api-keys", fields{"name": "narrow", "preset": "full_access", "domain_ids": []string{other}}).Text("key")
		for _, name := range []string{"acme", "other"} {
			h.must(201, "POST", "/templates", fields{"name": name, "alias": name, "from": "a@" + name + ".test", "subject": "x", "text": "x"})
		}
		h.must(201, "POST", "/templates", fields{"name": "nobody", "alias": "nobody", "subject": "x", "text": "x"})
		of := func(config fields) fields { return line(on("go"), step("mail", "send_email", config)) }
		for name, c := range map[string]struct {
			config fields
			may    bool
		}{
			"its own domain":             {fields{"from": "a@other.test", "subject": "x", "text": "x"}, true},
			"another":                    {fields{"from": "a@acme.test", "subject": "x", "text": "x"}, false},
			"no address":                 {fields{"from": "nobody", "subject": "x", "text": "x"}, false},
			"a template":                 {fields{"template": fields{"id": "other"}}, true},
			"a template of another":      {fields{"template": fields{"id": "acme"}}, false},
			"a template without sender":  {fields{"template": fields{"id": "nobody"}}, false},
			"a version that is missing":  {fields{"template": fields{"id": "other", "version": 7}}, false},
			"a sender over the template": {fields{"template": fields{"id": "acme"}, "from": "a@other.test"}, true},
		} {
			definition := of(c.config)
			id := h.must(201, "POST", "/automations", definition).Text("id")
			published := h.CallAs(narrow, "POST", "/automations/"+id+"/publish", nil, nil)
			patched := h.CallAs(narrow, "PATCH", "/automations/"+id, fields{"status": "enabled", "steps": definition["steps"], "connections": definition["connections"]}, nil)
			definition["status"] = "enabled"
			created := h.CallAs(narrow, "POST", "/automations", definition, nil)
			for _, answer := range []apptest.Answer{published, patched, created} {
				if c.may != (answer.Status < 300) || !c.may && answer.Text("error", "code") != "domain_not_allowed" {
					t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
				}
			}
		}
		id := h.enabled(of(fields{"from": "a@acme.test", "subject": "x", "text": "x"}))
		if again := h.CallAs(narrow, "POST", "/automations/"+id+"/versions/1/rollback", nil, nil); again.Text("error", "code") != "domain_not_allowed" {
			t.Errorf("rollback: %s", again.Raw)
		}
	})
}

func TestAKeyOfOneDomainListensToNoMailOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		narrow := h.Browse("POST", "/v1/api-keys", fields{"name": "narrow", "preset": "full_access", "domain_ids": []string{h.DomainID}}).Text("key")
		wait := step("wait", "wait_for_event", fields{"event_name": "system:email.opened", "timeout": "1 day"})
		for name, c := range map[string]struct {
			definition fields
			may        bool
		}{
			"a trigger":           {line(on("system:email.received"), step("end", "exit", nil)), false},
			"a step":              {graph([]fields{on("go"), wait}, []fields{way("start wait")}), false},
			"what is not of mail": {line(on("system:contact.created"), step("end", "exit", nil)), true},
		} {
			path := "/automations/" + h.must(201, "POST", "/automations", c.definition).Text("id") + "/publish"
			answer := h.CallAs(narrow, "POST", path, nil, nil)
			if c.may != (answer.Status == 200) || !c.may && answer.Text("error", "code") != "domain_not_allowed" {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
			}
			h.must(200, "POST", path, nil)
		}
	})
}

func TestAKeyOfOneDomainReadsNoMailOfOthersInRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		narrow := h.Browse("POST", "/v1/api-keys", fields{"name": "narrow", "preset": "full_access", "domain_ids": []string{other}}).Text("key")
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		begun := h.enabled(line(on("system:email.received"), step("pause", "delay", fields{"duration": "1 hour"})))
		wait := step("wait", "wait_for_event", fields{"event_name": "system:email.received", "timeout": "3 days"})
		waiting := h.enabled(graph([]fields{on("asked"), wait}, []fields{way("start wait")}))
		h.send("asked", "ann@example.net", fields{"order": "4711"})
		h.work()
		h.come("secret")
		h.work()
		for _, id := range []string{begun, waiting} {
			list := h.CallAs(narrow, "GET", "/automations/"+id+"/runs", nil, nil)
			if list.Text("total") != "1" || strings.Contains(string(list.Raw), "secret") {
				t.Errorf("%s", list.Raw)
			}
			run := "/automations/" + id + "/runs/" + h.runs(id)[0]
			if whole := h.must(200, "GET", run, nil); !strings.Contains(string(whole.Raw), "secret") {
				t.Errorf("nothing is secret in %s", whole.Raw)
			}
			if got := h.CallAs(narrow, "GET", run, nil, nil); got.Text("error", "code") != "domain_not_allowed" {
				t.Errorf("%d %s", got.Status, got.Raw)
			}
		}
	})
}

func TestStepsAndConnectionsAreChangedTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		definition := line(on("go"), step("end", "exit", nil))
		path := "/automations/" + h.must(201, "POST", "/automations", definition).Text("id")
		for missing, given := range map[string]string{"connections": "steps", "steps": "connections"} {
			if answer := h.must(400, "PATCH", path, fields{given: definition[given]}); problem(answer, missing) == "" {
				t.Errorf("%s alone: %s", given, answer.Raw)
			}
		}
		if draft := h.must(200, "GET", path+"?version=draft", nil); len(draft.Body["connections"].([]any)) != 1 {
			t.Errorf("%s", draft.Raw)
		}
		h.must(200, "PATCH", path, fields{"steps": definition["steps"], "connections": []fields{}})
	})
}

func TestTriggersMayStandBesideTheSteps(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.must(201, "POST", "/automations", fields{"name": "x", "status": "enabled", "triggers": []fields{{"type": "event", "event_name": "go"}, {"key": "other", "event_name": "went"}},
			"steps": []fields{step("end", "exit", nil)}, "connections": []fields{}}).Text("id")
		for _, name := range []string{"go", "went"} {
			if got := len(h.send(name, name+"@example.net", nil)); got != 1 {
				t.Errorf("%s began %d runs", name, got)
			}
		}
		record := h.must(200, "GET", "/automations/"+id, nil)
		if record.Text("triggers") != "[map[event_name:go key:trigger_1 type:event] map[event_name:went key:other type:event]]" {
			t.Errorf("triggers %s", record.Text("triggers"))
		}
	})
}

func TestAPlanBoundsWhatIsEnabled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		_, key := h.NewWorkspace(plan.Free)
		definition := line(on("go"), step("end", "exit", nil))
		definition["status"] = "enabled"
		first := h.CallAs(key, "POST", "/automations", definition, nil)
		second := h.CallAs(key, "POST", "/automations", definition, nil)
		if first.Status != 201 || second.Status != 402 || second.Text("error", "code") != "automation_quota_exceeded" {
			t.Fatalf("%d %s, %d %s", first.Status, first.Raw, second.Status, second.Raw)
		}
		definition["status"] = "disabled"
		third := h.CallAs(key, "POST", "/automations", definition, nil)
		if third.Status != 201 {
			t.Errorf("a disabled one: %s", third.Raw)
		}
		h.CallAs(key, "POST", "/automations/"+first.Text("id")+"/stop", nil, nil)
		if now := h.CallAs(key, "PATCH", "/automations/"+third.Text("id"), fields{"enabled": true}, nil); now.Status != 200 || now.Text("status") != "enabled" {
			t.Errorf("once there is room: %d %s", now.Status, now.Raw)
		}
	})
}

func TestATestRunTouchesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		credential := h.credential(server, nil)
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "first_name": "Ann"})
		definition := line(on("go"), hello, step("wait", "delay", fields{"duration": "3 days"}),
			step("crm", "http_request", fields{"url": "/leads", "credential_id": credential, "body": fields{"who": fields{"var": "contact.email"}}}),
			step("change", "contact_update", fields{"first_name": "Changed"}), step("tell", "emit_event", fields{"event_name": "done"}), step("gone", "contact_delete", nil))
		id := h.must(201, "POST", "/automations", definition).Text("id")
		dry := h.must(200, "POST", "/automations/"+id+"/test", fields{"email": "ann@example.net", "payload": fields{"plan": "pro"}})
		if dry.Text("test") != "true" || dry.Text("status") != "completed" || !strings.HasSuffix(path(dry), "wait:skipped crm:completed change:completed tell:completed gone:completed") {
			t.Errorf("test %s", dry.Raw)
		}
		if !strings.Contains(string(dry.Raw), `"who":"ann@example.net"`) || strings.Contains(string(dry.Raw), secret) {
			t.Errorf("test %s", dry.Raw)
		}
		h.work()
		if len(server.requests()) != 0 || len(h.mails()) != 0 || h.must(200, "GET", "/contacts/ann@example.net", nil).Text("first_name") != "Ann" {
			t.Error("a test run touched something")
		}
		h.must(200, "POST", "/automations/"+id+"/test", fields{"email": "ann@example.net", "payload": fields{"plan": "pro"}, "deliver_to": "me@example.org", "version": "draft"})
		mails, _ := h.must(200, "GET", "/emails", nil).Body["data"].([]any)
		if len(mails) != 1 || fmt.Sprint(mails[0].(fields)["to"]) != "[me@example.org]" || mails[0].(fields)["subject"] != "[Test] Hello Ann" {
			t.Errorf("mails %v", mails)
		}
		stopped := h.must(200, "POST", "/automations/"+id+"/test", fields{"contact": fields{"email": "new@example.net"}, "skip_delays": false})
		if got := path(stopped); got != "start:completed hello:completed wait:waiting" {
			t.Errorf("without skipping: %s", got)
		}
		if stats := h.must(200, "GET", "/automations/"+id, nil).Text("stats", "runs_total"); stats != "0" {
			t.Errorf("tests are counted: %s", stats)
		}
	})
}

func TestBuildersLearnWhatThereIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string"})
		meta := h.must(200, "GET", "/automations/_meta", nil)
		var decoded struct {
			Steps []struct {
				Type   string `json:"type"`
				Schema fields `json:"config_schema"`
			} `json:"step_types"`
			Triggers []struct{ Type string } `json:"trigger_types"`
		}
		if err := json.Unmarshal(meta.Raw, &decoded); err != nil {
			t.Fatal(err)
		}
		if len(decoded.Steps) != 16 || len(decoded.Triggers) != 14 || !strings.Contains(string(meta.Raw), `{"name":"properties.plan","type":"string"}`) || meta.Text("limits", "max_steps") != "150" {
			t.Errorf("meta %s", meta.Raw)
		}
		for _, s := range decoded.Steps {
			if s.Schema["type"] != "object" {
				t.Errorf("%s has no schema", s.Type)
			}
		}
	})
}

func TestListsArePagedAndFiltered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		var ids []string
		for i := range 5 {
			definition := line(on("go"), step("end", "exit", nil))
			definition["name"] = fmt.Sprintf("Number %d", i)
			ids = append(ids, h.must(201, "POST", "/automations", definition).Text("id"))
		}
		h.must(200, "PATCH", "/automations/"+ids[0], fields{"status": "enabled"})
		h.must(200, "DELETE", "/automations/"+ids[1], nil)
		count := func(query string) int {
			list, _ := h.must(200, "GET", "/automations"+query, nil).Body["data"].([]any)
			return len(list)
		}
		for query, want := range map[string]int{"": 4, "?limit=2": 2, "?offset=3": 1, "?status=archived": 1, "?status=archived,enabled": 2, "?enabled=true": 1, "?enabled=false": 3,
			"?search=number%203": 1, "?after=" + ids[2]: 1, "?before=" + ids[2]: 2} {
			if got := count(query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		for _, query := range []string{"?limit=201", "?status=x", "?after=x", "?after=" + ids[0] + "&offset=1", "?enabled=maybe"} {
			h.must(400, "GET", "/automations"+query, nil)
		}
		for _, query := range []string{"?status=x", "?contact_id=x", "?since=x", "?limit=0.5"} {
			h.must(400, "GET", "/automations/"+ids[0]+"/runs"+query, nil)
		}
	})
}

func TestEveryListIsFollowedByCursorInBothOrders(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		var id string
		made := map[string][]string{}
		note := func(path string, answer apptest.Answer) { made[path] = append(made[path], answer.Text("id")) }
		for i := range 5 {
			h.Clock.Advance(time.Second)
			definition := line(on("go"), step("end", "exit", nil))
			definition["name"] = fmt.Sprintf("Number %d", i)
			answer := h.must(201, "POST", "/automations", definition)
			note("/automations", answer)
			id = answer.Text("id")
			note("/automation-credentials", h.must(201, "POST", "/automation-credentials", fields{"name": fmt.Sprint("key ", i), "type": "bearer", "secret": "secret", "allowed_hosts": []string{"crm.example.com"}}))
			note("/events", h.must(201, "POST", "/events", fields{"name": fmt.Sprint("event", i)}))
		}
		versions, runs := "/automations/"+id+"/versions", "/automations/"+id+"/runs"
		h.must(200, "PATCH", "/automations/"+id, fields{"status": "enabled"})
		for i := range 5 {
			h.Clock.Advance(time.Second)
			note(runs, h.must(202, "POST", "/automations/"+id+"/run", fields{"email": fmt.Sprintf("p%d@example.net", i)}))
			if i > 0 {
				h.must(200, "POST", "/automations/"+id+"/versions/1/rollback", nil)
			}
		}
		for _, one := range h.must(200, "GET", versions+"?order=asc", nil).Body["data"].([]any) {
			made[versions] = append(made[versions], one.(fields)["id"].(string))
		}

		for path, want := range made {
			if len(want) != 5 {
				t.Fatalf("%s has %d", path, len(want))
			}
			for _, order := range []string{"asc", "desc"} {
				var found []string
				asked := path + "?limit=2&order=" + order
				for page := h.must(200, "GET", asked, nil); ; page = h.must(200, "GET", asked+"&cursor="+page.Text("next_cursor"), nil) {
					for _, one := range page.Body["data"].([]any) {
						found = append(found, one.(fields)["id"].(string))
					}
					if page.Text("next_cursor") == "" {
						break
					}
				}
				if order == "desc" {
					slices.Reverse(found)
				}
				if !slices.Equal(found, want) {
					t.Errorf("%s %s: %v, want %v", path, order, found, want)
				}
			}
			before, _ := h.must(200, "GET", path+"?limit=2&before="+want[1], nil).Body["data"].([]any)
			if len(before) != 2 || before[0].(fields)["id"] != want[3] || before[1].(fields)["id"] != want[2] {
				t.Errorf("%s before: %v", path, before)
			}
			for _, query := range []string{"?cursor=x", "?order=up", "?after=" + want[0] + "&before=" + want[1], "?after=00000000-0000-7000-8000-000000000000"} {
				h.must(400, "GET", path+query, nil)
			}
		}
	})
}

func TestAPropertyThatAVariableNamesIsInUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		properties := map[string]string{}
		for _, key := range []string{"short", "long", "rule", "draft", "free"} {
			properties[key] = h.must(201, "POST", "/contact-properties", fields{"key": key, "type": "string"}).Text("id")
		}
		id := h.enabled(line(on("go"), step("tell", "emit_event", fields{"event_name": "x", "payload": fields{"a": fields{"var": "contact.short"},
			"b": fields{"var": "contact.properties.long"}, "c": fields{"var": "contact.email"}}}),
			step("ask", "condition", fields{"type": "rule", "field": "properties.rule", "operator": "exists"})))
		for _, key := range []string{"short", "long", "rule"} {
			if answer := h.must(409, "DELETE", "/contact-properties/"+properties[key], nil); !strings.Contains(string(answer.Raw), id) {
				t.Errorf("%s: %s", key, answer.Raw)
			}
		}
		h.must(200, "PATCH", "/automations/"+id, line(on("go"), step("tell", "emit_event", fields{"event_name": "x", "payload": fields{"a": fields{"var": "contact.draft"}}})))
		for _, key := range []string{"short", "draft"} { // one is published, the other is going to be
			h.must(409, "DELETE", "/contact-properties/"+properties[key], nil)
		}
		h.must(200, "DELETE", "/contact-properties/"+properties["free"], nil)
	})
}

func TestWhatCouldNeverBeginOrGoOnIsNotPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		publish := func(steps ...fields) apptest.Answer {
			definition := line(steps...)
			definition["status"] = "enabled"
			return h.Call("POST", "/automations", definition)
		}
		segment := h.must(201, "POST", "/segments", fields{"name": "All", "filter": fields{"type": "rule", "field": "email", "operator": "exists"}}).Text("id")
		daily := fields{"cron": "0 9 * * *"}
		about := fields{"filter_rule": fields{"type": "rule", "field": "email", "operator": "exists"}}
		for name, answer := range map[string]apptest.Answer{"mail": publish(on("system:schedule", daily), hello), "filter": publish(on("system:schedule", daily, about))} {
			if answer.Status != 400 || problem(answer, "steps[0].config.segment_id") == "" {
				t.Errorf("a schedule without contacts, %s: %s", name, answer.Raw)
			}
		}
		if answer := publish(on("system:schedule", daily, fields{"segment_id": segment}), hello); answer.Status != 201 {
			t.Errorf("a schedule with contacts: %s", answer.Raw)
		}
		for name, want := range map[string]int{"paid": 201, "system:email.opened": 201, "system:contact.updated": 201, "system:list.joined": 400, "system:segment.left": 400,
			"system:contact.deleted": 400, "system:nothing": 400, "system:schedule": 400} {
			answer := publish(on("go"), step("wait", "wait_for_event", fields{"event_name": name, "timeout": "1 day"}))
			if answer.Status != want || want == 400 && problem(answer, "steps[1].config.event_name") == "" {
				t.Errorf("a wait for %s: %d %s", name, answer.Status, answer.Raw)
			}
		}
	})
}

func TestADraftStaysWhenAnEarlierVersionIsPublishedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("first", "exit", nil)))
		h.must(200, "PATCH", "/automations/"+id, line(on("go"), step("second", "exit", nil)))
		back := h.must(200, "POST", "/automations/"+id+"/versions/1/rollback", nil)
		draft := h.must(200, "GET", "/automations/"+id+"?version=draft", nil)
		if back.Text("has_unpublished_changes") != "true" || !strings.Contains(string(back.Raw), `"first"`) || !strings.Contains(string(draft.Raw), `"second"`) {
			t.Errorf("%s, draft %s", back.Raw, draft.Raw)
		}
	})
}

func TestATestRunIsOfTheVersionAndTheContactThatAreAskedFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(graph([]fields{on("go"), step("wait", "wait_for_event", fields{"event_name": "paid", "timeout": "1 day"}), step("old", "exit", nil), step("late", "exit", nil)},
			[]fields{way("start wait"), way("wait old event_received"), way("wait late timeout")}))
		h.must(200, "PATCH", "/automations/"+id, line(on("go"), step("new", "exit", nil)))
		for version, want := range map[any]string{1: "start:completed wait:skipped old:completed", "draft": "start:completed new:completed"} {
			if got := path(h.must(200, "POST", "/automations/"+id+"/test", fields{"version": version})); got != want {
				t.Errorf("version %v: %s", version, got)
			}
		}
		h.must(404, "POST", "/automations/"+id+"/test", fields{"version": 9})
		unknown := h.must(400, "POST", "/automations/"+id+"/test", fields{"contact_id": "0193a1f5-0000-7000-8000-000000000999"})
		if problem(unknown, "contact_id") == "" {
			t.Errorf("a contact that is none: %s", unknown.Raw)
		}
		if summary := h.must(200, "GET", "/automations/summary", nil); summary.Text("runs", "completed_24h") != "0" {
			t.Errorf("tests are counted: %s", summary.Raw)
		}
	})
}

func TestARequestBeginsAtTheTriggerForRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		api := step("api", "trigger", fields{"event_name": "system:api"})
		id := h.enabled(graph([]fields{on("go"), api, step("a", "exit", nil), step("b", "exit", nil)}, []fields{way("start a"), way("api b")}))
		run := h.must(202, "POST", "/automations/"+id+"/run", nil).Text("id")
		h.work()
		if got := path(h.run(id, run)); got != "api:completed b:completed" {
			t.Errorf("%s", got)
		}
		mails := h.enabled(line(on("mail"), hello))
		if answer := h.must(400, "POST", "/automations/"+mails+"/run", nil); problem(answer, "contact_id") == "" {
			t.Errorf("about nobody: %s", answer.Raw)
		}
		h.Clock.Advance(25 * time.Hour)
		if summary := h.must(200, "GET", "/automations/summary", nil); summary.Text("runs", "completed_24h") != "0" {
			t.Errorf("a day later: %s", summary.Raw)
		}
	})
}

package web

import (
	"encoding/json"
	"net/http"
	"strings"
)

// segmentFormPage makes a segment, or changes one. The builder is a form like any other: its buttons post it and get it back with a
// line more or less, and a script only spares the reload.
type segmentFormPage struct {
	shell
	Name, Description string
	Kinds             []choice
	Root              *ruleNode
	// JSON is the filter as programs write it.
	JSON string
	// Count is how many people the rules are true for, once they were changed; empty if that cannot be told.
	Count        string
	Action, Back string
	Problem      *problem
}

func (v *visit) segmentForm(name, description, kind string, book *ruleBook, root *ruleNode, wrong *problem) segmentFormPage {
	p := segmentFormPage{Name: name, Description: description, Kinds: segmentKinds(kind), Root: root, Action: v.r.URL.Path, Back: v.link("audience", "segments"), Problem: wrong}
	p.shell = v.audienceShell("New segment", crumb{"Segments", p.Back})
	if id := v.path("id"); id != "" {
		p.Back = v.link("audience", "segments", id)
		p.shell = v.audienceShell("Edit segment", crumb{"Segments", v.link("audience", "segments")}, crumb{orElse(visible(book.self), "Segment"), p.Back})
	}
	p.shell = p.with("redraw.js", "unsaved.js")
	if written, err := json.MarshalIndent(book.filter(root, ""), "", "  "); err == nil {
		p.JSON = string(written)
	}
	book.draw(root, "0", wrong)
	return p
}

// peopleMatching says how many people rules are true for. Rules that are not whole yet are nothing to complain of.
func (v *visit) peopleMatching(rules any) string {
	var counted struct{ Total int64 }
	if v.send(http.MethodPost, "/v1/broadcasts/audience-estimate", map[string]any{"filter": rules}, &counted) != nil {
		return ""
	}
	return v.plural(counted.Total, "person matches", "people match")
}

func showNewSegment(v *visit) error {
	book, err := v.ruleBook("")
	if err != nil {
		return err
	}
	return v.show("audience/segmentform", v.segmentForm("", "", "dynamic", book, book.newRules(), nil))
}

func showEditSegment(v *visit) error {
	s, err := v.readSegment(v.path("id"))
	if err != nil {
		return err
	}
	book, err := v.ruleBook(s.ID)
	if err != nil {
		return err
	}
	root := book.newRules()
	if s.hasRules() {
		if root, err = book.read(s.Filter); err != nil {
			return err
		}
	}
	return v.show("audience/segmentform", v.segmentForm(s.Name, s.Description, s.Type, book, root, nil))
}

func saveSegment(v *visit) error {
	id := v.path("id")
	book, err := v.ruleBook(id)
	if err != nil {
		return err
	}
	name, description, kind := strings.TrimSpace(v.value("name")), strings.TrimSpace(v.value("description")), v.value("type")
	root := rulesOf(v.form)
	if root == nil || root.Group == "" {
		root = book.newRules()
	}
	again := func(status int, wrong *problem) error {
		p := v.segmentForm(name, description, kind, book, root, wrong)
		if kind != "manual" && wrong == nil {
			p.Count = v.peopleMatching(book.filter(root, ""))
		}
		return v.showStatus(status, "audience/segmentform", p)
	}
	if do := v.value("do"); do == "json" {
		if root, err = book.read([]byte(v.value("json"))); err != nil {
			root = rulesOf(v.form)
			return again(http.StatusBadRequest, &problem{Status: http.StatusBadRequest, Message: "That is not JSON.", Fields: map[string]string{"json": "Cannot be read: " + err.Error() + "."}})
		}
		return again(http.StatusOK, nil)
	} else if do != "" {
		root = book.change(root, do)
		return again(http.StatusOK, nil)
	}
	body := map[string]any{"name": name, "description": description, "type": kind, "filter": nil}
	if kind != "manual" {
		body["filter"] = book.filter(root, "")
	}
	method, path, done := http.MethodPost, "/v1/segments", "Segment created. Here is who is in it."
	if id != "" {
		method, path, done = http.MethodPatch, apiPath("segments", id), "Saved. Here is who is in it now."
	}
	var made struct{ ID string }
	err = v.sendNamed(method, path, body, &made)
	if refused := refusal(err); refused != nil {
		return again(refused.Status, nameTaken(refused, "segment"))
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("audience", "segments", made.ID), done)
}

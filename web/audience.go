package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

func audiencePages() []page {
	return slices.Concat(contactPages(), importPages(), listPages(), segmentPages(), topicPages(), propertyPages())
}

// audienceTabs are the parts of an audience, each a page of its own.
func (v *visit) audienceTabs(current string) []tab {
	tabs := []tab{{Name: "", Label: "Contacts"}, {Name: "lists", Label: "Lists"}, {Name: "segments", Label: "Segments"}, {Name: "topics", Label: "Topics"},
		{Name: "properties", Label: "Properties"}, {Name: "imports", Label: "Imports"}}
	for i, t := range tabs {
		tabs[i].Current = t.Name == current
		if tabs[i].Href = v.link("audience"); t.Name != "" {
			tabs[i].Href = v.link("audience", t.Name)
		}
	}
	return tabs
}

// audienceShell begins a page about the audience, below the pages that lead to it.
func (v *visit) audienceShell(title string, above ...crumb) shell {
	s := v.shell(title, "audience").with("audience.css")
	return s.under(append([]crumb{{"Audience", v.link("audience")}}, above...)...)
}

// namedRecord is what lists, segments, topics and templates have in common.
type namedRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// named reads the things of a kind, such as all lists, by their names.
func (v *visit) named(path string, query url.Values) ([]namedRecord, error) {
	found, err := every[namedRecord](v, path, query, maxOffered)
	slices.SortFunc(found, func(a, b namedRecord) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return found, err
}

// namesOf makes choices of things, the first of which is to choose nothing. The current one stays, even if it is not among them.
func namesOf(all []namedRecord, nothing, current string) []choice {
	offered := choices(current, "", nothing)
	for _, one := range all {
		offered = append(offered, choice{Value: one.ID, Label: visible(one.Name), Chosen: one.ID == current})
	}
	return keeping(offered, current)
}

// removePage asks before something is deleted, and says what goes with it. Where it cannot be made again, the name has to be typed.
type removePage struct {
	shell
	Heading, Button string
	Says            []string
	Action, Back    string
	// Name is what has to be typed; empty asks for nothing.
	Name, Wrong string
	Problem     *problem
}

// removing deletes what is at a path of the API once it is confirmed, and says why if it cannot be.
func (v *visit) removing(p removePage, path, to, done string) error {
	p.Action = v.r.URL.Path
	if v.r.Method == http.MethodGet {
		return v.show("audience/remove", p)
	}
	if p.Name != "" && strings.TrimSpace(v.value("confirm")) != p.Name {
		p.Wrong = "That is not the name. Type it exactly as it is written above."
		return v.showStatus(http.StatusBadRequest, "audience/remove", p)
	}
	err := v.send(http.MethodDelete, path, nil, nil)
	if refused, ok := err.(*problem); ok && refused.Status == http.StatusConflict {
		p.Problem = refused
		return v.showStatus(refused.Status, "audience/remove", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(to, done)
}

// orNull is a value of a form for the API, to which an empty one means that there is none.
func orNull(text string) any {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return text
}

// latest returns the last of some times.
func latest(times ...*time.Time) (last time.Time) {
	for _, at := range times {
		if at != nil && at.After(last) {
			last = *at
		}
	}
	return last
}

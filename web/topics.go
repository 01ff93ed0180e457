package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func topicPages() []page {
	return []page{
		{"GET /audience/topics", listTopics},
		{"GET /audience/topics/new", needing("audience:manage", showTopic)}, {"POST /audience/topics/new", saveTopic},
		{"GET /audience/topics/{id}", showTopic}, {"POST /audience/topics/{id}", saveTopic},
		{"GET /audience/topics/{id}/delete", needing("audience:manage", removeTopic)}, {"POST /audience/topics/{id}/delete", removeTopic},
	}
}

type topicRecord struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Default     string `json:"default_subscription"`
	Visibility  string `json:"visibility"`
	Subscribers int64  `json:"subscriber_count"`
}

// topicsPage shows all topics.
type topicsPage struct {
	shell
	Tabs  []tab
	Rows  []topicRow
	Pager pager
}

type topicRow struct {
	Name, Description, Href, Subscribers string
	In, Public                           bool
}

func listTopics(v *visit) error {
	p := topicsPage{shell: v.audienceShell("Topics"), Tabs: v.audienceTabs("topics")}
	var found listOf[topicRecord]
	if err := v.get("/v1/topics", url.Values{"limit": {"50"}, "offset": {strconv.Itoa(v.offset())}}, &found); err != nil {
		return err
	}
	for _, t := range found.Data {
		p.Rows = append(p.Rows, topicRow{Name: visible(t.Name), Description: visible(t.Description), Href: v.link("audience", "topics", t.ID), Subscribers: v.number(t.Subscribers),
			In: t.Default == "opt_in", Public: t.Visibility == "public"})
	}
	p.Pager = beside(v, found)
	return v.show("audience/topics", p)
}

// topicPage makes a topic, or changes one.
type topicPage struct {
	shell
	Topic    topicRecord
	Heading  string
	Readers  string
	Defaults []choice
	Public   bool
	Action   string
	Problem  *problem
}

func (v *visit) topicForm(t topicRecord, wrong *problem) topicPage {
	p := topicPage{shell: v.audienceShell("New topic", crumb{"Topics", v.link("audience", "topics")}), Topic: t, Heading: "New topic", Action: v.r.URL.Path, Public: t.Visibility == "public", Problem: wrong}
	if t.ID != "" {
		p.Heading = visible(t.Name)
		p.shell, p.Readers = v.audienceShell(p.Heading, crumb{"Topics", v.link("audience", "topics")}), v.plural(t.Subscribers, "reader", "readers")
	}
	p.Defaults = choices(t.Default, "opt_in", "Get it until they say no", "opt_out", "Get it only if they say yes")
	return p
}

func showTopic(v *visit) error {
	t := topicRecord{Default: "opt_in", Visibility: "public"}
	if id := v.path("id"); id != "" {
		if err := v.get(apiPath("topics", id), nil, &t); err != nil {
			return err
		}
	}
	return v.show("audience/topic", v.topicForm(t, nil))
}

func saveTopic(v *visit) error {
	t := topicRecord{ID: v.path("id"), Name: strings.TrimSpace(v.value("name")), Description: strings.TrimSpace(v.value("description")), Default: v.value("default_subscription"), Visibility: "private"}
	if v.checked("public") {
		t.Visibility = "public"
	}
	body := map[string]any{"name": t.Name, "description": t.Description, "visibility": t.Visibility}
	method, path, done := http.MethodPatch, apiPath("topics", t.ID), "Saved."
	if t.ID == "" {
		method, path, done = http.MethodPost, "/v1/topics", "Topic created."
		body["default_subscription"] = t.Default
	}
	err := v.sendNamed(method, path, body, nil)
	if refused := refusal(err); refused != nil {
		return v.refuseTopic(t, nameTaken(refused, "topic"))
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("audience", "topics"), done)
}

// refuseTopic draws the form again as it was filled in. What it does not ask for is that of the topic.
func (v *visit) refuseTopic(asked topicRecord, refused *problem) error {
	stored := asked
	if asked.ID != "" {
		if err := v.get(apiPath("topics", asked.ID), nil, &stored); err != nil {
			return err
		}
		asked.Default = stored.Default
	}
	p := v.topicForm(stored, refused)
	p.Topic, p.Public = asked, asked.Visibility == "public"
	return v.showStatus(refused.Status, "audience/topic", p)
}

func removeTopic(v *visit) error {
	var t topicRecord
	if err := v.get(apiPath("topics", v.path("id")), nil, &t); err != nil {
		return err
	}
	name, here := visible(t.Name), v.link("audience", "topics", t.ID)
	return v.removing(removePage{shell: v.audienceShell("Delete topic", crumb{"Topics", v.link("audience", "topics")}, crumb{name, here}), Heading: "Delete the topic " + name, Button: "Delete topic",
		Says: []string{"What your readers said about it is forgotten. Nobody can choose it any more.", "The contacts stay."}, Back: here},
		apiPath("topics", t.ID), v.link("audience", "topics"), "Topic deleted.")
}

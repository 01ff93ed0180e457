package web

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"
)

func book() *ruleBook {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return &ruleBook{zone: berlin, fields: append(contactFields(), ruleField{Name: "properties.seats", Label: "Seats", Family: "Properties", Kind: "number"},
		ruleField{Name: "lists", Label: "List", Family: "Lists", Kind: "list", Choices: []choice{{Value: "l1", Label: "Customers"}}})}
}

// post is the form of a tree as it is drawn, read back as a browser would send it.
func post(b *ruleBook, root *ruleNode) url.Values {
	form := url.Values{}
	b.draw(root, "0", nil)
	var walk func(n *ruleNode)
	walk = func(n *ruleNode) {
		form.Add("node", n.Path)
		for name, value := range map[string]string{"group": n.Group, "field": n.Field, "op": n.Operator, "value": n.Value, "unit": n.Unit} {
			form.Set(name+":"+n.Path, value)
		}
		for _, below := range n.Nodes {
			walk(below)
		}
	}
	walk(root)
	return form
}

func TestFiltersSurviveTheBuilder(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{
		`{"rules":[{"field":"first_name","operator":"in","type":"rule","value":["Ada","Grace"]}],"type":"and"}`,
		`{"rules":[{"field":"properties.seats","operator":"gte","type":"rule","value":2.5},{"field":"unsubscribed","operator":"eq","type":"rule","value":false}],"type":"or"}`,
		`{"rules":[{"rules":[{"field":"lists","operator":"not_member_of","type":"rule","value":"l1"},{"field":"email","operator":"exists","type":"rule","value":true}],"type":"or"}],"type":"not"}`,
		`{"rules":[{"field":"created_at","operator":"lt","type":"rule","value":"2026-11-15T08:30:00Z"},{"rules":[{"field":"engagement.last_opened_at","operator":"within_last","type":"rule","value":"3 weeks"}],"type":"or"}],"type":"and"}`,
	} {
		b := book()
		root, err := b.read([]byte(filter))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(b.filter(rulesOf(post(b, root)), ""))
		if err != nil || string(again) != filter {
			t.Errorf("%s became %s, %v", filter, again, err)
		}
	}
}

func TestButtonsOfTheBuilderChangeOnlyTheirPlace(t *testing.T) {
	t.Parallel()
	b := book()
	root, err := b.read([]byte(`{"type":"and","rules":[{"type":"rule","field":"email","operator":"eq","value":"a"},{"type":"or","rules":[{"type":"rule","field":"email","operator":"eq","value":"b"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	press := func(do string) { root = b.change(rulesOf(post(b, root)), do) }
	press("add:0.1")
	if !root.Nodes[1].Nodes[1].Fresh {
		t.Error("the new line does not take the focus")
	}
	press("drop:0.0")
	if len(root.Nodes) != 1 || len(root.Nodes[0].Nodes) != 2 || root.Nodes[0].Nodes[0].Value != "b" {
		t.Fatalf("after adding and dropping: %+v", b.text(root))
	}
	press("drop:0.0.0")
	press("drop:0.0.0")
	if len(root.Nodes) != 1 || root.Nodes[0].Group != "" || root.Nodes[0].Value != "" {
		t.Errorf("an empty builder does not begin again with one line: %+v", b.text(root))
	}
}

func TestWhatIsWrongStandsBesideItsRule(t *testing.T) {
	t.Parallel()
	b := book()
	root, err := b.read([]byte(`{"type":"not","rules":[{"type":"or","rules":[{"type":"rule","field":"email","operator":"eq","value":"a"},{"type":"rule","field":"properties.seats","operator":"gt","value":"many"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	b.filter(root, "")
	b.draw(root, "0", &problem{Fields: map[string]string{"filter.rules[0].rules[1].value": "Must be a number."}})
	if root.Nodes[1].Wrong != "Must be a number." || root.Nodes[0].Wrong != "" || root.Wrong != "" {
		t.Errorf("said at %q, %q and %q", root.Wrong, root.Nodes[0].Wrong, root.Nodes[1].Wrong)
	}
}

func TestAFieldThatIsGoneIsStillShown(t *testing.T) {
	t.Parallel()
	b := book()
	root, err := b.read([]byte(`{"type":"rule","field":"properties.old","operator":"contains","value":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	b.draw(root, "0", nil)
	line := root.Nodes[0]
	last := line.Families[len(line.Families)-1]
	if last.Label != "Gone" || !last.Fields[0].Chosen || line.Operator != "contains" || b.text(line).Text != "properties.old contains x" {
		t.Errorf("%+v %q", last, b.text(line).Text)
	}
}

func TestAListThatIsNotOfferedStaysChosen(t *testing.T) {
	t.Parallel()
	b := book()
	root, err := b.read([]byte(`{"type":"rule","field":"lists","operator":"member_of","value":"l2"}`))
	if err != nil {
		t.Fatal(err)
	}
	b.draw(root, "0", nil)
	if offered := root.Nodes[0].Choices; len(offered) != 2 || offered[1].Value != "l2" || !offered[1].Chosen {
		t.Errorf("offered are %+v, of which a browser takes the first", offered)
	}
}

package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// inspect looks at the page that is open, which cannot be reached by an address: the answer to a form.
func (o *tour) inspect(name string) {
	o.t.Helper()
	o.Complaints() // that a form was refused is no fault of the page that says so
	for _, theme := range []string{"light", "dark"} {
		o.Theme(theme)
		if axe() != "" {
			for _, barrier := range o.Axe(axe()) {
				o.t.Errorf("%s, %s: %s", name, theme, barrier)
			}
		}
		if *pictures {
			o.Picture(filepath.Join("..", "..", "docs", "pictures", fmt.Sprintf("%s-%s-1440.png", name, theme)))
		}
	}
	o.Theme("light")
	o.Resize(390)
	if wide := o.Eval("document.documentElement.scrollWidth > innerWidth + 1"); wide == "true" {
		o.t.Errorf("%s: sticks out of a small screen", name)
	}
	if *pictures {
		o.Picture(filepath.Join("..", "..", "docs", "pictures", name+"-light-390.png"))
	}
	o.Resize(1440)
	for _, complaint := range o.Complaints() {
		o.t.Errorf("%s: %s", name, complaint)
	}
}

// people fills an audience: a list, a topic, two properties, and some contacts on the list.
func (o *tour) people() (list string) {
	o.t.Helper()
	o.call("POST", "/contact-properties", map[string]any{"key": "plan", "type": "string", "label": "Plan", "fallback_value": "free"})
	o.call("POST", "/contact-properties", map[string]any{"key": "seats", "type": "number"})
	o.call("POST", "/topics", map[string]any{"name": "Product news", "description": "What is new, once a month", "visibility": "public"})
	list = o.call("POST", "/audience/lists", map[string]any{"name": "Customers", "description": "Everybody who bought something"})["id"].(string)
	for i, name := range []string{"Ada Lovelace", "Grace Hopper", "Edsger Dijkstra", "Barbara Liskov", "Linus Pauling", "Radia Perlman"} {
		var first, last string
		if _, err := fmt.Sscan(name, &first, &last); err != nil {
			o.t.Fatal(err)
		}
		plan := "pro"
		if i%2 == 1 {
			plan = "free"
		}
		o.call("POST", "/audience/contacts", map[string]any{"email": fmt.Sprintf("%s@example.net", []string{"ada", "grace", "edsger", "barbara", "linus", "radia"}[i]), "first_name": first, "last_name": last,
			"list_id": list, "properties": map[string]any{"plan": plan, "seats": i}, "consent": map[string]any{"source": "Checkout"}})
	}
	return list
}

func TestImportIsMappedCheckedAndWatchedUntilItIsDone(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.call("POST", "/contact-properties", map[string]any{"key": "plan", "type": "string"})
	list := o.call("POST", "/audience/lists", map[string]any{"name": "Fair in Berlin"})["id"].(string)
	o.look("imports-empty", "/audience/imports")
	o.look("import", "/audience/import")
	file := filepath.Join(t.TempDir(), "fair.csv")
	if err := os.WriteFile(file, []byte("E-Mail;First name;Tariff;Notes\nada@example.net;Ada;pro;met at the stand\ngrace@example.net;Grace;free;\nnot an address;Nobody;free;\nada@example.net;Ada L.;pro;twice\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.open("/audience/import")
	o.Press("Check columns")
	o.See("not a table with names of columns")
	o.Upload("file", file)
	o.Press("Check columns")
	o.See("1 row has no good address")
	o.See("1 row repeats an address")
	o.Eval(`(s => { s.value = "plan" })(document.querySelectorAll("[name=column]")[2])`)
	o.Set("list_id", list)
	o.Press("Check again")
	o.Wait(`document.querySelectorAll("[name=column]")[2]?.value === "plan" && document.querySelector("[name=list_id]").value !== ""`)
	o.inspect("import-map")
	o.Press("Import 4 rows")
	o.Wait(`document.querySelector("#job .st-delivered")`)
	o.See("Invalid email address.")
	job := o.Eval("location.pathname")[len(o.path("")):]
	o.look("import-job", job)
	o.look("imports", "/audience/imports")
	o.open("/audience?list_id=" + list)
	o.See("grace@example.net")
	o.Press("ada@example.net")
	o.Wait(`location.pathname.includes("/contacts/")`)
	o.See("Ada L.")
	o.See("pro")
}

// Somebody who knows the form is faster than the server: a button, a field and the way the rules are joined, before the first answer.
func TestAHurriedHandLosesNoWishInTheSegmentForm(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.people()
	o.open("/audience/segments/new")

	o.Eval(`(() => {
		const set = (name, value) => {
			const control = document.querySelector("[name='" + name + "']");
			control.value = value;
			control.dispatchEvent(new Event("change", { bubbles: true }));
		};
		document.querySelector("button[value='add:0']").click();
		set("field:0.0", "properties.seats");
		set("group:0", "any");
		return "";
	})()`)

	o.Wait(`document.querySelector("[name='field:0.1']")`)
	o.Wait(`document.querySelector("[name='op:0.0'] option[value=gte]")`)
	o.Wait(`document.querySelector("[name='field:0.0']").value === "properties.seats" && document.querySelector("[name='group:0']").value === "any"`)
}

func TestSegmentOfTwoRulesShowsWhoIsInIt(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "with scripts", false: "without scripts"}[scripts], func(t *testing.T) {
			t.Parallel()
			o := begin(t)
			o.people()
			o.Scripts(scripts)
			o.open("/audience/segments/new")
			o.Fill("name", "Pro with seats")
			o.Set("field:0.0", "properties.plan")
			if !scripts {
				o.Press("Show the conditions of the chosen fields")
			}
			o.Wait(`document.querySelector("[name='field:0.0']")?.value === "properties.plan"`)
			o.Fill("value:0.0", "pro")
			if scripts {
				o.See("people match right now") // before it is saved
			}
			o.Press("Add rule")
			o.Wait(`document.querySelector("[name='field:0.1']")`)
			o.Set("field:0.1", "properties.seats")
			if !scripts {
				o.Press("Show the conditions of the chosen fields")
			}
			o.Wait(`document.querySelector("[name='op:0.1'] option[value=gte]")`)
			o.Set("op:0.1", "gte")
			if scripts {
				o.Wait(`document.querySelector("[name='op:0.1']")?.value === "gte"`)
			}
			o.Fill("value:0.1", "2")
			o.Press("Add group")
			o.Wait(`document.querySelector("[name='field:0.2.1']")`)
			if scripts {
				o.inspect("segment-builder")
			}
			o.Press("Remove group")
			o.Wait(`!document.querySelector("[name='group:0.2']")`)
			o.See("2 people match right now")
			o.Press("Save segment")
			o.See("Plan is pro")
			o.See("2 people")
			o.See("seats is at least 2")
			o.See("edsger@example.net")
			o.See("linus@example.net")
			if !scripts {
				return
			}
			segment := o.Eval("location.pathname")[len(o.path("")):]
			for name, page := range map[string]string{"segment": segment, "segment-edit": segment + "/edit", "segments": "/audience/segments", "segment-delete": segment + "/delete", "segment-new": "/audience/segments/new"} {
				o.look(name, page)
			}
		})
	}
}

func TestRulesAreRefusedBesideTheirLineAndCanBeWrittenAsJSON(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.people()
	o.look("segments-empty", "/audience/segments")
	o.open("/audience/segments/new")
	o.Fill("name", "Old")
	o.Set("field:0.0", "properties.seats")
	o.Wait(`document.querySelector("[name='op:0.0'] option[value=gte]")`)
	o.Press("Save segment")
	o.See("Must be a number.")
	o.inspect("segment-wrong")
	o.Press("Edit as JSON")
	o.Set("json", `{"type":"not","rules":[{"type":"or","rules":[{"type":"rule","field":"first_name","operator":"in","value":["Ada","Grace"]},{"type":"rule","field":"created_at","operator":"not_within_last","value":"3 weeks"}]}]}`)
	o.Press("Use this JSON")
	o.Wait(`document.querySelector("[name='group:0']")?.value === "none" && document.querySelector("[name='value:0.0']")?.value === "Ada, Grace" && document.querySelector("[name='unit:0.1']")?.value === "weeks"`)
	o.Press("Save segment")
	o.See("None of these is true:")
	o.See("4 people")
	o.See("Added is not within the last 3 weeks")
	o.Press("Delete")
	o.Press("Delete segment")
	o.See("Segment deleted.")
}

func TestContactIsAddedChangedAndErased(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("audience-empty", "/audience")
	list := o.people()
	o.look("audience", "/audience")
	o.look("contact-new", "/audience/contacts/new")
	o.open("/audience/contacts/new")
	o.Fill("email", "ada@example.net")
	o.Press("Add contact")
	o.See("There is already a contact with this address.")
	o.Fill("email", "hedy@example.net")
	o.Fill("first_name", "Hedy")
	o.Set("list_id", list)
	o.Fill("p.plan", "pro")
	o.Press("Add contact")
	o.See("Contact added.")
	contact := o.Eval("location.pathname")[len(o.path("")):]
	o.Press("Unsubscribe")
	o.See("What the contact gets was changed.")
	o.See("Their choice")
	o.Press("Edit")
	o.Fill("p.seats", "12")
	o.Press("Save contact")
	o.See("12")
	o.call("POST", "/emails", map[string]any{"from": "hello@acme.test", "to": "hedy@example.net", "subject": "Your frequency hops", "text": "Hi"})
	o.look("contact", contact)
	o.look("contact-edit", contact+"/edit")
	o.look("contact-forget", contact+"/forget")
	o.open("/audience")
	o.Fill("q", "hedy")
	o.Wait(`document.querySelectorAll("#results tbody tr").length === 1`)
	o.open(contact + "/forget")
	o.Fill("confirm", "somebody@example.net")
	o.Press("Erase this person")
	o.See("That is not the address.")
	o.Fill("confirm", "hedy@example.net")
	o.Press("Erase this person")
	o.See("The contact is gone.")
}

func TestListsTopicsAndPropertiesAreMadeAndDeleted(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("lists-empty", "/audience/lists")
	o.look("topics-empty", "/audience/topics")
	o.look("properties-empty", "/audience/properties")
	o.people()
	o.look("list-new", "/audience/lists/new")
	o.open("/audience/lists/new")
	o.Fill("name", "Customers")
	o.Press("Save list")
	o.See("There is already a list with this name.")
	o.Fill("name", "Newsletter")
	o.Click(`[name="double_opt_in"]`)
	o.Fill("from", "Acme <hello@acme.test>")
	o.inspect("list-form")
	o.Press("Save list")
	o.See("List created.")
	list := o.Eval("location.pathname")[len(o.path("")):]
	o.call("POST", "/audience/contacts", map[string]any{"email": "maria@example.net", "list_id": list[len("/audience/lists/"):]})
	o.look("list", list)
	o.open(list)
	o.Press("Send confirmations")
	o.See("1 person was asked to confirm.")
	o.look("list-edit", list+"/edit")
	o.look("lists", "/audience/lists")
	o.look("list-delete", list+"/delete")
	o.open(list + "/delete")
	o.Fill("confirm", "Newsletters")
	o.Press("Delete list")
	o.See("That is not the name.")
	o.Fill("confirm", "Newsletter")
	o.Press("Delete list")
	o.See("List deleted.")
	o.look("topic-new", "/audience/topics/new")
	o.open("/audience/topics/new")
	o.Fill("name", "Offers")
	o.Press("Save topic")
	o.See("Topic created.")
	o.look("topics", "/audience/topics")
	o.Press("Offers")
	o.Wait(`document.querySelector("h1")?.innerText === "Offers"`)
	o.look("topic", o.Eval("location.pathname")[len(o.path("")):])
	o.look("property-new", "/audience/properties/new")
	o.open("/audience/properties/new")
	o.Fill("key", "Plan B")
	o.Press("Save property")
	o.See("lower-case letters")
	o.Fill("key", "renews_on")
	o.Set("type", "date")
	o.Press("Save property")
	o.See("Property defined.")
	o.look("properties", "/audience/properties")
	o.Press("renews_on")
	o.Wait(`document.querySelector("h1")?.innerText === "renews_on"`)
	o.look("property", o.Eval("location.pathname")[len(o.path("")):])
	o.look("export", "/audience/export")
}

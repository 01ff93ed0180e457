package dashboard

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// publish puts records into the sandbox's DNS, as the owner of a domain would at the registrar.
func (o *tour) publish(name, kind string, values ...string) {
	o.t.Helper()
	raw, err := json.Marshal(map[string]any{"name": name, "type": kind, "values": values})
	if err != nil {
		o.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPut, o.ready.HTTP+"/sandbox/dns", bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode >= 300 {
		o.t.Fatalf("publish %s: %v %v", name, response, err)
	}
	_ = response.Body.Close()
}

func TestDomainIsAddedCorrectedVerifiedAndDeleted(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("domain-new", "/domains/new")
	o.open("/domains/new")
	o.Fill("domain", "co.uk")
	o.Press("Add domain")
	o.See("This is a public suffix")
	o.Fill("domain", "mail.letters.test")
	o.Press("Add domain")
	o.See("Publish the records below")
	page := strings.TrimPrefix(o.Path(), o.path(""))
	o.look("domain-new-records", page)

	o.publish("mail.letters.test", "TXT", "v=spf1 include:_spf.elsewhere.test ~all")
	o.open(page)
	o.Press("Check now")
	o.See("Does not match")
	o.See("v=spf1 include:_spf.elsewhere.test ~all")
	o.look("domain", page)
	if zone := o.Eval(`document.querySelector("[data-copy*=' IN ']").dataset.copy`); !strings.Contains(zone, "bounce.mail.letters.test. 3600 IN CNAME bounces.") || !strings.Contains(zone, `_dmarc.mail.letters.test. 3600 IN TXT "v=DMARC1`) {
		t.Errorf("the zone file is %s", zone)
	}

	o.open(page + "?tab=receiving")
	o.Press("Switch receiving on")
	o.See("Receiving cannot be switched on until mail for the domain would arrive")
	o.See("The domain is verified")
	o.See("Verify the domain first")

	o.open(page)
	o.Press("Publish in the sandbox")
	o.See("The domain is verified, and mail can be sent from it")
	o.Press("Send a test from this domain")
	o.See("New email")
	if from := o.Eval(`document.querySelector("[name=from]").value`); from != "hello@mail.letters.test" {
		t.Errorf("the test is from %s", from)
	}
	for _, tab := range []string{"receiving", "settings", "cloudflare", "history"} {
		o.look("domain-"+tab, page+"?tab="+tab)
	}
	o.look("domains", "/domains")
	o.deleteDomain(page)
}

func (o *tour) deleteDomain(page string) {
	o.t.Helper()
	o.open(page + "?tab=settings")
	o.Fill("typed", "letters.test")
	o.Press("Delete domain")
	o.See("The name does not match")
	o.Fill("typed", "mail.letters.test")
	o.Press("Delete domain")
	o.See("is deleted")
	o.open("/domains?q=letters")
	o.See("No domain matches")
}

func TestDomainSettingsAreSavedAndItsKeyRotated(t *testing.T) {
	t.Parallel()
	o := begin(t)
	made := o.call("POST", "/domains", map[string]any{"domain": "shop.test"})
	page := "/domains/" + made["id"].(string)
	o.open(page + "?tab=settings")
	o.Set("open_tracking", "true")
	o.Set("tls", "enforced")
	o.Set("dmarc_policy", "quarantine")
	o.Fill("tracking_subdomain", "Not A Label")
	o.Press("Save settings")
	o.See("Must be one label")
	if tls := o.Eval(`document.querySelector("[name=tls]").value`); tls != "enforced" {
		t.Errorf("the form forgot what was chosen: %s", tls)
	}
	o.Fill("tracking_subdomain", "links")
	o.Press("Save settings")
	o.See("Saved.")
	saved := o.call("GET", "/domains/"+made["id"].(string), nil)
	if saved["open_tracking"] != true || saved["tls"] != "enforced" || saved["tracking_subdomain"] != "links" {
		t.Errorf("saved %v", saved)
	}
	o.Press("Make a new key")
	o.See("The next key: it takes over signing")
	o.open(page + "?tab=settings")
	o.Press("Make a new key")
	o.See("A new key is already waiting")

	o.open(page + "?tab=cloudflare")
	o.Press("Make a link")
	o.See("no Domain Connect template")
}

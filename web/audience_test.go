package web_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app/apptest"
	"postrider/platform/api"
)

func TestTheFormOfASegmentLeadsBackByItsName(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	owner := signedIn(t, in, api.Owner)
	path := "/audience/segments/" + in.Must(http.StatusCreated, http.MethodPost, "/segments", map[string]any{"name": "Readers of Kyoto",
		"filter": map[string]any{"type": "rule", "field": "email", "operator": "contains", "value": "a"}}).Text("id")
	crumb := `href="` + owner.path(path) + `">Readers of Kyoto</a>`
	page := owner.open(path + "/edit")
	if !strings.Contains(page, crumb) {
		t.Errorf("nothing leads back: %.300s", main(page))
	}
	form := owner.filled(page, path+"/edit")
	form.Set("name", "Another name")
	form.Set("do", "json")
	form.Set("json", "{")
	if refused := owner.post(path+"/edit", form); refused.Code != http.StatusBadRequest || !strings.Contains(refused.Body.String(), crumb) {
		t.Errorf("%d, and its name is forgotten", refused.Code)
	}
}

package app_test

import (
	"net/http"
	"strings"
	"testing"

	"postrider/app"
	"postrider/app/apptest"
)

func TestASlashAtTheEndOfTheAddressIsNoneInWhatPeopleCopy(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite", func(s *app.Settings) { s.BaseURL = "https://postrider.test/" })
	page := in.Browse(http.MethodGet, "/w/"+string(in.Workspace)+"/quickstart", nil)
	if !strings.Contains(string(page.Raw), "https://postrider.test/v1/emails") || strings.Contains(string(page.Raw), "postrider.test//") {
		t.Errorf("%d %.3000s", page.Status, page.Raw)
	}
}

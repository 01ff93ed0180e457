package template_test

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/resend/resend-go/v3"
)

func TestTheResendSDKWorksUnchanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		server := httptest.NewServer(h.front)
		defer server.Close()
		client := resend.NewClient(h.Key)
		client.BaseURL, _ = url.Parse(server.URL + "/v1/")

		created, err := client.Templates.Create(&resend.CreateTemplateRequest{Name: "Welcome", Alias: "welcome", Html: "<p>Hi {{{NAME}}}</p>", ReplyTo: "a@acme.test",
			Variables: []*resend.TemplateVariable{{Key: "NAME", Type: resend.VariableTypeString, FallbackValue: "there"}, {Key: "AGE", Type: resend.VariableTypeNumber, FallbackValue: 5}}})
		if err != nil || created.Object != "template" {
			t.Fatal(created, err)
		}
		if _, err := client.Templates.Publish(created.Id); err != nil {
			t.Error(err)
		}
		if _, err := client.Templates.Update("welcome", &resend.UpdateTemplateRequest{Name: "Hello", Subject: "Hi"}); err != nil {
			t.Error(err)
		}
		got, err := client.Templates.Get("welcome")
		if err != nil || got.Id != created.Id || got.Name != "Hello" || got.Subject != "Hi" || got.Html != "<p>Hi {{{NAME}}}</p>" || len(got.Variables) != 2 || got.Variables[0].FallbackValue != "there" {
			t.Errorf("%+v, %v", got, err)
		}
		copied, err := client.Templates.Duplicate("welcome")
		if err != nil || copied.Id == created.Id {
			t.Errorf("%+v, %v", copied, err)
		}
		limit := 1
		list, err := client.Templates.List(&resend.ListOptions{Limit: &limit, After: &copied.Id})
		if err != nil || len(list.Data) != 1 || list.Data[0].Id != created.Id || list.Data[0].Status != "published" || list.HasMore {
			t.Errorf("%+v, %v", list, err)
		}
		removed, err := client.Templates.Remove("welcome")
		if err != nil || !removed.Deleted || removed.Id != created.Id {
			t.Errorf("%+v, %v", removed, err)
		}
	})
}

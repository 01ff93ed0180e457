package audience_test

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/resend/resend-go/v3"
)

func TestResendsGoSDKKeepsAnAudience(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		server := httptest.NewServer(h.App.API)
		defer server.Close()
		client := resend.NewClient(h.Key)
		client.BaseURL, _ = url.Parse(server.URL + "/v1/")

		segment, err := client.Segments.Create(&resend.CreateSegmentRequest{Name: "Friends"})
		if err != nil {
			t.Fatal(err)
		}
		contact, err := client.Contacts.Create(&resend.CreateContactRequest{Email: "ann@example.net", FirstName: "Ann"})
		if err != nil || contact.Id == "" {
			t.Fatal(contact, err)
		}
		old, err := client.Contacts.Create(&resend.CreateContactRequest{Email: "old@example.net", AudienceId: segment.Id})
		if err != nil || old.Id == "" {
			t.Fatal(old, err)
		}
		read, err := client.Contacts.Get(&resend.GetContactOptions{Id: "ann@example.net"})
		if err != nil || read.Id != contact.Id || read.FirstName != "Ann" {
			t.Errorf("%+v, %v", read, err)
		}
		if _, err := client.Contacts.Update(&resend.UpdateContactRequest{Id: contact.Id, LastName: "Lee"}); err != nil {
			t.Error(err)
		}
		list, err := client.Contacts.List(&resend.ListContactsOptions{})
		if err != nil || len(list.Data) != 2 {
			t.Errorf("%+v, %v", list, err)
		}
		removed, err := client.Contacts.Remove(&resend.RemoveContactOptions{Id: "ann@example.net"})
		if err != nil || !removed.Deleted {
			t.Errorf("%+v, %v", removed, err)
		}
		segments, err := client.Segments.List()
		if err != nil || len(segments.Data) != 1 || segments.Data[0].Name != "Friends" {
			t.Errorf("%+v, %v", segments, err)
		}
		gone, err := client.Segments.Remove(segment.Id)
		if err != nil || !gone.Deleted {
			t.Errorf("%+v, %v", gone, err)
		}
	})
}

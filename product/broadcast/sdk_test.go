package broadcast_test

import (
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/resend/resend-go/v3"
)

func TestResendsGoSDKSendsABroadcast(t *testing.T) {
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
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "segments": []string{segment.Id}})

		made, err := client.Broadcasts.Create(&resend.CreateBroadcastRequest{AudienceId: segment.Id, From: "Acme <news@acme.test>", Subject: "November", Html: "<p>Hi</p>"})
		if err != nil || made.Id == "" {
			t.Fatal(made, err)
		}
		if _, err := client.Broadcasts.Update(&resend.UpdateBroadcastRequest{BroadcastId: made.Id, Name: "News"}); err != nil {
			t.Error(err)
		}
		if _, err := client.Broadcasts.Send(&resend.SendBroadcastRequest{BroadcastId: made.Id}); err != nil {
			t.Error(err)
		}
		h.finish()
		read, err := client.Broadcasts.Get(made.Id)
		if err != nil || read.Status != "sent" || read.Name != "News" || read.Subject != "November" {
			t.Errorf("%+v, %v", read, err)
		}
		list, err := client.Broadcasts.List()
		if err != nil || len(list.Data) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		other, err := client.Broadcasts.Create(&resend.CreateBroadcastRequest{AudienceId: segment.Id, From: "news@acme.test", Subject: "x", Html: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if removed, err := client.Broadcasts.Remove(other.Id); err != nil || !removed.Deleted {
			t.Errorf("%+v, %v", removed, err)
		}
		if len(h.Mailbox("ann@example.net")) != 1 {
			t.Error("no mail")
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"postrider/client"
)

func Example() {
	// A server that takes every email stands for an installation.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"object":"email","id":"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00","status":"queued"}`)
	}))
	defer server.Close()

	c := client.New(server.URL, "your key")
	sent, err := c.Emails.Send(context.Background(), client.EmailSendBody{
		From: "Acme <hello@acme.test>", To: []string{"ann@example.net"}, Subject: "Hello", Text: new("Hi Ann"),
	})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println("refused:", refused.Code, refused.Fields)
		return
	}
	fmt.Println(sent.ID)
	// Output: 0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00
}

//go:build ignore

package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"postrider/client"
)

func main() {
	ctx, c := context.Background(), client.New(os.Getenv("POSTRIDER_URL"), os.Getenv("POSTRIDER_API_KEY"))
	sent, err := c.Emails.Send(ctx, client.EmailSendBody{From: "Acme <hello@acme.test>", To: []string{"ada@example.net"}, Subject: "Welcome", HTML: "<p>Hello Ada</p>"})
	var refused *client.Error
	if errors.As(err, &refused) {
		log.Fatal(refused.Code, refused.Fields)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.ID)
	for email, err := range c.Emails.All(ctx, client.ListEmailsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(email.CreatedAt, email.Subject, email.Status)
	}
}

package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"postrider/mail/smtp"
	"postrider/world"
)

func TestClientSignsInOverTLSOnly(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS, Auth: true, RequireAuth: true})
	ctx := context.Background()
	client := greet(t, dial(t, address))
	if err := client.Auth(ctx, "postrider", "secret"); err == nil {
		t.Fatal("the password went over the wire in clear text")
	}
	client = greet(t, dial(t, address))
	if _, err := client.StartTLS(ctx, clientTLS); err != nil {
		t.Fatal(err)
	}
	var refused *smtp.Error
	if err := client.Auth(ctx, "postrider", "wrong"); !errors.As(err, &refused) || refused.Reply.Code != 535 || !client.Usable() {
		t.Fatalf("wrong password: %v", err)
	}
	if err := client.Auth(ctx, "postrider", "secret"); err != nil {
		t.Fatal(err)
	}
	result, err := client.Send(ctx, smtp.Envelope{From: "a@client.test", To: []string{"b@mx.test"}}, strings.NewReader("Subject: x\r\n\r\nhello"))
	if err != nil || !result.Recipients[0].Accepted {
		t.Fatalf("%+v %v", result, err)
	}
}

func TestClientSignsInOnAConnectionThatWasSecureFromTheStart(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS, ImplicitTLS: true, Auth: true})
	client := smtp.NewClient(tls.Client(dial(t, address), clientTLS), smtp.ClientConfig{Hello: "client.test", Clock: world.SystemClock{}, Secure: true})
	ctx := context.Background()
	if err := client.Greet(ctx); err != nil {
		t.Fatal(err)
	}
	if err := client.Auth(ctx, "postrider", "secret"); err != nil {
		t.Fatal(err)
	}
}

func TestClientKnowsTheOlderWayToSignIn(t *testing.T) {
	t.Parallel()
	conn := remote(t, "S: 220 mx\nC: EHLO client.test\nS: 250-mx\nS: 250 AUTH LOGIN\nC: AUTH LOGIN\nS: 334 VXNlcg==\nC: cG9zdHJpZGVy\nS: 334 UGFzcw==\nC: c2VjcmV0\nS: 235 ok")
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: "client.test", Clock: world.SystemClock{}, Secure: true})
	ctx := context.Background()
	if err := client.Greet(ctx); err != nil {
		t.Fatal(err)
	}
	if err := client.Auth(ctx, "postrider", "secret"); err != nil {
		t.Fatal(err)
	}
}

package app_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"regexp"
	"strings"

	"postrider/mail/message"
)

// doors are where others come in: their mail servers, programs that send over SMTP, and people who follow links in mail.
func (h *hot) doors() {
	h.t.Helper()
	h.take("someone@example.net", "support@hot.test", "From: someone@example.net\r\nMessage-ID: <"+fmt.Sprint(h.sent)+"@example.net>\r\nSubject: Question\r\n\r\nHi\r\n")
	if err := offer(h.mx, "someone@example.net", fmt.Sprintf("support@unknown%d.test", h.sent), ""); err == nil {
		h.t.Error("mail for nobody was taken")
	}
	h.submit()
	h.sent++
	to := fmt.Sprintf("user%d@example.net", h.sent)
	h.call(http.StatusAccepted, http.MethodPost, "/emails", map[string]any{"from": "hello@hot.test", "to": to, "subject": "Order", "html": `<a href="https://hot.test/start">Go</a>`,
		"tracking": map[string]any{"opens": true, "clicks": true}, "list_unsubscribe": true}, "")
	h.Deliver()
	box := h.Mailbox(to)
	if len(box) != 1 {
		h.t.Fatalf("%d messages to %s", len(box), to)
	}
	h.follow(box[0].Raw)
	h.take("", box[0].Envelope.From, strings.ReplaceAll("Subject: Undelivered\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n"+
		"--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; "+to+"\nAction: failed\nStatus: 5.1.1\n\n--b--\n", "\n", "\r\n"))
	h.Receive()
}

func (h *hot) take(from, to, raw string) {
	h.t.Helper()
	if err := offer(h.mx, from, to, raw); err != nil {
		h.t.Fatalf("mail to %s: %v", to, err)
	}
}

// offer brings a message to the door as another server would.
func offer(mx, from, to, raw string) error {
	client, err := smtp.Dial(mx)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := errors.Join(client.StartTLS(&tls.Config{InsecureSkipVerify: true}), client.Mail(from)); err != nil {
		return err
	}
	return hand(client, to, raw)
}

// submit sends as a customer's program would.
func (h *hot) submit() {
	h.t.Helper()
	client, err := smtp.Dial(h.submission)
	if err != nil {
		h.t.Fatal(err)
	}
	defer client.Close()
	h.sent++
	to := fmt.Sprintf("user%d@example.net", h.sent)
	if err := errors.Join(client.StartTLS(&tls.Config{InsecureSkipVerify: true}), client.Auth(smtp.PlainAuth("", "postrider", h.key, "127.0.0.1")), client.Mail("hello@hot.test"),
		hand(client, to, "From: hello@hot.test\r\nTo: "+to+"\r\nSubject: Order\r\n\r\nThanks\r\n")); err != nil {
		h.t.Fatal(err)
	}
}

func hand(client *smtp.Client, to, raw string) error {
	if err := client.Rcpt(to); err != nil {
		return err
	}
	body, err := client.Data()
	if err != nil {
		return err
	}
	_, err = io.WriteString(body, raw)
	return errors.Join(err, body.Close(), client.Quit())
}

var linkInMail = regexp.MustCompile(`https?://[^"'\s<>]+/v1/(?:links|images|unsubscribe)/[A-Za-z0-9_./-]+`)

// follow asks for every address of ours in a message.
func (h *hot) follow(raw string) {
	h.t.Helper()
	content, err := message.ReadContent(strings.NewReader(raw), 1<<20, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	head, _, _ := strings.Cut(raw, "\r\n\r\n")
	links := linkInMail.FindAllString(content.HTML+strings.ReplaceAll(head, "\r\n", ""), -1)
	if len(links) < 3 {
		h.t.Errorf("a link, a pixel and a way to unsubscribe are not all in %q", links)
	}
	for _, link := range links {
		method := http.MethodGet
		if strings.Contains(link, "/unsubscribe/") {
			method = http.MethodPost
		}
		request := httptest.NewRequestWithContext(context.Background(), method, link, strings.NewReader("List-Unsubscribe=One-Click"))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		answer := httptest.NewRecorder()
		h.App.API.ServeHTTP(answer, request)
		if answer.Code >= http.StatusBadRequest {
			h.t.Errorf("%s: %d %s", link, answer.Code, answer.Body)
		}
	}
}

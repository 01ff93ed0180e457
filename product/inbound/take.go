package inbound

import (
	"context"
	"fmt"
	"strings"
	"time"

	"postrider/mail/smtp"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/domain"
)

// checkLane is the queue of messages whose origin has to be checked. What follows from a message waits for that.
const checkLane queue.Lane = "received"

// arrival is everything that is written for one message of one domain.
type arrival struct {
	message Message
	content content
	trace   string
}

// takeMail stores a message for people and answers when it would survive a crash.
func (s *Service) takeMail(ctx context.Context, e Envelope, people []mailbox, c content) *smtp.Reply {
	l := readLetter(c.fields)
	if l.hops > maxHops {
		return replyLoop
	}
	l.automatic = l.automatic || e.MailFrom == "" // nobody is there to be answered
	arrivals, err := s.newArrivals(ctx, e, people, c, l)
	if err == nil {
		err = s.desk.Write(ctx, arrivals)
	}
	if err != nil {
		s.world.Log.Error("message could not be stored", "error", err)
		return replyTrouble
	}
	return smtp.NewReply(250, "2.0.0", "stored as "+string(arrivals[0].message.ID))
}

// newArrivals makes a message for every domain that it is for: each belongs to somebody else.
func (s *Service) newArrivals(ctx context.Context, e Envelope, people []mailbox, c content, l letter) ([]arrival, error) {
	byDomain := map[domain.ID][]string{}
	var order []domain.Domain
	for _, to := range people {
		if byDomain[to.domain.ID] == nil {
			order = append(order, to.domain)
		}
		byDomain[to.domain.ID] = appendNew(byDomain[to.domain.ID], to.address)
	}
	files, truncated, err := s.filesOf(ctx, c) // once, however many domains it is for
	if err != nil {
		return nil, err
	}
	now := s.world.Clock.Now().Truncate(time.Microsecond)
	arrivals := make([]arrival, len(order))
	for i, d := range order {
		id := ID(s.world.NewID())
		own := e
		own.RcptTo = byDomain[d.ID] // other people's addresses are none of theirs
		l.addresses.ReceivedFor = own.RcptTo
		arrivals[i] = arrival{content: c, trace: s.trace(id, own, now), message: Message{
			ID: id, Workspace: d.Workspace, Domain: d.ID, Tenant: d.TenantID, Source: SourceSMTP, MessageID: l.messageID, From: l.from, Addresses: l.addresses,
			Subject: l.subject, Envelope: own, Ancestors: l.ancestors, Thread: string(id), Automatic: l.automatic, Bulk: l.bulk, Truncated: truncated,
			Files: named(id, files), SizeBytes: c.size, Kept: true, CreatedAt: now,
		}}
	}
	return arrivals, nil
}

func appendNew(list []string, address string) []string {
	for _, known := range list {
		if strings.EqualFold(known, address) {
			return list
		}
	}
	return append(list, address)
}

// trace is what we note about how a message came (RFC 5321 §4.4). The name the other server gave itself is one by its looks; what was
// handed in over the API came from no server.
func (s *Service) trace(id ID, e Envelope, at time.Time) string {
	from := e.Helo
	if e.RemoteIP != "" {
		literal := e.RemoteIP
		if strings.Contains(literal, ":") {
			literal = "IPv6:" + literal
		}
		from += " ([" + literal + "])"
	}
	protocol := "SMTP"
	switch {
	case from == "":
		protocol = "HTTP"
	case e.extended:
		protocol = "ESMTP"
	}
	if e.TLS {
		protocol += "S"
	}
	if from != "" {
		from = "from " + from + "\r\n\t"
	}
	recipient := ""
	if len(e.RcptTo) == 1 {
		recipient = "\r\n\tfor <" + e.RcptTo[0] + ">"
	}
	return fmt.Sprintf("Return-Path: <%s>\r\nReceived: %sby %s with %s id %s%s;\r\n\t%s\r\n", e.MailFrom, from, s.host, protocol, id,
		recipient, at.UTC().Format(time.RFC1123Z))
}

// storeArrivals writes messages that came at the same moment, with few statements.
func storeArrivals(tx *db.Tx, joined [][]arrival) error {
	var all []arrival
	for _, together := range joined {
		all = append(all, together...)
	}
	if err := insertArrivals(tx, all); err != nil {
		return err
	}
	items := make([]queue.Item, len(all))
	for i, a := range all {
		items[i] = queue.Item{ID: string(a.message.ID), Lane: checkLane, Rank: queue.Urgent, Flow: string(a.message.Workspace), Due: a.message.CreatedAt,
			Payload: string(a.message.Workspace)}
	}
	return queue.Add(tx, items...)
}

func insertArrivals(tx *db.Tx, all []arrival) error {
	if err := insertMessages(tx, all); err != nil {
		return err
	}
	if err := insertContents(tx, all); err != nil {
		return err
	}
	return addTotals(tx, all)
}

package inbound

import (
	"encoding/json"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
)

// maxTold bounds the lists in an event: what is longer can be asked for, and receivers take no large payloads.
const maxTold = 20

// maxToldText is how much of each text is told; both together are what endpoints that ask for them must be able to take.
const maxToldText = 128 << 10

// eventData is what an event says about a message: enough to decide whether to ask for the rest.
type eventData struct {
	EmailID        ID           `json:"email_id"`
	CreatedAt      api.Time     `json:"created_at"`
	From           string       `json:"from"`
	To             api.Strings  `json:"to"`
	Cc             api.Strings  `json:"cc"`
	Bcc            api.Strings  `json:"bcc"`
	ReceivedFor    api.Strings  `json:"received_for"`
	MessageID      api.Ref      `json:"message_id"`
	Subject        string       `json:"subject"`
	InReplyTo      api.Ref      `json:"in_reply_to"`
	AnswersEmail   api.Ref      `json:"in_reply_to_email_id"`
	Thread         string       `json:"thread_id"`
	Automatic      bool         `json:"auto_submitted"`
	Bulk           bool         `json:"bulk"`
	Authentication *toldResults `json:"authentication"`
	Spam           *Spam        `json:"spam"`
	Attachments    []fileRecord `json:"attachments"`
	// HTML and Text are there if a webhook asked for them.
	HTML string `json:"html,omitempty"`
	Text string `json:"text,omitempty"`
}

type toldResults struct {
	SPF   string `json:"spf"`
	DKIM  string `json:"dkim"`
	DMARC string `json:"dmarc"`
}

// tell records that a message came.
func (s *Service) tell(tx *db.Tx, m Message, f finding) error {
	data := eventData{EmailID: m.ID, CreatedAt: api.Time(m.CreatedAt), From: m.From, To: told(m.Addresses.To), Cc: told(m.Addresses.Cc), Bcc: told(m.Addresses.Bcc),
		ReceivedFor: told(m.Addresses.ReceivedFor), MessageID: api.Ref(m.MessageID), Subject: m.Subject, InReplyTo: api.Ref(m.Ancestors.InReplyTo),
		AnswersEmail: api.Ref(m.AnswersEmail), Thread: m.Thread, Automatic: m.Automatic, Bulk: m.Bulk, Spam: m.Spam,
		Attachments: fileRecords(m.Files[:min(len(m.Files), maxTold)])}
	if a := m.Authentication; a != nil {
		data.Authentication = &toldResults{a.SPF, a.DKIM, a.DMARC}
	}
	wanted, err := s.webhooks.WantsTexts(tx, m.Workspace)
	if err != nil {
		return err
	}
	if wanted {
		data.HTML, data.Text = f.html, f.text
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event of %s: %w", m.ID, err)
	}
	return event.Append(tx, event.Event{ID: derivedID("event", string(m.ID)), Workspace: m.Workspace, Type: "email.received", Subject: string(m.ID),
		Domain: string(m.Domain), Tenant: m.Tenant, OccurredAt: m.CreatedAt, Data: raw})
}

func told(list []string) api.Strings { return list[:min(len(list), maxTold)] }

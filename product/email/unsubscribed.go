package email

import (
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/suppression"
)

// unsubscribeFacts is how somebody unsubscribed, and from what.
type unsubscribeFacts struct {
	Method  suppression.Method `json:"method"`
	Topic   api.Ref            `json:"topic_id"`
	List    api.Ref            `json:"list_id"`
	Contact api.Ref            `json:"contact_id"`
}

// TellUnsubscribed records that the recipient of an email has unsubscribed by its link. An email that is gone has nothing to tell.
func (s *Service) TellUnsubscribed(tx *db.Tx, u suppression.Unsubscription) error {
	e, err := findEmail(tx, u.Workspace, u.Email)
	if errors.Is(err, api.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	recipients, err := selectRecipients(tx, u.Workspace, e.ID)
	if err != nil {
		return err
	}
	headers, err := headersOf(tx, &e)
	if err != nil {
		return err
	}
	for _, r := range recipients {
		if suppression.Key(r.Address) != suppression.Key(u.Address) {
			continue
		}
		more := extras{change: change{ISP: r.ISP}, Unsubscribe: &unsubscribeFacts{u.Method, api.Ref(u.Topic), api.Ref(u.List), api.Ref(u.Contact)}}
		return event.Append(tx, s.newEventWithoutChange(&e, headers, "email.unsubscribed", &r, tx.Now(), more))
	}
	return nil
}

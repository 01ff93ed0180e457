package suppression

import (
	"context"
	"errors"
	"time"

	"postrider/platform/db"
)

// never is the end of a link that has none: people unsubscribe from old mail too.
var never time.Time

// Scope is what somebody unsubscribes from.
type Scope string

// Scopes of an unsubscription.
const (
	// FromTopic is the topic of the mail, FromList its list, FromAll everything that the workspace sends in bulk.
	FromTopic Scope = "topic"
	FromList  Scope = "list"
	FromAll   Scope = "all"
)

// Method is how somebody unsubscribed.
type Method string

// Methods of an unsubscription.
const (
	// OneClick is the button of a mail program (RFC 8058), ByLink the page behind the link in the mail.
	OneClick Method = "one_click"
	ByLink   Method = "link"
)

// Unsubscription is somebody's wish.
type Unsubscription struct {
	Claims
	Scope  Scope
	Method Method
}

// About names what a mail was for, in the words of its sender. An empty name means none, or one that is gone.
type About struct{ TopicName, ListName string }

// Preferences knows topics and lists, and who is subscribed to them.
type Preferences interface {
	// Describe names the topic and the list of the claims.
	Describe(tx *db.Tx, c Claims) (About, error)
	// Leave ends the subscriptions in the scope. FromAll comes beside an entry on the suppression list.
	Leave(tx *db.Tx, u Unsubscription) (Left, error)
}

// Left is what became of a subscription that somebody wanted to end.
type Left int

const (
	// NothingToLeave means that the link has no such topic or list, or not any more.
	NothingToLeave Left = iota
	// AlreadyLeft means that the subscription had ended before.
	AlreadyLeft
	// JustLeft means that it has ended now.
	JustLeft
)

// unsubscribed is what became of a link.
type unsubscribed struct {
	Unsubscription
	About
	// Sender is the name of the workspace.
	Sender string
	// Done is false for somebody who has only looked.
	Done bool
}

// look returns what a link is about, and changes nothing: programs that check mail follow every link in it.
func (s *Service) look(ctx context.Context, token string) (u unsubscribed, err error) {
	c, err := s.read(token)
	if err != nil {
		return u, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = s.describe(tx, c)
		if err != nil {
			return err
		}
		listed, err := s.Check(tx, []Query{{Workspace: c.Workspace, Address: c.Address, Bulk: true}})
		u.Done = err == nil && listed[0] != nil && listed[0].Reason == Unsubscribe
		return err
	})
	return u, err
}

func (s *Service) describe(tx *db.Tx, c Claims) (u unsubscribed, err error) {
	u.Claims, u.Scope = c, FromAll
	workspace, err := s.parts.Accounts.Workspace(tx, c.Workspace)
	if errors.Is(err, db.ErrNotFound) {
		return u, ErrLink
	}
	u.Sender = workspace.Name
	if err != nil || s.parts.Preferences == nil {
		return u, err
	}
	u.About, err = s.parts.Preferences.Describe(tx, c)
	switch {
	case u.TopicName != "":
		u.Scope = FromTopic
	case u.ListName != "":
		u.Scope = FromList
	}
	return u, err
}

// unsubscribe does what the recipient asks for, as often as it is asked. Without a scope, it is the narrowest that the link has.
func (s *Service) unsubscribe(ctx context.Context, token string, scope Scope, method Method) (u unsubscribed, err error) {
	c, err := s.read(token)
	if err != nil {
		return u, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		u, err = s.describe(tx, c)
		if err != nil {
			return err
		}
		u.Done, u.Method = true, method
		if scope != "" {
			u.Scope = scope
		}
		return s.leave(tx, &u)
	})
	return u, err
}

// leave ends the subscription, and tells of it if that is news. Where there is no topic or list to leave, it is everything:
// whoever clicks wants peace.
func (s *Service) leave(tx *db.Tx, u *unsubscribed) error {
	left, err := s.leaveSome(tx, u.Unsubscription)
	if err == nil && left == NothingToLeave {
		u.Scope = FromAll
		left, err = s.leaveAll(tx, u.Unsubscription)
	}
	if err != nil || left == AlreadyLeft || s.parts.Unsubscribed == nil {
		return err
	}
	return s.parts.Unsubscribed(tx, u.Unsubscription)
}

func (s *Service) leaveSome(tx *db.Tx, u Unsubscription) (Left, error) {
	if u.Scope == FromAll || s.parts.Preferences == nil {
		return NothingToLeave, nil
	}
	return s.parts.Preferences.Leave(tx, u)
}

func (s *Service) leaveAll(tx *db.Tx, u Unsubscription) (Left, error) {
	added, err := s.AddMany(tx, []Entry{{Workspace: u.Workspace, Address: u.Address, Reason: Unsubscribe, EmailID: u.Email,
		Detail: unsubscribeDetail{u.Method, u.Contact, u.Topic, u.List, u.Broadcast}}})
	if err != nil {
		return NothingToLeave, err
	}
	left := AlreadyLeft
	if s.parts.Preferences != nil { // who is on the list for another reason may still leave what they are subscribed to
		if left, err = s.parts.Preferences.Leave(tx, u); err != nil {
			return NothingToLeave, err
		}
	}
	if added[0].Created || left == JustLeft {
		return JustLeft, nil
	}
	return AlreadyLeft, nil
}

// unsubscribeDetail is the detail of an entry that a recipient made.
type unsubscribeDetail struct {
	Method    Method `json:"method"`
	Contact   string `json:"contact_id,omitempty"`
	Topic     string `json:"topic_id,omitempty"`
	List      string `json:"list_id,omitempty"`
	Broadcast string `json:"broadcast_id,omitempty"`
}

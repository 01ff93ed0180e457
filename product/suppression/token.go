package suppression

import (
	"encoding/json"
	"fmt"
	"strings"

	"postrider/platform/api"
	"postrider/platform/space"
)

const (
	// UnsubscribePath is where the links lead, below the address of a host.
	UnsubscribePath = "/v1/unsubscribe/"
	// tokenPurpose keeps unsubscribe links apart from other signed tokens.
	tokenPurpose = "suppression/unsubscribe"
	// tokenVersion begins every token, so that its form can change one day.
	tokenVersion = "v1."
	// maxToken is far above the longest token we make; what is longer is not ours.
	maxToken = 2048
)

// Claims is what an unsubscribe link stands for: who, and from what.
type Claims struct {
	Workspace space.ID `json:"w"`
	// Address is the recipient's.
	Address string `json:"e"`
	// The others are ids, and may be empty: the contact, the topic and the list that the mail was for, the broadcast it was part of,
	// and the email itself.
	Contact   string `json:"c,omitempty"`
	Topic     string `json:"t,omitempty"`
	List      string `json:"l,omitempty"`
	Broadcast string `json:"b,omitempty"`
	Email     string `json:"m,omitempty"`
}

// Link returns the address at which the recipient can unsubscribe. base is the scheme and host to use, such as
// https://track.acme.com; empty means that of the installation. The link never expires, and nobody can read the address in it.
func (s *Service) Link(base string, c Claims) string {
	if base == "" {
		base = s.parts.BaseURL
	}
	c.Address = Key(c.Address)
	raw, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("suppression: link: %v", err))
	}
	return strings.TrimSuffix(base, "/") + UnsubscribePath + tokenVersion + s.parts.Keys.Sign(tokenPurpose, raw, never)
}

// ErrLink means that an unsubscribe link is not one of ours, or not whole.
var ErrLink = api.NotFound("unsubscribe_link").Saying("This unsubscribe link is not valid. Open it again from the email.")

// read returns what a token stands for, or ErrLink.
func (s *Service) read(token string) (Claims, error) {
	sealed, ok := strings.CutPrefix(token, tokenVersion)
	if !ok || len(token) > maxToken {
		return Claims{}, ErrLink
	}
	raw, err := s.parts.Keys.Verify(tokenPurpose, sealed, s.world.Clock.Now())
	if err != nil {
		return Claims{}, ErrLink
	}
	var c Claims
	if err := json.Unmarshal(raw, &c); err != nil {
		return Claims{}, ErrLink
	}
	return c, nil
}

// mask hides most of an address: a link may be forwarded, and a page may be seen over a shoulder.
func mask(key string) string {
	at := strings.LastIndexByte(key, '@')
	if at < 0 {
		return "…"
	}
	local := []rune(key[:at])
	switch len(local) {
	case 0, 1, 2:
		return "…" + key[at:]
	}
	return string(local[0]) + "…" + string(local[len(local)-1]) + key[at:]
}

package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"net/http"

	"github.com/pquerna/otp"
)

// factorOffer is a second factor that an app has to learn: as a picture to scan, or as a secret to type.
type factorOffer struct {
	Secret  string
	Link    string
	Picture template.URL
}

// pictureSize is large enough for a telephone to read from a screen, in pixels.
const pictureSize = 220

func newFactorOffer(secret, link string) (*factorOffer, error) {
	key, err := otp.NewKeyFromURL(link)
	if err != nil {
		return nil, fmt.Errorf("read the offered factor: %w", err)
	}
	picture, err := key.Image(pictureSize, pictureSize)
	if err != nil {
		return nil, fmt.Errorf("draw the offered factor: %w", err)
	}
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, picture); err != nil {
		return nil, fmt.Errorf("draw the offered factor: %w", err)
	}
	return &factorOffer{Secret: secret, Link: link, Picture: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(drawn.Bytes()))}, nil
}

func offerFactor(v *visit) error {
	var offered struct {
		Secret string `json:"secret"`
		Link   string `json:"otpauth_url"`
	}
	if err := v.send(http.MethodPost, "/account/2fa/setup", nil, &offered); err != nil {
		return err
	}
	p, err := v.securityPage()
	if err != nil {
		return err
	}
	if p.Offer, err = newFactorOffer(offered.Secret, offered.Link); err != nil {
		return err
	}
	return v.show("account/security", p)
}

func enableFactor(v *visit) error {
	var made struct {
		Codes []string `json:"recovery_codes"`
	}
	err := v.send(http.MethodPost, "/account/2fa/enable", map[string]string{"code": v.value("code")}, &made)
	if err != nil {
		return v.refusedAt("factor", err, func(p *securityPage) {
			// The picture needs what was offered, which the form kept; one that cannot be drawn is typed instead.
			if p.Offer, err = newFactorOffer(v.value("secret"), v.value("link")); err != nil {
				p.Offer = &factorOffer{Secret: v.value("secret"), Link: v.value("link")}
			}
		})
	}
	return v.showCodes(made.Codes)
}

// showCodes shows recovery codes in the answer itself: they are in no address and no cookie, and are gone with the page.
func (v *visit) showCodes(codes []string) error {
	if err := v.get("/auth/session", nil, &v.session); err != nil {
		return err
	}
	p, err := v.securityPage()
	if err != nil {
		return err
	}
	p.Codes = codes
	return v.show("account/security", p)
}

func disableFactor(v *visit) error {
	body := proofOf(v.value("code"))
	body["password"] = v.value("password")
	if err := v.send(http.MethodPost, "/account/2fa/disable", body, nil); err != nil {
		return v.refusedAt("factor", err, nil)
	}
	return v.redirect("/you/security", "Two-factor sign-in is off.")
}

func renewCodes(v *visit) error {
	var made struct {
		Codes []string `json:"recovery_codes"`
	}
	if err := v.send(http.MethodPost, "/account/2fa/recovery-codes", nil, &made); err != nil {
		return err
	}
	return v.showCodes(made.Codes)
}

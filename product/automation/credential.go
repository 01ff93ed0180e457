package automation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/http/httpguts"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/space"
)

// Credential is a secret that HTTP steps show to certain hosts and to no other.
type Credential struct {
	ID           string
	Workspace    space.ID
	Name         string
	Type         string
	SecretPrefix string
	// Username belongs to basic; HeaderName to header, and to query as the name of the parameter.
	Username, HeaderName string
	AllowedHosts         []string
	BaseURL              string
	Settings             credentialSettings
	LastTest             *testResult

	LastUsedAt, CreatedAt, UpdatedAt, RotatedAt time.Time

	sealed []byte
}

type credentialSettings struct {
	TimeoutMS      int               `json:"timeout_ms" example:"10000"`
	VerifyTLS      *bool             `json:"verify_tls" doc:"Certificates are always verified; only true is taken." example:"true"`
	DefaultHeaders map[string]string `json:"default_headers" example:"{\"X-Source\":\"mail\"}"`
}

// Types of credentials.
const (
	bearer     = "bearer"
	basic      = "basic"
	headerType = "header"
	query      = "query"
)

const (
	maxCredentialName  = 100
	maxSecret          = 8 << 10
	maxAllowedHosts    = 20
	shownSecret        = 4
	maxDefaultHeaders  = 20
	defaultTimeoutMS   = 10_000
	maxTimeoutMS       = 15_000
	minSecretToBeShown = 16 // of a shorter one even the beginning would say too much
)

type newCredential struct {
	Type   string `json:"type" doc:"bearer, basic, header or query." example:"bearer"`
	Secret string `json:"secret" doc:"Never shown again." example:"eyJhbGciOi"`
	credentialChange
}

type credentialChange struct {
	Name         api.Optional[string]              `json:"name" example:"CRM"`
	Username     api.Optional[string]              `json:"username" doc:"For basic."`
	HeaderName   api.Optional[string]              `json:"header_name" doc:"For header; for query the name of the parameter."`
	AllowedHosts api.Optional[[]string]            `json:"allowed_hosts" doc:"The only hosts that are shown the secret; a port may be given." example:"[\"crm.example.com\"]"`
	BaseURL      api.Optional[string]              `json:"base_url" doc:"Steps may give a path below it." example:"https://crm.example.com"`
	Settings     api.Optional[*credentialSettings] `json:"settings" example:"{\"timeout_ms\":10000}"`
}

func (s *Service) applyCredential(wrong *api.Fields, change credentialChange, c *Credential) {
	if change.Name.Set {
		c.Name = api.CheckLine(wrong, "name", change.Name.Value, maxCredentialName)
	}
	if c.Name == "" {
		wrong.Add("name", "A name is required.")
	}
	if change.Username.Set {
		c.Username = change.Username.Value
	}
	if change.HeaderName.Set {
		c.HeaderName = change.HeaderName.Value
	}
	switch c.Type {
	case basic:
		if c.Username == "" || strings.ContainsAny(c.Username, ":\r\n\x00") || len(c.Username) > maxSecret {
			wrong.Add("username", "A user name without a colon is required.")
		}
	case headerType:
		if !httpguts.ValidHeaderFieldName(c.HeaderName) || slices.Contains(reservedHeaders, http.CanonicalHeaderKey(c.HeaderName)) {
			wrong.Add("header_name", "The name of a header is required.")
		}
	case query:
		if c.HeaderName == "" || len(c.HeaderName) > maxCredentialName || strings.ContainsFunc(c.HeaderName, unicode.IsControl) {
			wrong.Add("header_name", "The name of the parameter is required.")
		}
	}
	if change.AllowedHosts.Set {
		c.AllowedHosts = checkHosts(wrong, change.AllowedHosts.Value)
	}
	if len(c.AllowedHosts) == 0 {
		wrong.Add("allowed_hosts", "At least one host is required.")
	}
	if change.BaseURL.Set {
		if c.BaseURL = strings.TrimSpace(change.BaseURL.Value); c.BaseURL != "" {
			s.checkTarget(wrong, "base_url", c.BaseURL, c)
		}
	}
	if change.Settings.Set && change.Settings.Value != nil {
		c.Settings = *change.Settings.Value
	}
	checkSettings(wrong, &c.Settings)
}

// reservedHeaders are decided by the connection or by us.
var reservedHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Idempotency-Key"}

func checkHosts(wrong *api.Fields, hosts []string) []string {
	if len(hosts) > maxAllowedHosts {
		wrong.Add("allowed_hosts", fmt.Sprintf("At most %d hosts are allowed.", maxAllowedHosts))
		return nil
	}
	var once []string
	for i, host := range hosts {
		host = strings.ToLower(strings.TrimSpace(host))
		u, err := url.Parse("//" + host)
		if err != nil || u.Host != host || u.Hostname() == "" || strings.ContainsAny(host, "/*@ ?#") {
			wrong.Add(fmt.Sprintf("allowed_hosts[%d]", i), "Must be a host name, with a port if need be; no wildcards.")
			continue
		}
		if !slices.Contains(once, host) {
			once = append(once, host)
		}
	}
	return once
}

func checkSettings(wrong *api.Fields, settings *credentialSettings) {
	if settings.TimeoutMS == 0 {
		settings.TimeoutMS = defaultTimeoutMS
	}
	if settings.TimeoutMS < 1000 || settings.TimeoutMS > maxTimeoutMS {
		wrong.Add("settings.timeout_ms", "Must be between 1000 and 15000.")
	}
	if settings.VerifyTLS != nil && !*settings.VerifyTLS {
		wrong.Add("settings.verify_tls", "Certificates are always verified.")
	}
	always := true
	settings.VerifyTLS = &always
	if len(settings.DefaultHeaders) > maxDefaultHeaders {
		wrong.Add("settings.default_headers", fmt.Sprintf("At most %d headers are allowed.", maxDefaultHeaders))
	}
	for name, value := range settings.DefaultHeaders {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || slices.Contains(append([]string{"Authorization", "Proxy-Authorization", "Cookie"}, reservedHeaders...), http.CanonicalHeaderKey(name)) {
			wrong.Add("settings.default_headers."+name, "This header cannot be set.")
		}
	}
}

func checkSecret(wrong *api.Fields, secret string) {
	if secret == "" || len(secret) > maxSecret || strings.ContainsAny(secret, "\r\n\x00") {
		wrong.Add("secret", fmt.Sprintf("A secret of at most %d bytes, without line breaks, is required.", maxSecret))
	}
}

func prefixOf(secret string) string {
	if len(secret) < minSecretToBeShown {
		return ""
	}
	return strings.ToValidUTF8(secret[:shownSecret], "")
}

// checkTarget notes why a URL may not be asked with a credential, as far as that can be seen.
func (s *Service) checkTarget(wrong *api.Fields, field, target string, c *Credential) {
	var refusal *httpout.Refusal
	u, parseErr := url.Parse(target)
	switch err := httpout.CheckURL(target, s.config.Policy); {
	case errors.As(err, &refusal):
		wrong.Add(field, refusal.Sentence)
	case err != nil || parseErr != nil:
		wrong.Add(field, "Must be a URL.")
	case u.User != nil:
		wrong.Add(field, "Must not hold a user name or password. Use a credential.")
	case httpout.LeadsTo(u, s.config.BaseURL):
		wrong.Add(field, "The URL is that of this service itself, which would make events of events.")
	case c != nil && !c.allows(u):
		wrong.Add(field, "The host is not among the allowed hosts of the credential.")
	}
}

// allows tells whether the secret may be shown to the host of a URL. A port counts only if the allowed host names one.
func (c *Credential) allows(u *url.URL) bool {
	return slices.ContainsFunc(c.AllowedHosts, func(allowed string) bool {
		host := &url.URL{Scheme: u.Scheme, Host: allowed}
		return strings.EqualFold(host.Hostname(), u.Hostname()) && (host.Port() == "" || host.Port() == httpout.PortOf(u))
	})
}

func sealContext(id string) string { return "automation_credential/" + id }

func (s *Service) createCredential(ctx context.Context, ws space.ID, body newCredential) (Credential, error) {
	c := Credential{ID: s.world.NewID(), Workspace: ws, Type: body.Type, SecretPrefix: prefixOf(body.Secret)}
	var wrong api.Fields
	if !slices.Contains([]string{bearer, basic, headerType, query}, c.Type) {
		wrong.Add("type", "Must be bearer, basic, header or query.")
	}
	checkSecret(&wrong, body.Secret)
	if s.applyCredential(&wrong, body.credentialChange, &c); len(wrong) > 0 {
		return c, wrong.Err()
	}
	c.sealed = s.parts.Keys.Seal([]byte(body.Secret), sealContext(c.ID))
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		c.CreatedAt, c.UpdatedAt = tx.Now(), tx.Now()
		made, err := insertCredential(tx, c)
		if err != nil || made {
			return err
		}
		if err := nameTaken(tx, c); err != nil {
			return err
		}
		return db.ErrConflict // given up in this very moment; the next try gets it
	})
	return c, err
}

// nameTaken refuses a name that another credential has.
func nameTaken(tx *db.Tx, c Credential) error {
	other, err := selectCredentialNamed(tx, c)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return api.ErrAlreadyExists.With("resource", "automation_credential").With("id", other)
}

func (s *Service) changeCredential(ctx context.Context, ws space.ID, id string, change func(*Credential) error) (c Credential, uses []ID, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if c, err = lockCredential(tx, ws, id); err != nil {
			return err
		}
		if err := change(&c); err != nil {
			return err
		}
		if err := nameTaken(tx, c); err != nil {
			return err
		}
		c.UpdatedAt = tx.Now()
		if err := updateCredential(tx, c); errors.Is(err, db.ErrUnique) {
			return db.ErrConflict // another has just taken the name; the next try sees which
		} else if err != nil {
			return err
		}
		uses, err = selectUses(tx, ws, c.ID)
		return err
	})
	return c, uses, err
}

func (s *Service) deleteCredential(ctx context.Context, ws space.ID, id string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		c, err := lockCredential(tx, ws, id)
		if err != nil {
			return err
		}
		uses, err := selectUses(tx, ws, c.ID)
		if err != nil {
			return err
		}
		if len(uses) > 0 {
			return inUse(uses)
		}
		return removeCredential(tx, ws, c.ID)
	})
}

// inUse names the automations that still need something.
func inUse(uses []ID) error {
	list := make([]map[string]string, len(uses))
	for i, use := range uses {
		list[i] = map[string]string{"type": "automation", "id": string(use)}
	}
	return ErrInUse.With("resources", list)
}

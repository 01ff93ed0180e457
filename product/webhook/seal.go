package webhook

import (
	"encoding/json"
	"fmt"
)

// sealed is what of an endpoint is stored encrypted.
type sealed struct {
	secret, previous, headers []byte
}

// Each sealed part is bound to its row and its column, so that bytes moved elsewhere do not open there.
func sealContext(id ID, part string) string { return "webhook/" + string(id) + "/" + part }

func (s *Service) seal(e Endpoint) sealed {
	parts := sealed{
		secret:  s.parts.Keys.Seal(e.secret, sealContext(e.ID, "secret")),
		headers: s.parts.Keys.Seal(mustMarshal(e.Headers), sealContext(e.ID, "headers")),
	}
	if len(e.previous) > 0 {
		parts.previous = s.parts.Keys.Seal(e.previous, sealContext(e.ID, "previous"))
	}
	return parts
}

// open fills in what was sealed.
func (s *Service) open(e *Endpoint, parts sealed) error {
	for _, part := range []struct {
		name  string
		bytes []byte
		into  *secret
	}{{"secret", parts.secret, &e.secret}, {"previous", parts.previous, &e.previous}} {
		if len(part.bytes) == 0 {
			continue
		}
		opened, err := s.parts.Keys.Open(part.bytes, sealContext(e.ID, part.name))
		if err != nil {
			return fmt.Errorf("open %s of webhook %s: %w", part.name, e.ID, err)
		}
		*part.into = opened
	}
	opened, err := s.parts.Keys.Open(parts.headers, sealContext(e.ID, "headers"))
	if err != nil {
		return fmt.Errorf("open headers of webhook %s: %w", e.ID, err)
	}
	return json.Unmarshal(opened, &e.Headers)
}

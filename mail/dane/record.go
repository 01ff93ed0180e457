package dane

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"fmt"
	"slices"

	"postrider/world"
)

// maxRecords bounds how many records of a server are looked at; a change of certificates needs four.
const maxRecords = 64

// usable returns the records that can be checked. Of hashes by the same usage and selector only the strongest kind counts
// (RFC 7671 §9): a server publishes a weaker one for clients that know no better.
func usable(records []world.TLSA) []world.TLSA {
	var found []world.TLSA
	for _, r := range records {
		if len(found) < maxRecords && wellFormed(r) {
			found = append(found, r)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(r world.TLSA) bool {
		return r.Matching == matchSHA256 && slices.ContainsFunc(found, func(other world.TLSA) bool {
			return other.Matching == matchSHA512 && other.Usage == r.Usage && other.Selector == r.Selector
		})
	})
}

// wellFormed tells whether a record could match anything. The usages 0 and 1 lean on authorities that mail servers do not agree on
// and are not for mail (RFC 7672 §3.1.3).
func wellFormed(r world.TLSA) bool {
	if r.Usage != usageTA && r.Usage != usageEE || r.Selector > selectKey {
		return false
	}
	switch r.Matching {
	case matchSHA256:
		return len(r.Data) == sha256.Size
	case matchSHA512:
		return len(r.Data) == sha512.Size
	case matchFull:
		return parses(r)
	}
	return false
}

func parses(r world.TLSA) bool {
	var err error
	if r.Selector == selectCertificate {
		_, err = x509.ParseCertificate(r.Data)
	} else {
		_, err = x509.ParsePKIXPublicKey(r.Data)
	}
	return err == nil
}

// matches tells whether a record speaks of a certificate.
func matches(r world.TLSA, certificate *x509.Certificate) bool {
	selected := certificate.Raw
	if r.Selector == selectKey {
		selected = certificate.RawSubjectPublicKeyInfo
	}
	switch r.Matching {
	case matchSHA256:
		sum := sha256.Sum256(selected)
		return bytes.Equal(sum[:], r.Data)
	case matchSHA512:
		sum := sha512.Sum512(selected)
		return bytes.Equal(sum[:], r.Data)
	}
	return bytes.Equal(selected, r.Data)
}

// Strings returns the records as a zone file writes them, sorted, as reports quote them.
func (p Promise) Strings() []string {
	var lines []string
	for _, r := range p.Records {
		lines = append(lines, fmt.Sprintf("%d %d %d %x", r.Usage, r.Selector, r.Matching, r.Data))
	}
	slices.Sort(lines)
	return lines
}

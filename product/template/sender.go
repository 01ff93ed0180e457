package template

import (
	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
)

// checkKeeper refuses a change of a template whose mails come from a domain that the caller's key may not use.
func (s *Service) checkKeeper(tx *db.Tx, caller api.Caller, t Template) error {
	if len(caller.DomainIDs) == 0 || t.Active == 0 {
		return nil
	}
	v, err := selectVersion(tx, t.Workspace, t.ID, t.Active)
	if err != nil {
		return err
	}
	return s.checkSender(tx, caller, v.Source)
}

// checkSender refuses a source that is to be sent, if its sender is at a domain that the caller's key may not use. An automation that names
// no version sends whatever is published later, from the sender it names, and nobody asks again.
func (s *Service) checkSender(tx *db.Tx, caller api.Caller, source Source) error {
	if len(caller.DomainIDs) == 0 || source.From == "" {
		return nil
	}
	from, err := address.Parse(source.From)
	if err != nil {
		return nil // a draft may have such a sender; no mail can
	}
	ids := make([]domain.ID, len(caller.DomainIDs))
	for i, id := range caller.DomainIDs {
		ids[i] = domain.ID(id)
	}
	allowed, err := s.domains.Load(tx, ids)
	if err != nil {
		return err
	}
	for _, d := range allowed {
		if d.Name == from.Domain && d.Workspace == caller.Workspace {
			return nil
		}
	}
	return api.DomainNotAllowed(from.Domain)
}

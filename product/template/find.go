package template

import (
	"postrider/platform/db"
	"postrider/platform/space"
)

// Find returns a template by its id or its alias, or ErrNotFound.
func (s *Service) Find(tx *db.Tx, ws space.ID, idOrAlias string) (Template, error) {
	return find(tx, ws, idOrAlias)
}

package app

import (
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/audience"
)

// usesOf returns what slices above audiences need a list, a segment, a topic or a property for.
func (a *App) usesOf(tx *db.Tx, ws space.ID, idOrKey string) ([]audience.Use, error) {
	uses, err := a.Broadcasts.Uses(tx, ws, idOrKey)
	if err != nil {
		return nil, err
	}
	automated, err := a.Automations.Uses(tx, ws, idOrKey)
	return append(uses, automated...), err
}

// forget lets slices above audiences forget what they keep of a contact. Automations come first: they hold followers, and that of broadcasts
// locks broadcasts.
func (a *App) forget(tx *db.Tx, ws space.ID, contact audience.ContactID, number int64) error {
	if err := a.Automations.Forget(tx, ws, contact); err != nil {
		return err
	}
	return a.Broadcasts.Forget(tx, ws, number)
}

package app

import (
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// preferences lets the suppression list and the mail ask the audience, which stands above them and is built later.
type preferences struct{ app *App }

// TopicExists tells whether a workspace has a topic.
func (p preferences) TopicExists(tx *db.Tx, ws space.ID, id string) (bool, error) {
	return p.app.Audience.TopicExists(tx, ws, id)
}

// OptedOut returns those of the addresses that do not want mail about a topic.
func (p preferences) OptedOut(tx *db.Tx, ws space.ID, id string, addresses []string) (map[string]bool, error) {
	return p.app.Audience.OptedOut(tx, ws, id, addresses)
}

// Left returns those of the contacts that have unsubscribed from everything, or from a list.
func (p preferences) Left(tx *db.Tx, ws space.ID, list string, contacts []string) (map[string]bool, error) {
	return p.app.Audience.Left(tx, ws, list, contacts)
}

// Describe names the topic and the list of an unsubscribe link.
func (p preferences) Describe(tx *db.Tx, c suppression.Claims) (suppression.About, error) {
	return p.app.Audience.Describe(tx, c)
}

// Leave ends the subscriptions that somebody wants to end.
func (p preferences) Leave(tx *db.Tx, u suppression.Unsubscription) (suppression.Left, error) {
	return p.app.Audience.Leave(tx, u)
}

package web

import (
	"net/http"
	"net/url"
	"strconv"
)

const (
	// replayAtOnce is how many events one press of the button sends again: the API takes as many replays a minute, or fewer.
	replayAtOnce = 60
	// replayLook is how many failed deliveries are looked through for them, newest first.
	replayLook = 1000
	// replayPage is how many are read at a time; the API gives no more, and takes no more ids to ask for.
	replayPage = 200
)

// replayFailed sends events again that a webhook never took. One that was delivered since, or is on its way, is left alone, so that
// pressing twice sends nothing twice.
func replayFailed(v *visit) error {
	id := v.path("id")
	due, more, err := v.neverTaken(id)
	if err != nil {
		return err
	}
	sent := int64(0)
	for _, delivery := range due {
		err := v.send(http.MethodPost, apiPath("webhook-deliveries", delivery, "replay"), nil, nil)
		if refused := refusal(err); refused != nil && refused.Status == http.StatusTooManyRequests && sent > 0 {
			more = true
			break
		}
		if err != nil {
			return v.webhookChanged(err, "", "")
		}
		sent++
	}
	said := v.plural(sent, "event is", "events are") + " on the way again."
	if sent == 0 {
		said = "Every event that failed was delivered since, or is on its way."
	} else if more {
		said += " There are more: wait a minute and press again."
	}
	return v.redirect(v.link("webhooks", id), said)
}

// neverTaken returns failed deliveries to a webhook, one for each event that no other delivery brought; more tells that these are not all.
func (v *visit) neverTaken(webhook string) (due []string, more bool, err error) {
	seen := map[string]bool{}
	for offset := 0; offset < replayLook; offset += replayPage {
		var failed listOf[deliveryRecord]
		query := url.Values{"webhook_id": {webhook}, "status": {"failed"}, "limit": {strconv.Itoa(replayPage)}, "offset": {strconv.Itoa(offset)}}
		if err := v.get("/v1/webhook-deliveries", query, &failed); err != nil {
			return nil, false, err
		}
		settled, err := v.settledEvents(webhook, failed.Data)
		if err != nil {
			return nil, false, err
		}
		for _, d := range failed.Data {
			if d.Test || seen[d.EventID] || settled[d.EventID] {
				continue
			}
			if len(due) == replayAtOnce {
				return due, true, nil
			}
			seen[d.EventID] = true
			due = append(due, d.ID)
		}
		if !failed.HasMore {
			return due, false, nil
		}
	}
	return due, true, nil
}

// settledEvents are those of some deliveries that the webhook has taken since, or is about to be told of again.
func (v *visit) settledEvents(webhook string, failed []deliveryRecord) (map[string]bool, error) {
	settled := map[string]bool{}
	query := url.Values{"webhook_id": {webhook}, "status": {"delivered", "pending", "retrying"}, "limit": {strconv.Itoa(replayPage)}}
	for _, d := range failed {
		query.Add("event_id", d.EventID)
	}
	if len(failed) == 0 {
		return settled, nil
	}
	for offset := 0; offset < replayLook; offset += replayPage {
		query.Set("offset", strconv.Itoa(offset))
		var others listOf[deliveryRecord]
		if err := v.get("/v1/webhook-deliveries", query, &others); err != nil {
			return nil, err
		}
		for _, d := range others.Data {
			settled[d.EventID] = true
		}
		if !others.HasMore {
			break
		}
	}
	return settled, nil
}

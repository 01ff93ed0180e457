package web

import (
	"net/http"
	"time"
)

// estimate is whom a broadcast would reach, as a sum that people can follow.
type estimate struct {
	Lines    []estimateLine
	Eligible int64
	// Number and People say it as people read it.
	Number, People string
	// Short says that the plan has fewer emails left than are needed.
	Short string
}

type estimateLine struct {
	Number, Text string
	Minus        bool
}

// inZones writes a time as the clocks here and at Greenwich show it: a wrong zone is the dearest mistake of a mailing.
func (v *visit) inZones(at time.Time) []string {
	here := at.In(v.zone())
	zones := []string{here.Format("Mon 2 Jan 2006, 15:04 ") + v.zone().String()}
	if v.zone() != time.UTC && v.zone().String() != "UTC" {
		zones = append(zones, at.UTC().Format("15:04 UTC"))
	}
	return append(zones, v.ago(at).Text)
}

// estimate asks whom a broadcast would reach; nil before anybody was chosen.
func (v *visit) estimate(b broadcastRecord) (*estimate, error) {
	if b.AudienceID == "" && b.SegmentID == "" {
		return nil, nil
	}
	var counted struct {
		Total, Eligible int64
		Excluded        struct {
			Unsubscribed, Pending, Suppressed int64
			TopicOptOut                       int64 `json:"topic_opt_out"`
		}
		Quota struct {
			Remaining  *int64
			Sufficient bool
		}
	}
	err := v.send(http.MethodPost, "/v1/broadcasts/audience-estimate", map[string]string{"audience_id": b.AudienceID, "segment_id": b.SegmentID, "topic_id": b.TopicID}, &counted)
	if isRefused(err, "validation_error") {
		return nil, nil // what was chosen is gone, which the form says
	}
	if err != nil {
		return nil, err
	}
	chosen := "in the audience"
	if b.AudienceID != "" && b.SegmentID != "" {
		chosen = "in both list and segment"
	} else if b.AudienceID != "" {
		chosen = "on the list"
	} else {
		chosen = "in the segment"
	}
	e := &estimate{Eligible: counted.Eligible, Number: v.number(counted.Eligible), People: v.plural(counted.Eligible, "person", "people"), Lines: []estimateLine{{v.number(counted.Total), chosen, false}}}
	for _, less := range []struct {
		n    int64
		text string
	}{{counted.Excluded.Unsubscribed, "unsubscribed"}, {counted.Excluded.Pending, "not confirmed"}, {counted.Excluded.TopicOptOut, "do not want the topic"}, {counted.Excluded.Suppressed, "suppressed"}} {
		if less.n > 0 {
			e.Lines = append(e.Lines, estimateLine{v.number(less.n), less.text, true})
		}
	}
	if !counted.Quota.Sufficient && counted.Quota.Remaining != nil {
		e.Short = "Your plan has " + v.plural(*counted.Quota.Remaining, "email", "emails") + " left this month."
	}
	return e, nil
}

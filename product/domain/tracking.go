package domain

import (
	"context"
	"maps"
	"slices"
	"strings"

	"postrider/platform/db"
)

// mostFormer bounds how many former labels a domain has: each is looked at with every check of the domain.
const mostFormer = 10

// TrackingHosts are where tracking links of the domain lead, and led before.
func (d Domain) TrackingHosts() []string {
	hosts := []string{d.TrackingLabel + "." + d.Name}
	for _, label := range d.FormerLabels {
		hosts = append(hosts, label+"."+d.Name)
	}
	return hosts
}

// mostOwners bounds how many workspaces are asked about one name, which each of them has proven to be its own at some time.
const mostOwners = 20

// TracksAt tells whether a host is, or was, the tracking host of a domain that is, or was, verified, and its alias leads to us: then links in
// mail may lead there, and a certificate may be shown and got for it. Strangers can ask for any host, so the answer is found by an index alone.
func (s *Service) TracksAt(ctx context.Context, host string) (bool, error) {
	first, name, ok := strings.Cut(strings.ToLower(host), ".")
	if !ok {
		return false, nil
	}
	var owners []Domain
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		owners, err = selectOnceVerified(tx, name, mostOwners)
		return err
	})
	return slices.ContainsFunc(owners, func(d Domain) bool { return d.tracksAt(first) }), err
}

func (d Domain) tracksAt(label string) bool {
	if d.TrackingLabel == label {
		return d.Checks.Tracking.leadsHere()
	}
	return slices.Contains(d.FormerLabels, label) && d.Checks.Former[label].leadsHere()
}

// leadsHere tells whether an alias is taken for one that leads to us. Silent name servers say nothing of it, and links that were mailed long
// ago must go on to work through their outage.
func (c Check) leadsHere() bool { return c.Status == CheckPass || c.Status == CheckDNSError }

// trackUnder changes the label of links in mail to come. Links that were mailed before lead to the former one, for years; one that was never
// looked at is in no mail.
func (d *Domain) trackUnder(label string) {
	if label == d.TrackingLabel {
		return
	}
	former := maps.Clone(d.Checks.Former)
	if former == nil {
		former = map[string]Check{}
	}
	old, seen := d.Checks.Tracking, former[label]
	if old.Status != CheckNotChecked {
		former[d.TrackingLabel] = old
		d.FormerLabels = slices.Concat([]string{d.TrackingLabel}, d.FormerLabels)
	}
	d.FormerLabels = slices.DeleteFunc(slices.Clone(d.FormerLabels), func(l string) bool { return l == label })
	delete(former, label)
	if seen.Status == "" {
		seen.Status = CheckNotChecked
	}
	d.TrackingLabel, d.Checks.Tracking, d.Checks.Former = label, seen, former
	d.forgetLabels()
}

// forgetLabels keeps to mostFormer: the oldest goes that leads nowhere here, or else the oldest.
func (d *Domain) forgetLabels() {
	for len(d.FormerLabels) > mostFormer {
		last := len(d.FormerLabels) - 1
		for i, label := range slices.Backward(d.FormerLabels) {
			if !d.Checks.Former[label].leadsHere() {
				last = i
				break
			}
		}
		delete(d.Checks.Former, d.FormerLabels[last])
		d.FormerLabels = slices.Delete(d.FormerLabels, last, last+1)
	}
}

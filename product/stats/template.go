package stats

import (
	"strconv"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// OfTemplate is what became of the mails that were made from a template.
type OfTemplate struct {
	Totals   Totals
	Versions map[int64]Totals
	// LastSentAt is when the last of them was sent, to a quarter of an hour.
	LastSentAt time.Time
}

func ofTemplateVersion(id string, version int64) facet {
	return facet("v:" + id + ":" + strconv.FormatInt(version, 10))
}

// Template counts the mails of a template in a period, all of them and those of some versions.
func (s *Service) Template(tx *db.Tx, ws space.ID, id string, versions []int64, from, until time.Time) (OfTemplate, error) {
	asked := span{workspace: ws, facets: []facet{ofTemplate(id)}, from: from.Truncate(quarter), until: until}
	for _, version := range versions {
		asked.facets = append(asked.facets, ofTemplateVersion(id, version))
	}
	found, err := selectFacets(tx, asked)
	if err != nil {
		return OfTemplate{}, err
	}
	all := found[ofTemplate(id)]
	told := OfTemplate{Totals: newTotals(all.counts), Versions: make(map[int64]Totals, len(versions)), LastSentAt: all.lastSent}
	for _, version := range versions {
		told.Versions[version] = newTotals(found[ofTemplateVersion(id, version)].counts)
	}
	return told, nil
}

package dnsprovider

import (
	"fmt"
	"slices"

	"postrider/product/dnsprovider/internal/cloudflare"
	"postrider/product/domain"
)

// decideMX treats the receivers of a name as a whole: ours beside those of another mailbox would split the mail between them.
func (s scene) decideMX(wanted []domain.DNSRecord, there []cloudflare.Record) decision {
	var d decision
	var missing []int // indexes of steps
	for i, want := range wanted {
		at := slices.IndexFunc(there, func(r cloudflare.Record) bool { return isReceiver(want, r) })
		if at < 0 {
			missing = append(missing, i)
			d.steps = append(d.steps, step{want: want, action: Created})
			continue
		}
		d.steps = append(d.steps, step{want: want, action: Unchanged})
		there = slices.Delete(there, at, at+1)
	}
	if len(missing) == 0 && !s.overwrite {
		return d
	}
	if at := slices.IndexFunc(there, func(r cloudflare.Record) bool { return !isOurs(r) }); at >= 0 && !s.overwrite {
		for _, i := range missing {
			d.steps[i].action, d.steps[i].why = Conflict, fmt.Sprintf("Mail for this name goes to %s. Its MX records were left alone.", there[at].Content)
		}
		return d
	}
	for _, i := range missing {
		if len(there) > 0 {
			d.steps[i].action, d.steps[i].id = Updated, there[0].ID
			there = there[1:]
		}
	}
	for _, r := range there {
		d.stale = append(d.stale, r.ID)
	}
	return d
}

// isReceiver tells whether a record names the wanted receiver. Whoever wrote a record by hand also chose its rank; in those that
// we made it must be right.
func isReceiver(want domain.DNSRecord, r cloudflare.Record) bool {
	if !sameHost(want.Value, r.Content) {
		return false
	}
	return !isOurs(r) || r.Priority != nil && want.Priority != nil && *r.Priority == *want.Priority
}

package plan

import (
	"errors"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

// Service answers what a workspace may still use.
type Service struct {
	plans map[Name]Plan
}

// New returns the service of the given plans.
func New(plans map[Name]Plan) *Service { return &Service{plans: plans} }

// Errors of quotas. Waiting does not cure them within the period, so they are not rate limits.
var (
	ErrMonthlyQuota = api.NewError(402, "monthly_quota_exceeded", "monthly_quota_exceeded", "The plan's emails for this month are used up.")
	ErrDailyQuota   = api.NewError(402, "daily_quota_exceeded", "daily_quota_exceeded", "The plan's emails for today are used up.")
)

// Get returns a plan by its name.
func (s *Service) Get(name Name) (Plan, error) {
	p, ok := s.plans[name]
	if !ok {
		return Plan{}, fmt.Errorf("there is no plan %q among those shipped and those that --plans names", name)
	}
	return p, nil
}

// Usage is what a workspace has sent in the current month and day (UTC).
type Usage struct {
	Month, Day int64
}

// Quota is how much of the month's emails is used.
type Quota struct {
	Used     int64
	Limit    *int64
	ResetsAt time.Time
}

// UseEmails counts emails to the given number of recipients, made at the given moment, against the plan, or refuses them all.
func (s *Service) UseEmails(tx *db.Tx, ws space.ID, name Name, at time.Time, recipients int64) (Quota, error) {
	p, err := s.Get(name)
	if err != nil {
		return Quota{}, err
	}
	month, day := allowance{monthPeriod(at), mostOf(p.Limits.EmailsPerMonth)}, allowance{dayPeriod(at), mostOf(p.Limits.EmailsPerDay)}
	counts, err := use(tx, ws, recipients, month, day)
	if err != nil {
		return Quota{}, err
	}
	if len(counts) == 2 {
		return Quota{Used: counts[month.period], Limit: p.Limits.EmailsPerMonth, ResetsAt: nextMonth(at)}, nil
	}
	// The transaction may go on with other emails, so one period must not keep what the other refused.
	for period := range counts {
		if err := giveBack(tx, ws, period, recipients); err != nil {
			return Quota{}, err
		}
	}
	usage, err := usedIn(tx, ws, at)
	if err != nil {
		return Quota{}, err
	}
	if usage.Month+recipients > month.most {
		return Quota{}, quotaError(ErrMonthlyQuota, name, month.most, usage.Month, nextMonth(at))
	}
	return Quota{}, quotaError(ErrDailyQuota, name, day.most, usage.Day, nextDay(at))
}

// UseEmailsOfMany counts several emails at once: together if the plan has room for all, else one by one, so that those fit that
// came first. Each has a quota or a refusal; the error means that nothing can be said.
func (s *Service) UseEmailsOfMany(tx *db.Tx, ws space.ID, name Name, at time.Time, recipients []int64) (quotas []Quota, refusals []error, err error) {
	quotas, refusals = make([]Quota, len(recipients)), make([]error, len(recipients))
	total := int64(0)
	for _, n := range recipients {
		total += n
	}
	last, err := s.UseEmails(tx, ws, name, at, total)
	if err == nil {
		for i := len(recipients) - 1; i >= 0; i-- {
			quotas[i] = last
			last.Used -= recipients[i]
		}
		return quotas, refusals, nil
	}
	if !isQuota(err) {
		return nil, nil, err
	}
	for i, n := range recipients {
		if quotas[i], refusals[i] = s.UseEmails(tx, ws, name, at, n); refusals[i] != nil && !isQuota(refusals[i]) {
			return nil, nil, refusals[i]
		}
	}
	return quotas, refusals, nil
}

func isQuota(err error) bool { return errors.Is(err, ErrMonthlyQuota) || errors.Is(err, ErrDailyQuota) }

// ReturnEmails gives back what UseEmails took for the given moment, for mail that was never sent.
func (s *Service) ReturnEmails(tx *db.Tx, ws space.ID, at time.Time, recipients int64) error {
	for _, period := range []string{monthPeriod(at), dayPeriod(at)} {
		if err := giveBack(tx, ws, period, recipients); err != nil {
			return err
		}
	}
	return nil
}

// EmailsUsed returns the usage of the current periods.
func (s *Service) EmailsUsed(tx *db.Tx, ws space.ID) (Usage, error) { return usedIn(tx, ws, tx.Now()) }

func usedIn(tx *db.Tx, ws space.ID, at time.Time) (Usage, error) {
	month, err := used(tx, ws, monthPeriod(at))
	if err != nil {
		return Usage{}, err
	}
	day, err := used(tx, ws, dayPeriod(at))
	return Usage{Month: month, Day: day}, err
}

func quotaError(public *api.Error, name Name, limit, used int64, resets time.Time) error {
	return public.With("plan", name).With("limit", limit).With("used", used).With("resets_at", api.Time(resets))
}

func monthPeriod(t time.Time) string { return t.UTC().Format("2006-01") }
func dayPeriod(t time.Time) string   { return t.UTC().Format("2006-01-02") }

func nextMonth(t time.Time) time.Time {
	return time.Date(t.UTC().Year(), t.UTC().Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

func nextDay(t time.Time) time.Time {
	return time.Date(t.UTC().Year(), t.UTC().Month(), t.UTC().Day()+1, 0, 0, 0, 0, time.UTC)
}

// Month returns the start of the month of t and of the next one.
func Month(t time.Time) (start, end time.Time) {
	return time.Date(t.UTC().Year(), t.UTC().Month(), 1, 0, 0, 0, 0, time.UTC), nextMonth(t)
}

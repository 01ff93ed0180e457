package app

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
	"postrider/product/webhook"
)

// meters are the numbers that grow with every request and post. All others are asked for when a monitor asks.
type meters struct {
	requests *prometheus.CounterVec
	answered prometheus.Histogram
	posts    *prometheus.CounterVec
	posted   prometheus.Histogram
}

// answerTimes and postTimes are the bounds that times are sorted by, in seconds.
var (
	answerTimes = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}
	postTimes   = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}
)

// Outcomes of a post to a webhook.
const (
	postDelivered = "delivered"
	postRetrying  = "retrying"
	postFailed    = "failed"
)

func newMeters() *meters {
	m := &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "postrider_api_requests_total", Help: "Requests that were answered, by route as it was declared and by status."},
			[]string{"method", "route", "status"}),
		answered: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "postrider_api_request_seconds", Help: "How long answers took.", Buckets: answerTimes}),
		posts:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "postrider_webhook_posts_total", Help: "Posts to webhooks, by what followed."}, []string{"outcome"}),
		posted:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "postrider_webhook_post_seconds", Help: "How long posts to webhooks took.", Buckets: postTimes}),
	}
	for _, outcome := range []string{postDelivered, postRetrying, postFailed} {
		m.posts.WithLabelValues(outcome) // a graph of what never happened shows zero
	}
	return m
}

// request counts an answered request. What was asked for on paths that do not exist is one thing, however it was spelled: the names
// of series must not be for strangers to choose.
func (m *meters) request(f api.Finished) {
	method, route := f.Method, f.Route
	if route == "" {
		method, route = "other", "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(f.Status)).Inc()
	m.answered.Observe(f.Took.Seconds())
}

func (m *meters) post(p webhook.Posted) {
	outcome := postDelivered
	if p.Attempt.Error != "" {
		outcome = postRetrying
		if p.Next.IsZero() {
			outcome = postFailed
		}
	}
	m.posts.WithLabelValues(outcome).Inc()
	m.posted.Observe(p.Attempt.Took.Seconds())
}

// Metrics returns everything that monitors can ask for. Whoever asks more than once keeps it.
func (a *App) Metrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		a.meters.requests, a.meters.answered, a.meters.posts, a.meters.posted,
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_db_writes_total", Help: "Write transactions that were committed."},
			func() float64 { return float64(a.DB.Stats().Writes) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_db_commits_total", Help: "Commits of the embedded database, each with one fsync."},
			func() float64 { return float64(a.DB.Stats().Commits) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_db_write_wait_seconds_total", Help: "How long writes have waited for their turn, all together."},
			func() float64 { return a.DB.Stats().WriteWait.Seconds() }),
		&survey{app: a})
	return registry
}

// survey asks the parts when a monitor asks, so that nothing has to be counted while mail is being moved.
type survey struct{ app *App }

var (
	reachableMetric   = prometheus.NewDesc("postrider_db_reachable", "1 if the database answers.", nil, nil)
	mailMetric        = prometheus.NewDesc("postrider_mail_queue", "Recipients that wait to be mailed or are being mailed.", nil, nil)
	itemsMetric       = prometheus.NewDesc("postrider_queue_items", "Queued work by lane; ready is due, later is not, leased is being worked on.", []string{"lane", "state"}, nil)
	ageMetric         = prometheus.NewDesc("postrider_queue_age_seconds", "How long the oldest ready item of a lane has been due.", []string{"lane"}, nil)
	behindMetric      = prometheus.NewDesc("postrider_follower_behind", "Events that a follower has not handled, up to 10000.", []string{"follower"}, nil)
	attemptsMetric    = prometheus.NewDesc("postrider_delivery_attempts_total", "Attempts to deliver to one recipient, by what followed and who runs the mailbox.", []string{"outcome", "provider"}, nil)
	connectionsMetric = prometheus.NewDesc("postrider_delivery_connections", "Connections to other mail servers, open or being opened.", nil, nil)
	aheadMetric       = prometheus.NewDesc("postrider_clock_ahead_seconds", "How far this node's clock is ahead of the database's, at the least; negative is behind.", nil, nil)
	contestedMetric   = prometheus.NewDesc("postrider_blobs_contested", "1 if another database has signed the blob store, so that nothing is removed from it.", nil, nil)
	heldMetric        = prometheus.NewDesc("postrider_delivery_held", "Recipients that this node has leased.", nil, nil)
)

// Describe names what is asked for.
func (s *survey) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{reachableMetric, mailMetric, itemsMetric, ageMetric, behindMetric, attemptsMetric, connectionsMetric, heldMetric, aheadMetric, contestedMetric} {
		descriptions <- d
	}
}

const (
	// surveyWithin is how long the database may take: monitors give up after ten seconds.
	surveyWithin = 8 * time.Second
	// mostBehind bounds how far behind a follower is counted.
	mostBehind = 10_000
)

// Collect asks for everything. If the database is away, what it knows is missing and the rest is told.
func (s *survey) Collect(values chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		values <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	numbers := s.app.Delivery.Numbers()
	gauge(connectionsMetric, float64(numbers.Connections))
	gauge(heldMetric, float64(numbers.Held))
	gauge(aheadMetric, s.app.Nodes.Ahead().Seconds())
	contested := 0.0
	if s.app.sweeps.Contested() {
		contested = 1
	}
	gauge(contestedMetric, contested)
	for kind, count := range numbers.Attempts {
		values <- prometheus.MustNewConstMetric(attemptsMetric, prometheus.CounterValue, float64(count), kind.Outcome, kind.ISP)
	}
	work, err := s.work()
	if err != nil {
		s.app.World.Log.Warn("metrics of the database are missing", "error", err)
		gauge(reachableMetric, 0)
		return
	}
	gauge(reachableMetric, 1)
	gauge(mailMetric, float64(work.mail))
	for _, load := range work.loads {
		for state, count := range map[string]int64{"ready": load.Ready, "later": load.Later, "leased": load.Leased} {
			gauge(itemsMetric, float64(count), string(load.Lane), state)
		}
		age := time.Duration(0)
		if !load.Oldest.IsZero() {
			age = max(0, s.app.World.Clock.Now().Sub(load.Oldest))
		}
		gauge(ageMetric, age.Seconds(), string(load.Lane))
	}
	for name, count := range work.behind {
		gauge(behindMetric, float64(count), name)
	}
}

// work is what the database knows.
type work struct {
	mail   int64
	loads  []queue.Load
	behind map[string]int64
}

func (s *survey) work() (found work, err error) {
	ctx, done := context.WithTimeout(context.Background(), surveyWithin)
	defer done()
	err = s.app.DB.Read(ctx, func(tx *db.Tx) error {
		found = work{behind: map[string]int64{}}
		if found.loads, err = queue.Survey(tx); err != nil {
			return err
		}
		for _, load := range found.loads {
			if email.IsMail(load.Lane) {
				found.mail += load.Ready + load.Later + load.Leased
			}
		}
		for _, f := range s.app.Followers() {
			if found.behind[f.Name], err = f.Behind(tx, mostBehind); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

package handlers

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"quartermaster/internal/portal"
)

// counters are the router's own measures. Labels are route patterns, methods and
// statuses: a bounded set, whatever strangers send.
type counters struct {
	registry *prometheus.Registry
	took     *prometheus.HistogramVec
}

func newCounters(registry *prometheus.Registry) *counters {
	c := &counters{registry: registry, took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "quartermaster_http_request_seconds", Help: "Time to answer a request, by route.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"method", "route", "status"})}
	registry.MustRegister(c.took)
	return c
}

func (c *counters) observe(method, pattern string, status int, took time.Duration) {
	c.took.WithLabelValues(known(method), pattern, strconv.Itoa(status)).Observe(took.Seconds())
}

// fleetGauges asks, at each scrape, how the clusters and the queue stand. A
// figure that cannot be read is left out of the answer, never 0.
type fleetGauges struct {
	use  UseCases
	jobs func(context.Context) (map[[2]string]int64, error)
}

// scrape reads as the portal itself: no person asks.
var scrape = portal.Actor{System: "metrics", Via: "job"}

const scrapeTime = 5 * time.Second

var (
	lastPoll = prometheus.NewDesc("quartermaster_cluster_last_good_poll_timestamp_seconds", "When a cluster was last read, Unix time.", []string{"cluster"}, nil)
	pollGood = prometheus.NewDesc("quartermaster_cluster_poll_good", "1 when the last poll of a cluster was good, 0 when it failed.", []string{"cluster"}, nil)
	changes  = prometheus.NewDesc("quartermaster_changes", "Changes that are not true yet: open ones come true by themselves, stopped ones need a person.", []string{"cluster", "state"}, nil)
	record   = prometheus.NewDesc("quartermaster_record_ok", "1 when the last check of the record found it as it was written; 0: nothing is signed or pushed.", nil, nil)
	queued   = prometheus.NewDesc("quartermaster_jobs", "Unfinished background jobs.", []string{"queue", "state"}, nil)
)

func (g fleetGauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lastPoll, pollGood, changes, queued, record} {
		out <- d
	}
}

func (g fleetGauges) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	rows, err := g.use.ListClusters(ctx, scrape)
	for _, row := range rows {
		c := row.Cluster
		if c.LastGoodAt != nil {
			gauge(lastPoll, float64(c.LastGoodAt.UnixMilli())/1000, c.ID)
		}
		if c.LastPollAt != nil {
			good := 0.0
			if c.Problem == "" {
				good = 1
			}
			gauge(pollGood, good, c.ID)
		}
		gauge(changes, float64(row.Open), c.ID, "open")
		gauge(changes, float64(row.Stopped), c.ID, "stopped")
	}
	if err != nil {
		out <- prometheus.NewInvalidMetric(changes, errors.New("clusters could not be read"))
	}
	if state, err := g.use.RecordState(ctx); err != nil {
		out <- prometheus.NewInvalidMetric(record, errors.New("the state of the record could not be read"))
	} else {
		good := 0.0
		if state.OK {
			good = 1
		}
		gauge(record, good)
	}
	if g.jobs == nil {
		return
	}
	jobs, err := g.jobs(ctx)
	for of, n := range jobs {
		gauge(queued, float64(n), of[1], of[0])
	}
	if err != nil {
		out <- prometheus.NewInvalidMetric(queued, errors.New("jobs could not be counted"))
	}
}

// metrics shows what the registry holds; jobs and cmd register theirs in the same one.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(s.count.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
	return nil
}

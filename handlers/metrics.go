package handlers

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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

// metrics shows what the registry holds; jobs and cmd register theirs in the same one.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(s.count.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

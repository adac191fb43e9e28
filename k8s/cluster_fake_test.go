package k8s

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// answers is an API server that says what a test tells it to, for what the real
// one does only on a bad day.
type answers map[string]string

const (
	kueueServed    = `{"kind":"APIGroup","versions":[{"version":"v1beta2"},{"version":"v1beta1"}]}`
	kueueResources = `{"kind":"APIResourceList","resources":[{"name":"cohorts"}]}`
	empty          = `{"kind":"List","metadata":{"resourceVersion":"7"},"items":[]}`
)

func healthy() answers {
	return answers{
		"/apis/kueue.x-k8s.io":                         kueueServed,
		"/apis/kueue.x-k8s.io/v1beta2":                 kueueResources,
		"/apis/kueue.x-k8s.io/v1beta2/resourceflavors": empty,
		"/apis/kueue.x-k8s.io/v1beta2/clusterqueues":   `{"kind":"ClusterQueueList","items":[{"metadata":{"name":"q"}}]}`,
		"/api/v1/pods":                                 empty,
		"/apis/kueue.x-k8s.io/v1beta2/localqueues":     empty,
		"/apis/kueue.x-k8s.io/v1beta2/workloads":       empty,
		"/api/v1/nodes":                                empty,
		"/api/v1/resourcequotas":                       empty,
	}
}

func status(code int, reason, message string) string {
	text, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message})
	return string(text)
}

func fake(t *testing.T, handler http.Handler) *Cluster {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	k, err := New(Config{Server: server.URL, CA: ca, Token: "secret", CallTimeout: 5 * time.Second})
	require.NoError(t, err)
	return k
}

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := a[r.URL.Path]
	if !ok {
		body = status(404, "NotFound", "not found")
	}
	w.Header().Set("Content-Type", "application/json")
	var head struct {
		Kind string
		Code int
	}
	if json.Unmarshal([]byte(body), &head) == nil && head.Kind == "Status" {
		w.WriteHeader(head.Code)
	}
	fmt.Fprint(w, body)
}

func TestListThatFailedIsUnknownNotEmpty(t *testing.T) {
	for name, bad := range map[string]string{
		"server error":       status(500, "InternalError", "etcd is slow"),
		"forbidden":          status(403, "Forbidden", "no"),
		"a page, not a list": "<html>please sign in</html>",
		"another kind":       `{"kind":"Table","rows":[]}`,
	} {
		a := healthy()
		a["/apis/kueue.x-k8s.io/v1beta2/workloads"] = bad
		o, err := fake(t, a).Observe(t.Context())
		require.NoError(t, err, name)
		require.False(t, o.WorkloadsKnown, name)
		require.True(t, o.QueuesKnown && o.QuotasKnown && o.PoolsKnown, name)
		require.Len(t, o.Queues, 1, name)
		require.Len(t, o.Problems, 1, name)
		require.Contains(t, o.Problems[0], "Could not read the workloads", name)
	}
}

func TestNothingReadIsAnErrorNotAnEmptyObservation(t *testing.T) {
	a := healthy()
	for path := range a {
		if path != "/apis/kueue.x-k8s.io" && path != "/apis/kueue.x-k8s.io/v1beta2" {
			a[path] = status(503, "ServiceUnavailable", "down")
		}
	}
	_, err := fake(t, a).Observe(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

func TestClusterWithoutKueueIsReadAllTheSame(t *testing.T) {
	a := healthy()
	delete(a, "/apis/kueue.x-k8s.io")
	k := fake(t, a)
	o, err := k.Observe(t.Context())
	require.NoError(t, err)
	require.True(t, o.QueuesKnown && o.WorkloadsKnown)
	_, err = k.Plan(t.Context(), want("x", "1", "0"))
	require.Equal(t, fault.Invalid, fault.KindOf(err))
}

func TestTokenIsNotCarriedAlongARedirect(t *testing.T) {
	var leaked atomic.Bool
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	defer elsewhere.Close()
	k := fake(t, http.RedirectHandler(elsewhere.URL, http.StatusFound))
	_, err := k.Discover(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.False(t, leaked.Load())
	require.NotContains(t, err.Error(), "secret")
}

func TestSilentServerIsUnavailable(t *testing.T) {
	release := make(chan struct{})
	k := fake(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := k.Observe(ctx)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	a := healthy()
	k := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/kueue.x-k8s.io/v1beta2/clusterqueues" && r.URL.Query().Get("continue") == "" {
			fmt.Fprint(w, `{"kind":"ClusterQueueList","metadata":{"continue":"more"},"items":[{"metadata":{"name":"first"}}]}`)
			return
		}
		a.ServeHTTP(w, r)
	}))
	o, err := k.Observe(t.Context())
	require.NoError(t, err)
	require.Len(t, o.Queues, 2)
}

// A watch whose history is gone reads everything anew and says what vanished.
func TestWatchStartsOverWhenItsVersionExpired(t *testing.T) {
	a := healthy()
	var lists, watches atomic.Int32
	workloads := "/apis/kueue.x-k8s.io/v1beta2/workloads"
	item := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"uid":"%[1]s","name":"%[1]s","namespace":"n","resourceVersion":"9"},"spec":{"queueName":"lq"}}`, name)
	}
	k := fake(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != workloads:
			a.ServeHTTP(w, r)
		case r.URL.Query().Get("watch") == "" && lists.Add(1) == 1:
			fmt.Fprintf(w, `{"kind":"WorkloadList","metadata":{"resourceVersion":"7"},"items":[%s,%s]}`, item("stays"), item("goes"))
		case r.URL.Query().Get("watch") == "":
			fmt.Fprintf(w, `{"kind":"WorkloadList","metadata":{"resourceVersion":"20"},"items":[%s]}`, item("stays"))
		case watches.Add(1) == 1:
			fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}{"type":"ERROR","object":%s}`, status(410, "Expired", "too old"))
		case r.URL.Query().Get("resourceVersion") == "20":
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`, item("new"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	err := k.Watch(ctx, func(e fleet.WorkloadEvent) {
		switch {
		case e.Synced:
			said = append(said, "synced")
		case e.Gone:
			said = append(said, "gone "+e.Workload.Name)
		default:
			said = append(said, e.Workload.Name)
		}
		if e.Workload.Name == "new" {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "stays goes synced stays gone goes synced new", strings.Join(said, " "))
}

func TestRefusalsBecomeFaults(t *testing.T) {
	for _, test := range []struct {
		code    int
		reason  string
		message string
		kind    fault.Kind
		public  string
	}{
		{401, "Unauthorized", "Unauthorized", fault.Forbidden, "token"},
		{403, "Forbidden", "nodes is forbidden", fault.Forbidden, "may not list nodes"},
		{409, "Conflict", "the object has been modified", fault.Stale, "changed"},
		{422, "Invalid", "borrowingLimit must be nil when cohort is empty", fault.Invalid, "borrowingLimit must be nil"},
		{429, "TooManyRequests", "slow down", fault.Unavailable, "cannot answer"},
		{500, "InternalError", `Internal error occurred: failed calling webhook "vclusterqueue.kb.io"`, fault.Unavailable, "Is Kueue running"},
	} {
		k := fake(t, answers{"/api/v1/nodes": status(test.code, test.reason, test.message)})
		_, err := listAll[node](t.Context(), k, "/api/v1/nodes")
		require.Equal(t, test.kind, fault.KindOf(err), test.message)
		require.Contains(t, fault.As(err).Public, test.public)
	}
}

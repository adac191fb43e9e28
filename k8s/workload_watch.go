package k8s

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"quartermaster/internal/fleet"
)

// watchFor is how long one watch lasts before the API server ends it and it is
// taken up again where it stopped, in seconds.
const watchFor = 300

// errExpired says that the API server no longer has the history to go on from.
var errExpired = errors.New("the watched version has expired")

// Watch reports each workload as it changes. It goes on where an ended watch
// stopped, reads everything anew where the server has forgotten that point, and
// returns when ctx ends or the cluster cannot be reached.
func (c *Cluster) Watch(ctx context.Context, report func(fleet.WorkloadEvent)) error {
	kueue, err := c.detectKueue(ctx)
	if err != nil {
		return err
	}
	if !kueue.served() {
		report(fleet.WorkloadEvent{Synced: true})
		<-ctx.Done()
		return ctx.Err()
	}
	w := &watch{cluster: c, kueue: kueue, report: report, queues: map[namespaced]string{}, seen: map[string]fleet.Workload{}}
	for {
		if err := w.listAll(ctx); err != nil {
			return err
		}
		for err = nil; err == nil; {
			began := time.Now()
			if err = w.follow(ctx); err == nil && time.Since(began) < time.Second {
				err = pause(ctx)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.Is(err, errExpired) {
			return err
		}
	}
}

// pause keeps a server that ends each watch at once from being asked in a loop.
func pause(ctx context.Context) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// watch is one Watch under way.
type watch struct {
	cluster *Cluster
	kueue   kueueAPI
	report  func(fleet.WorkloadEvent)
	version string                    // where to go on from
	queues  map[namespaced]string     // LocalQueue → ClusterQueue
	seen    map[string]fleet.Workload // by uid: whatever a new list lacks is gone
}

// listAll reports all that exist, and as gone what was known before and is no more.
func (w *watch) listAll(ctx context.Context) error {
	locals, err := listAll[localQueue](ctx, w.cluster, w.kueue.path("localqueues", ""))
	if err != nil {
		return err
	}
	for _, l := range locals {
		w.queues[namespaced{l.Metadata.Namespace, l.Metadata.Name}] = l.Spec.ClusterQueue
	}
	before := w.seen
	w.seen = make(map[string]fleet.Workload, len(before))
	w.version, err = list(ctx, w.cluster, w.kueue.path("workloads", ""), func(item workload) {
		w.changed(ctx, &item)
	})
	if err != nil {
		return err
	}
	for uid, old := range before {
		if _, still := w.seen[uid]; !still {
			w.report(fleet.WorkloadEvent{Workload: old, Gone: true})
		}
	}
	w.report(fleet.WorkloadEvent{Synced: true})
	return nil
}

func (w *watch) changed(ctx context.Context, item *workload) {
	out := readWorkload(item, func(namespace, name string) string { return w.queueOf(ctx, namespace, name) })
	w.seen[out.UID] = identityOf(out)
	w.report(fleet.WorkloadEvent{Workload: out})
}

// identityOf keeps of a workload what its end must be reported with; the rest
// would only fill memory.
func identityOf(w fleet.Workload) fleet.Workload {
	w.Amounts, w.Message = nil, ""
	return w
}

// queueOf looks a LocalQueue up once; one made after the start is read when its
// first workload comes. "" while it cannot be read.
func (w *watch) queueOf(ctx context.Context, namespace, name string) string {
	key := namespaced{namespace, name}
	if queue, ok := w.queues[key]; ok || name == "" {
		return queue
	}
	var local localQueue
	if found, err := w.cluster.get(ctx, w.kueue.path("localqueues", namespace, name), &local); err != nil || !found {
		return ""
	}
	w.queues[key] = local.Spec.ClusterQueue
	return local.Spec.ClusterQueue
}

// follow runs one watch until the server ends it. nil: take it up again.
func (w *watch) follow(ctx context.Context) error {
	path := w.kueue.path("workloads", "")
	stream, err := w.cluster.rest.Get().AbsPath(path).
		Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("resourceVersion", w.version).Param("timeoutSeconds", strconv.Itoa(watchFor)).Stream(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return errExpired
	}
	if err != nil {
		return w.cluster.fault("watch", path, err)
	}
	defer stream.Close()
	for events := json.NewDecoder(stream); ; {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&event); err != nil {
			// However a stream ends, what it brought is complete up to w.version.
			if errors.Is(err, io.EOF) || ctx.Err() == nil {
				return ctx.Err()
			}
			return err
		}
		if err := w.take(ctx, event.Type, event.Object); err != nil {
			return err
		}
	}
}

func (w *watch) take(ctx context.Context, kind string, text json.RawMessage) error {
	if kind == "ERROR" {
		var status metav1.Status
		if err := json.Unmarshal(text, &status); err == nil && status.Code == http.StatusGone {
			return errExpired
		}
		return w.cluster.fault("watch", w.kueue.path("workloads", ""), &apierrors.StatusError{ErrStatus: status})
	}
	var item workload
	if err := json.Unmarshal(text, &item); err != nil {
		return w.cluster.fault("watch", w.kueue.path("workloads", ""), err)
	}
	w.version = item.Metadata.ResourceVersion
	switch kind {
	case "ADDED", "MODIFIED":
		w.changed(ctx, &item)
	case "DELETED":
		delete(w.seen, item.Metadata.UID)
		out := readWorkload(&item, func(namespace, name string) string { return w.queueOf(ctx, namespace, name) })
		w.report(fleet.WorkloadEvent{Workload: out, Gone: true})
	}
	return nil
}

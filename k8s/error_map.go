package k8s

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// ConflictError says which fields of an object somebody else manages. It is a
// fault of kind Conflict.
type ConflictError struct {
	Conflicts []fleet.Conflict
	cause     error
}

func (e *ConflictError) Error() string { return e.Unwrap().Error() }

// Unwrap makes the fault of it.
func (e *ConflictError) Unwrap() error {
	var parts []string
	for _, c := range e.Conflicts {
		parts = append(parts, fmt.Sprintf("%s of %s is managed by %s", c.Field, c.Object, c.Manager))
	}
	return fault.Newf(fault.Conflict, "Somebody else manages what would be written: %s. A capacity manager of the pool may take these fields over, on record.", strings.Join(parts, "; ")).Because(e.cause)
}

// fault turns an error of one call into a fault; verb and path say what was tried.
func (c *Cluster) fault(verb, path string, err error) error {
	if err == nil || fault.KindOf(err) != "" {
		return err
	}
	return fmt.Errorf("%s %s: %w", verb, path, faultOf(verb, path, err))
}

func faultOf(verb, path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return unreachable(err)
	}
	s := status.Status()
	what := resourceOf(path)
	switch {
	case s.Code == http.StatusUnauthorized:
		return fault.New(fault.Forbidden, "The cluster does not accept the portal's token: it has ended, was revoked, or belongs to another cluster.").Because(err)
	case s.Code == http.StatusForbidden && s.Reason == metav1.StatusReasonForbidden && strings.Contains(s.Message, "exceeded quota"):
		return fault.Newf(fault.Conflict, "A quota of the cluster refuses it: %s", s.Message).Because(err)
	case s.Code == http.StatusForbidden && strings.Contains(s.Message, "because it is being terminated"):
		return fault.New(fault.Conflict, "The namespace is being deleted on the cluster; nothing can be made in it.").Because(err)
	case s.Code == http.StatusForbidden:
		return fault.Newf(fault.Forbidden, "The portal's account may not %s %s on this cluster. Apply the role in k8s/deploy again.", verb, what).Because(err)
	case s.Code == http.StatusNotFound:
		return fault.Newf(fault.NotFound, "The cluster has no such %s.", what).Because(err)
	case s.Code == http.StatusConflict:
		return fault.Newf(fault.Stale, "A %s changed on the cluster meanwhile. Look at the plan again.", what).Because(err)
	case s.Code == http.StatusGone:
		return fault.Newf(fault.Stale, "The cluster no longer knows the version of %s that was asked for.", what).Because(err)
	case strings.Contains(s.Message, "failed calling webhook"):
		return fault.New(fault.Unavailable, "The cluster's admission webhook does not answer; nothing was written. Is Kueue running?").Because(err)
	case s.Code == http.StatusUnprocessableEntity || s.Code == http.StatusBadRequest:
		return fault.Newf(fault.Invalid, "The cluster refuses the %s: %s", what, s.Message).Because(err)
	case s.Code == http.StatusTooManyRequests || s.Code >= http.StatusInternalServerError:
		return fault.New(fault.Unavailable, "The cluster's API server cannot answer now.").Because(err)
	}
	return err
}

// unreachable explains why no answer came, or none that could be read.
func unreachable(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fault.New(fault.Unavailable, "The API server's certificate is not signed by the CA that was given.").Because(err)
	case errors.As(err, &name), errors.As(err, &invalid):
		return fault.New(fault.Unavailable, "The API server's certificate is not valid for its address or has ended.").Because(err)
	case errors.As(err, &record):
		return fault.New(fault.Unavailable, "Something answers at the address, but not over TLS.").Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "The cluster did not answer in time.").Because(err)
	}
	return fault.New(fault.Unavailable, "The cluster cannot be reached.").Because(err)
}

// resourceOf names the kind in an API path for people: clusterqueues, nodes.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	start := 2 // /api/v1/…
	if parts[0] == "apis" {
		start = 3 // /apis/group/version/…
	}
	if len(parts) > start+2 && parts[start] == "namespaces" {
		start += 2
	}
	if len(parts) <= start {
		return "API"
	}
	return parts[start]
}

// conflictsOf reads the managers out of a refused apply; nil where the refusal
// was about something else. The API server names them only in prose:
//
//	conflict with "kubectl-client-side-apply" using kueue.x-k8s.io/v1beta2
func conflictsOf(object fleet.ObjectRef, err error) []fleet.Conflict {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusConflict || status.Status().Details == nil {
		return nil
	}
	var conflicts []fleet.Conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := "another manager"
		if parts := strings.SplitN(cause.Message, `"`, 3); len(parts) == 3 {
			manager = parts[1]
		}
		conflicts = append(conflicts, fleet.Conflict{Object: object, Field: strings.TrimPrefix(cause.Field, "."), Manager: manager})
	}
	return conflicts
}

// Package k8s is the Kubernetes adapter: it reads and writes the objects that
// limit accelerators there (Kueue's queues and cohorts, ResourceQuotas) and
// implements fleet.Cluster. Jobs reach it through that interface; only cmd
// constructs it. It must never decide what a limit should be, never force a write
// except a recorded takeover, never delete, never read a secret, and never take
// "could not be read" for "there is none".
package k8s

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Field managers of server-side apply. Their fields are disjoint: shape writes
// namespaces, cohorts and what queues are; limits writes how much they give.
const (
	ShapeManager  = "quartermaster-shape"
	LimitsManager = "quartermaster"
)

// Config is all a connection is made from. There is no kubeconfig, no file path
// and no credential plugin: nothing an administrator types here can run a program.
type Config struct {
	Server string // https://host[:port]
	CA     []byte // PEM; the system's roots are never used
	Token  string // bearer token of the service account in k8s/deploy
	// CallTimeout bounds each request but a watch; 0 means 30 s.
	CallTimeout time.Duration
	// UserAgent appears in the cluster's audit log; "" means quartermaster.
	UserAgent string
}

// Cluster is one connected Kubernetes cluster. It is safe for concurrent use.
type Cluster struct {
	rest    rest.Interface
	http    *http.Client
	timeout time.Duration
	now     func() time.Time
}

var _ fleet.Cluster = (*Cluster)(nil)

// New checks the configuration; it does not call the cluster yet.
func New(config Config) (*Cluster, error) {
	wrong := fault.New(fault.Invalid, "The connection is not complete.")
	address, err := url.Parse(config.Server)
	if err != nil || address.Scheme != "https" || address.Host == "" || address.User != nil {
		wrong.At("server", "Write the API server's address, such as https://10.0.0.1:6443.")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(config.CA) {
		wrong.At("ca", "Paste the CA certificate as PEM: it begins with -----BEGIN CERTIFICATE-----.")
	}
	if config.Token == "" {
		wrong.At("token", "Paste the token of the service account quartermaster.")
	}
	if err := wrong.OrNil(); err != nil {
		return nil, err
	}
	if config.CallTimeout == 0 {
		config.CallTimeout = 30 * time.Second
	}
	if config.UserAgent == "" {
		config.UserAgent = "quartermaster"
	}
	client := &http.Client{
		Transport: &authorized{config.Token, newTransport(roots)},
		// A redirect would carry the token to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the API server redirects; give its own address")
		},
	}
	restClient, err := rest.UnversionedRESTClientForConfigAndClient(&rest.Config{
		Host:      config.Server,
		UserAgent: config.UserAgent,
		QPS:       -1, // the poller and the job queue bound the load; client-go's 5 calls/s would stall a plan
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &schema.GroupVersion{},
			NegotiatedSerializer: statusOnly(),
			ContentType:          runtime.ContentTypeJSON,
			AcceptContentTypes:   runtime.ContentTypeJSON,
		},
	}, client)
	if err != nil {
		return nil, err
	}
	return &Cluster{rest: restClient, http: client, timeout: config.CallTimeout, now: time.Now}, nil
}

// Close drops idle connections; a call under way ends on its own.
func (c *Cluster) Close() { c.http.CloseIdleConnections() }

func newTransport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: time.Minute,
		IdleConnTimeout:       90 * time.Second,
		ForceAttemptHTTP2:     true,
		// A watch on a connection that died silently would wait for ever.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// authorized adds the token to each request.
type authorized struct {
	token string
	next  *http.Transport
}

func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return a.next.RoundTrip(r)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (a *authorized) CloseIdleConnections() { a.next.CloseIdleConnections() }

// statusOnly knows just metav1.Status, so that the API server's errors are
// decoded; bodies are decoded into the small structs of this package.
func statusOnly() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	scheme.AddUnversionedTypes(schema.GroupVersion{Version: "v1"}, &metav1.Status{})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

// call returns a context for one request.
func (c *Cluster) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

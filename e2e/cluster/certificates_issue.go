package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// pki holds the certificates and keys of one cluster, by file name, and their
// directory: components read files, the harness reads memory.
type pki struct {
	dir   string
	files map[string][]byte
}

// issued is a certificate with the key that may sign further ones.
type issued struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// clients are the client certificates: name → who the API server takes it for.
// Kueue goes by its service account's name, so that it works under the roles it
// ships with and not as administrator.
var clients = map[string]pkix.Name{
	"admin":       {CommonName: "admin", Organization: []string{"system:masters"}},
	"controllers": {CommonName: "system:kube-controller-manager"},
	"scheduler":   {CommonName: "system:kube-scheduler"},
	"kwok":        {CommonName: "kwok", Organization: []string{"system:masters"}},
	"kubelet":     {CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}},
	"kueue": {
		CommonName:   "system:serviceaccount:kueue-system:kueue-controller-manager",
		Organization: []string{"system:serviceaccounts", "system:serviceaccounts:kueue-system"},
	},
}

func issuePKI(dir, server string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &pki{dir: dir, files: map[string][]byte{}}
	ca, err := p.issue("ca", authority("test-cluster-ca"), nil, nil)
	if err != nil {
		return nil, err
	}
	serving := map[string]*x509.Certificate{
		"apiserver":    servingFor("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
		"kwok-serving": servingFor("localhost"),
	}
	for name, template := range serving {
		if _, err := p.issue(name, template, ca, nil); err != nil {
			return nil, err
		}
	}
	for name, subject := range clients {
		template := &x509.Certificate{Subject: subject, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		if _, err := p.issue(name, template, ca, nil); err != nil {
			return nil, err
		}
		if err := p.writeKubeconfig(server, name); err != nil {
			return nil, err
		}
	}
	if err := p.issueKueueWebhook(); err != nil {
		return nil, err
	}
	return p, p.issueServiceAccountKeys()
}

// issueKueueWebhook makes what Kueue's certificate rotator accepts as its own: a
// CA with the name kueue-ca and an RSA key in PKCS#1, and a serving certificate
// for its webhook Service, which here also answers on loopback.
func (p *pki) issueKueueWebhook() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	template := authority("kueue-ca")
	template.DNSNames = []string{"kueue-ca"}
	ca, err := p.issue("kueue-ca", template, nil, key)
	if err != nil {
		return err
	}
	_, err = p.issue("kueue-webhook", servingFor("kueue-webhook-service.kueue-system.svc", "localhost"), ca, nil)
	return err
}

func (p *pki) issueServiceAccountKeys() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := p.writeKey("serviceaccount", key); err != nil {
		return err
	}
	return p.write("serviceaccount.pub", "PUBLIC KEY", public)
}

// issue signs template with parent, or with its own key where parent is nil.
func (p *pki) issue(name string, template *x509.Certificate, parent *issued, key crypto.Signer) (*issued, error) {
	var err error
	if key == nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, err
	}
	template.NotBefore = time.Now().Add(-time.Hour)
	// Kueue's rotator replaces what ends within 90 days.
	template.NotAfter = time.Now().Add(365 * 24 * time.Hour)
	if parent == nil {
		parent = &issued{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.cert, key.Public(), parent.key)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if err := p.write(name+".crt", "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return &issued{cert, key}, p.writeKey(name, key)
}

func (p *pki) writeKey(name string, key crypto.Signer) error {
	if k, ok := key.(*rsa.PrivateKey); ok {
		return p.write(name+".key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k))
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return p.write(name+".key", "PRIVATE KEY", der)
}

func (p *pki) write(file, kind string, der []byte) error {
	p.files[file] = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	return os.WriteFile(p.path(file), p.files[file], 0o600)
}

func (p *pki) writeKubeconfig(server, name string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: p.pem("ca.crt")}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: p.pem(name + ".crt"), ClientKeyData: p.pem(name + ".key")}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	return clientcmd.WriteToFile(*config, p.path(name+".kubeconfig"))
}

func (p *pki) path(file string) string { return filepath.Join(p.dir, file) }
func (p *pki) pem(file string) []byte  { return p.files[file] }

func (p *pki) restConfig(server, client string) (*rest.Config, error) {
	config := &rest.Config{Host: server, QPS: 500, Burst: 1000, UserAgent: "test-harness"}
	config.TLSClientConfig = rest.TLSClientConfig{CAData: p.pem("ca.crt"), CertData: p.pem(client + ".crt"), KeyData: p.pem(client + ".key")}
	return config, nil
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: []string{name}}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign,
	}
}

func servingFor(names ...string) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

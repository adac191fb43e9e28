package cluster

import (
	"context"
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"quartermaster/k8s/deploy"
)

// grantPortalAccess applies the manifests that administrators are given, exactly
// as they ship, so that every test of the portal runs with these rights alone.
func (c *Cluster) grantPortalAccess() error {
	text, err := deploy.Manifests()
	if err != nil {
		return err
	}
	objects, err := parseObjects(text)
	if err != nil {
		return err
	}
	return c.create(context.Background(), objects)
}

// Token returns a token of a service account in the portal's namespace, valid
// for one hour: deploy.ServiceAccount is the portal's own.
func (c *Cluster) Token(t testing.TB, serviceAccount string) string {
	t.Helper()
	token, err := c.IssueToken(t.Context(), serviceAccount)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// IssueToken is Token for a TestMain.
func (c *Cluster) IssueToken(ctx context.Context, serviceAccount string) (string, error) {
	clients, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return "", err
	}
	seconds := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := clients.CoreV1().ServiceAccounts(deploy.Namespace).CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	if answer.Status.Token == "" {
		return "", errors.New("the API server answered without a token")
	}
	return answer.Status.Token, nil
}

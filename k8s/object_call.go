package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// answer sends a request. The error holds the API server's Status, which names
// the managers of conflicting fields; client-go's DoRaw drops it.
func answer(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// pageSize of lists: bounds what is in memory at once.
const pageSize = "500"

// get reads one object into out; found is false where there is none.
func (c *Cluster) get(ctx context.Context, path string, out any) (found bool, err error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	text, err := answer(ctx, c.rest.Get().AbsPath(path))
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, c.fault("read", path, err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return false, c.fault("read", path, err)
	}
	return true, nil
}

// list reads a collection page by page and hands over each item. The version is
// the collection's, to start a watch from.
func list[T any](ctx context.Context, c *Cluster, path string, each func(T)) (version string, err error) {
	var page struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		} `json:"metadata"`
		Items []T `json:"items"`
	}
	for next := ""; ; next = page.Metadata.Continue {
		text, err := c.page(ctx, path, next)
		if err != nil {
			return "", c.fault("list", path, err)
		}
		page.Metadata.Continue, page.Items = "", nil
		if err := json.Unmarshal(text, &page); err != nil {
			return "", c.fault("list", path, err)
		}
		if !strings.HasSuffix(page.Kind, "List") {
			return "", c.fault("list", path, fmt.Errorf("the answer is a %q, not a list", page.Kind))
		}
		for _, item := range page.Items {
			each(item)
		}
		if page.Metadata.Continue == "" {
			return page.Metadata.ResourceVersion, nil
		}
	}
}

func (c *Cluster) page(ctx context.Context, path, next string) ([]byte, error) {
	ctx, cancel := c.call(ctx)
	defer cancel()
	request := c.rest.Get().AbsPath(path).Param("limit", pageSize)
	if next != "" {
		request = request.Param("continue", next)
	}
	return answer(ctx, request)
}

// listAll collects what list hands over.
func listAll[T any](ctx context.Context, c *Cluster, path string) ([]T, error) {
	var all []T
	_, err := list(ctx, c, path, func(item T) { all = append(all, item) })
	return all, err
}

// applyOptions of one server-side apply.
type applyOptions struct {
	manager string
	dryRun  bool
	force   bool
}

// apply sends one server-side apply and reads the object as the server then has
// it, or, on a dry run, would have it. The error is the API server's own.
func (c *Cluster) apply(ctx context.Context, path string, body map[string]any, o applyOptions, out any) error {
	ctx, cancel := c.call(ctx)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request := c.rest.Patch(types.ApplyYAMLPatchType).AbsPath(path).Param("fieldManager", o.manager).Body(text)
	if o.dryRun {
		request = request.Param("dryRun", "All")
	}
	if o.force {
		request = request.Param("force", "true")
	}
	stored, err := answer(ctx, request)
	if err != nil {
		return err
	}
	return json.Unmarshal(stored, out)
}

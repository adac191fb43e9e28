package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quartermaster/internal/fleet"
)

// stored is the file: objects only; workloads are grown again.
type stored struct {
	Version int64          `json:"version"`
	Objects []*object      `json:"objects"`
	Writes  map[string]int `json:"writes"` // by object, as written out
}

func (c *Cluster) load() (found bool, err error) {
	if c.cfg.File == "" {
		return false, nil
	}
	raw, err := os.ReadFile(c.cfg.File)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return false, fmt.Errorf("%s: %w; remove it to start over", c.cfg.File, err)
	}
	c.version = s.Version
	for _, o := range s.Objects {
		c.objects[o.Ref] = o
		if n := s.Writes[o.Ref.String()]; n > 0 {
			c.writes[o.Ref] = n
		}
	}
	return true, nil
}

// save replaces the file in one step: a crash leaves the old content or the new.
func (c *Cluster) save() error {
	if c.cfg.File == "" {
		return nil
	}
	s := stored{Version: c.version, Writes: map[string]int{}}
	refs := slices.SortedFunc(maps.Keys(c.objects), func(a, b fleet.ObjectRef) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, ref := range refs {
		s.Objects = append(s.Objects, c.objects[ref])
		if n := c.writes[ref]; n > 0 {
			s.Writes[ref.String()] = n
		}
	}
	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.cfg.File), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), c.cfg.File)
}

package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/ledger"
)

// VerifyRecord recomputes every digest and every link of the record, compares the
// searchable columns with the entries and the last entry of each object with what
// the store names as last. It reads one moment of the database and changes nothing.
func (p *Portal) VerifyRecord(ctx context.Context) (VerifyReport, error) {
	v := VerifyReport{At: p.Now()}
	var chain ledger.Chain
	err := p.Store.Snapshot(ctx, func(ctx context.Context, r Reader) error {
		var err error
		if v.Log, err = r.LogName(ctx); err != nil {
			return fmt.Errorf("name of the log: %w", err)
		}
		for s, err := range r.StreamStored(ctx) {
			if err != nil {
				return fmt.Errorf("read the record: %w", err)
			}
			chain.Add(s)
		}
		heads, err := r.Heads(ctx)
		if err != nil {
			return fmt.Errorf("last entries: %w", err)
		}
		chain.Close(heads)
		return nil
	})
	if err != nil {
		return v, fmt.Errorf("verify the record: %w", err)
	}
	v.Entries, v.Objects = chain.Count, chain.Objects()
	for _, b := range chain.Breaks {
		v.Problems = append(v.Problems, VerifyProblem{Ordinal: b.Ordinal, EntryID: b.ID, Text: b.Problem})
	}
	return v, nil
}

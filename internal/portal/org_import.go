package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
)

// ImportOrg makes the organisation what o says. The same file twice changes
// nothing the second time and leaves no second entry. What o no longer names stays,
// save role mappings: one that was taken out gives no authority any more.
func (p *Portal) ImportOrg(ctx context.Context, actor Actor, o Organisation, dryRun bool) (OrgDiff, error) {
	if actor.System == "" && !actor.Person.Has(org.PlatformAdmin) {
		return OrgDiff{}, fault.New(fault.Forbidden, "Only platform admins import the organisation.")
	}
	if problems := checkOrganisation(o); len(problems) > 0 {
		f := fault.New(fault.Invalid, "The organisation is not right.")
		for _, w := range problems {
			f.At(w.where(), "%s", w.message)
		}
		return OrgDiff{}, f
	}
	for _, w := range o.People {
		if w.Issuer == "" {
			return OrgDiff{}, fault.New(fault.Invalid, "The organisation is not right.").At("people "+w.Subject+", issuer", "is needed: here, or once for everybody as identity.issuer of the configuration")
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return OrgDiff{}, fmt.Errorf("digest of the organisation: %w", err)
	}
	sum := sha256.Sum256(raw)
	digest := hex.EncodeToString(sum[:])
	if dryRun {
		var d OrgDiff
		err := p.Store.Snapshot(ctx, func(ctx context.Context, r Reader) (e error) {
			d, e = diffOrganisation(ctx, r, o)
			return e
		})
		return d, err
	}
	var d OrgDiff
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		var err error
		if d, err = diffOrganisation(ctx, tx, o); err != nil || d.Empty {
			return err
		}
		by := actor.Person.ID
		if by == "" {
			by = actor.System
		}
		if d.Version, err = tx.SaveOrg(ctx, o, digest, by); err != nil {
			return err
		}
		e := p.entry(actor, ledger.OrgImported, "organisation", "organisation")
		e.After = digest
		e.Facts["version"], e.Facts["changes"] = strconv.FormatInt(d.Version, 10), strconv.Itoa(len(d.Lines))
		_, err = tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	if err != nil {
		return OrgDiff{}, fmt.Errorf("import the organisation: %w", err)
	}
	return d, nil
}

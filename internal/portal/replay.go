package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"quartermaster/internal/fault"
)

// once runs do in one transaction and keeps what it returned under the key of
// actor's form. A second click, a reload or a retry after a lost answer gets the
// first one's result: it may come while the first still runs, so that after an
// error the key is looked up again. sent is what the form said: a key that comes
// back with something else (another request, a text changed after going back in the
// browser) was not done, and nobody may be told that it was.
func once[T any](ctx context.Context, p *Portal, actor Actor, useCase, key string, sent any, do func(ctx context.Context, tx Tx) (T, error)) (T, error) {
	keyed := key != "" && actor.Person.ID != ""
	var out, none T
	said, err := saidBy(sent)
	if err != nil {
		return none, fmt.Errorf("digest of what %s was sent: %w", useCase, err)
	}
	key = useCase + ":" + key
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if keyed {
			found, err := replayed(ctx, tx, actor, useCase, key, said, &out)
			if found || err != nil {
				return err
			}
		}
		v, err := do(ctx, tx)
		if err != nil {
			return err
		}
		out = v
		if !keyed {
			return nil
		}
		result, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("result of %s: %w", useCase, err)
		}
		return tx.SaveReplay(ctx, actor.Person.ID, key, useCase, keptResult{Said: said, Result: result})
	})
	if err == nil || !keyed {
		return out, err
	}
	found := false
	again := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) (e error) {
		found, e = replayed(ctx, tx, actor, useCase, key, said, &out)
		return e
	})
	if again == nil && found {
		return out, nil
	}
	return none, err
}

// keptResult is what is kept of one form that was answered.
type keptResult struct {
	Said   string          `json:"said"` // digest of what the form said
	Result json.RawMessage `json:"result"`
}

func saidBy(sent any) (string, error) {
	raw, err := json.Marshal(sent)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

func replayed[T any](ctx context.Context, tx Tx, actor Actor, useCase, key, said string, out *T) (bool, error) {
	raw, found, err := tx.Replay(ctx, actor.Person.ID, key, useCase)
	if err != nil || !found {
		return false, err
	}
	var kept keptResult
	if err := json.Unmarshal(raw, &kept); err != nil {
		return false, fmt.Errorf("result kept for %s: %w", useCase, err)
	}
	var was T
	if err := json.Unmarshal(kept.Result, &was); err != nil {
		return false, fmt.Errorf("result kept for %s: %w", useCase, err)
	}
	if kept.Said != said {
		return false, sentOtherwise(was)
	}
	*out = was
	return true, nil
}

// before is what the same form of actor's did already. It is asked ahead of whatever
// must not happen twice outside the transaction.
func before[T any](ctx context.Context, p *Portal, actor Actor, useCase, key string, sent any) (out T, found bool, err error) {
	if key == "" || actor.Person.ID == "" {
		return out, false, nil
	}
	said, err := saidBy(sent)
	if err != nil {
		return out, false, fmt.Errorf("digest of what %s was sent: %w", useCase, err)
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) (e error) {
		found, e = replayed(ctx, tx, actor, useCase, useCase+":"+key, said, &out)
		return e
	})
	return out, found && err == nil, err
}

// sentOtherwise is the fault for a key that comes back with other contents. Where the
// first sending was about a request, the page shows what was entered now.
func sentOtherwise(was any) error {
	f := fault.New(fault.Conflict, "This form was sent before with other contents, and only that was done. Open the page again and send it from there.")
	if r, ok := was.(interface{ number() int64 }); ok {
		return f.Because(&RequestChanged{Number: r.number(), What: "This form was sent before with other contents, and only that was done."})
	}
	return f
}

func (r RequestRef) number() int64 { return r.Number }

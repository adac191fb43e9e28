package portal

import (
	"context"
	"encoding/json"
	"fmt"
)

// once runs do in one transaction and keeps what it returned under the key of
// actor's form. A second click, a reload or a retry after a lost answer gets the
// first one's result: it may come while the first still runs, so that after an
// error the key is looked up again.
func once[T any](ctx context.Context, p *Portal, actor Actor, useCase, key string, do func(ctx context.Context, tx Tx) (T, error)) (T, error) {
	keyed := key != "" && actor.Person.ID != ""
	key = useCase + ":" + key
	var out T
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if keyed {
			found, err := replayed(ctx, tx, actor, useCase, key, &out)
			if found || err != nil {
				return err
			}
		}
		v, err := do(ctx, tx)
		if err != nil {
			return err
		}
		out = v
		if keyed {
			return tx.SaveReplay(ctx, actor.Person.ID, key, useCase, v)
		}
		return nil
	})
	if err == nil || !keyed {
		return out, err
	}
	found := false
	again := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) (e error) {
		found, e = replayed(ctx, tx, actor, useCase, key, &out)
		return e
	})
	if again == nil && found {
		return out, nil
	}
	var none T
	return none, err
}

func replayed[T any](ctx context.Context, tx Tx, actor Actor, useCase, key string, out *T) (bool, error) {
	raw, found, err := tx.Replay(ctx, actor.Person.ID, key, useCase)
	if err != nil || !found {
		return false, err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return false, fmt.Errorf("result kept for %s: %w", useCase, err)
	}
	return true, nil
}

// before is what the same form of actor's did already. It is asked ahead of whatever
// must not happen twice outside the transaction.
func before[T any](ctx context.Context, p *Portal, actor Actor, useCase, key string) (out T, found bool, err error) {
	if key == "" || actor.Person.ID == "" {
		return out, false, nil
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) (e error) {
		found, e = replayed(ctx, tx, actor, useCase, useCase+":"+key, &out)
		return e
	})
	return out, found && err == nil, err
}

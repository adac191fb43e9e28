package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
)

// UpsertPerson stores who p is at the provider now: name, e-mail and groups are
// replaced by what the provider says; the id, the linked identity and whether the
// account is active stay what they were. signedInAt nil = announced, not signed in.
func (t *tx) UpsertPerson(ctx context.Context, p org.Person, signedInAt *time.Time) (org.Person, error) {
	if p.Issuer == "" || p.Subject == "" {
		return org.Person{}, fault.New(fault.Invalid, "A person needs an issuer and a subject.")
	}
	var row personRow
	err := t.get(ctx, &row, noPerson, `
		INSERT INTO person AS p (id, issuer, subject, name, email, identity, groups, groups_at, last_sign_in)
		VALUES (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5, coalesce($6::uuid, gen_random_uuid()), $7, $8, $8)
		ON CONFLICT (issuer, subject) DO UPDATE SET
			name = EXCLUDED.name, email = EXCLUDED.email, groups = EXCLUDED.groups,
			groups_at = coalesce(EXCLUDED.groups_at, p.groups_at),
			last_sign_in = coalesce(EXCLUDED.last_sign_in, p.last_sign_in)
		RETURNING p.id, p.issuer, p.subject, p.name, p.email, p.identity, p.active, p.groups, p.last_sign_in`,
		orNull(p.ID), p.Issuer, p.Subject, p.Name, p.Email, orNull(p.Identity), pq.Array(notNil(p.Groups)), signedInAt)
	if err != nil {
		return org.Person{}, fmt.Errorf("save person: %w", err)
	}
	people, err := t.withRoles(ctx, []personRow{row})
	if err != nil {
		return org.Person{}, err
	}
	return people[0], nil
}

// notNil keeps an empty list from becoming NULL.
func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// MoveIssuer renames the issuer of its people. Whoever the new one knows already stays who they are.
func (t *tx) MoveIssuer(ctx context.Context, from, to string) (int, error) {
	done, err := t.tx.ExecContext(ctx, `
		UPDATE person p SET issuer = $2
		WHERE issuer = $1 AND NOT EXISTS (SELECT FROM person o WHERE o.issuer = $2 AND o.subject = p.subject)`, from, to)
	if err != nil {
		return 0, explain(ctx, err)
	}
	n, err := done.RowsAffected()
	return int(n), err
}

package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

func TestOrganisationComesBackAsItWasSaved(t *testing.T) {
	w, want := newWorld(t), organisation()
	ctx := t.Context()

	units, err := w.Units(ctx)
	require.NoError(t, err)
	require.Equal(t, want.Units, units)
	teams, err := w.Teams(ctx)
	require.NoError(t, err)
	require.Equal(t, []org.Team{want.Teams[1], want.Teams[0]}, teams, "by name")
	team, err := w.Team(ctx, "vision")
	require.NoError(t, err)
	require.Equal(t, want.Teams[0], team)
	projects, err := w.Projects(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, []org.Project{want.Projects[1], want.Projects[0]}, projects)
	projects, err = w.Projects(ctx, []string{"vision"})
	require.NoError(t, err)
	require.Equal(t, want.Projects[:1], projects)
	projects, err = w.Projects(ctx, []string{})
	require.NoError(t, err)
	require.Empty(t, projects, "no team is not all teams")
	project, err := w.Project(ctx, "cv")
	require.NoError(t, err)
	require.Equal(t, want.Projects[0], project)

	pool, err := w.Pool(ctx, "east-h100")
	require.NoError(t, err)
	require.True(t, pool.BorrowCeiling.Equal(fleet.Count(16)))
	require.Equal(t, "64Gi", pool.MemoryPerUnit.String())
	require.Equal(t, h100, pool.Key)
	require.Equal(t, "East", pool.ClusterName)
	require.Equal(t, fleet.Unknown, pool.Capacity, "nothing was observed yet")
	require.Equal(t, fleet.Unknown, pool.Nominal)
	require.Nil(t, pool.ObservedAt)
	pools, err := w.Pools(ctx)
	require.NoError(t, err)
	require.Len(t, pools, 3)
	require.Nil(t, pools[0].BorrowCeiling, "no ceiling is no limit, not 0")

	mappings, version, err := w.Mappings(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t, want.Mappings, mappings)
	require.EqualValues(t, 1, version)

	route, n, err := w.RouteInForce(ctx)
	require.NoError(t, err)
	require.Equal(t, approval.Default, route)
	require.Equal(t, 1, n)
}

func TestAnImportReplacesMappingsAndDeletesNothingElse(t *testing.T) {
	w := newWorld(t)
	o := organisation()
	o.Projects, o.Pools = o.Projects[:1], o.Pools[:1]
	o.Projects[0].Name = "Renamed"
	o.Mappings = o.Mappings[:1]
	o.Route = []approval.Template{{Key: "one", Name: "One", Role: org.CapacityManager, Scope: approval.OfPool, Quorum: 2, RespondWithin: time.Hour}}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		version, err := tx.SaveOrg(ctx, o, "second", "test")
		require.EqualValues(t, 2, version)
		return err
	})
	projects, err := w.Projects(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, projects, 2)
	require.Equal(t, "Renamed", projects[1].Name)
	mappings, _, err := w.Mappings(t.Context())
	require.NoError(t, err)
	require.Equal(t, o.Mappings, mappings)
	mia, err := w.Person(t.Context(), w.id("mia"))
	require.NoError(t, err)
	require.Empty(t, mia.Roles, "a mapping that was taken out gives no authority")
	route, n, err := w.RouteInForce(t.Context())
	require.NoError(t, err)
	require.Equal(t, o.Route, route)
	require.Equal(t, 2, n)
	// The same once more adds no route.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.SaveOrg(ctx, o, "third", "test")
		return err
	})
	_, n, err = w.RouteInForce(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestAnImportThatNamesWhatIsNotThereChangesNothing(t *testing.T) {
	w := newWorld(t)
	for name, spoil := range map[string]func(*portal.Organisation){
		"project of no team":   func(o *portal.Organisation) { o.Projects[0].TeamID = "nobody" },
		"pool of no cluster":   func(o *portal.Organisation) { o.Pools[0].ClusterID = "nowhere" },
		"scope of no kind":     func(o *portal.Organisation) { o.Mappings[0].Scope.Kind = "galaxy" },
		"linked to a stranger": func(o *portal.Organisation) { o.People[0].LinkedTo = "stranger" },
		"person of no issuer":  func(o *portal.Organisation) { o.People[0].Issuer = "" },
		"name with a NUL":      func(o *portal.Organisation) { o.Teams[0].Name = "a\x00b" },
	} {
		t.Run(name, func(t *testing.T) {
			o := organisation()
			spoil(&o)
			err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error { _, err := tx.SaveOrg(ctx, o, "bad", "test"); return err })
			require.Equal(t, fault.Invalid, fault.KindOf(err), "%v", err)
			_, version, err := w.Mappings(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 1, version)
		})
	}
}

func TestLinkedAccountsShareAnIdentity(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, w.people["ada"].Identity, w.people["ada-admin"].Identity)
	require.NotEqual(t, w.people["ada"].Identity, w.people["mia"].Identity)
	require.NotEqual(t, w.id("ada"), w.id("ada-admin"))
}

func TestSignInReplacesGroupsAndKeepsWhoItIs(t *testing.T) {
	w := newWorld(t)
	at := noon
	var ada org.Person
	w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
		ada, err = tx.UpsertPerson(ctx, org.Person{Issuer: issuer, Subject: "ada", Name: "Ada L.", Email: "new@example.org", Groups: []string{"audit", "unknown"}}, &at)
		return err
	})
	require.Equal(t, w.id("ada"), ada.ID)
	require.Equal(t, w.people["ada"].Identity, ada.Identity)
	require.Equal(t, "Ada L.", ada.Name)
	require.True(t, ada.Active)
	require.True(t, ada.Has(org.Auditor))
	require.False(t, ada.Has(org.Requester), "the groups of before are gone")

	// An import that still announces other groups does not give them back.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.SaveOrg(ctx, organisation(), "again", "test")
		return err
	})
	again, err := w.Person(t.Context(), ada.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"audit", "unknown"}, again.Groups)

	w.owner.MustExec(`UPDATE person SET active = false WHERE id = $1`, ada.ID)
	w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
		ada, err = tx.UpsertPerson(ctx, org.Person{Issuer: issuer, Subject: "ada", Name: "Ada"}, &at)
		return err
	})
	require.False(t, ada.Active, "signing in does not bring a deactivated account back")
	require.Empty(t, ada.Groups)
	holding, err := w.PeopleHolding(t.Context(), org.Auditor)
	require.NoError(t, err)
	require.Len(t, holding, 1)
	require.Equal(t, "aud", holding[0].Subject)
}

func TestPeopleArePagedByNameWithoutGapOrRepeat(t *testing.T) {
	w := newWorld(t)
	w.owner.MustExec(`INSERT INTO person (issuer, subject, name) SELECT 'x', 'twin' || n, 'Twin' FROM generate_series(1, 20) n`)
	var seen []string
	q := portal.PeopleQuery{Limit: 4}
	for {
		page, err := w.People(t.Context(), q)
		require.NoError(t, err)
		for _, p := range page {
			seen = append(seen, p.ID)
		}
		if len(page) < q.Limit {
			break
		}
		q.AfterName, q.AfterID = page[3].Name, page[3].ID
	}
	require.Len(t, seen, 27)
	require.Len(t, unique(seen), 27)

	for search, want := range map[string]int{"wood": 1, "ADA": 2, "ada@": 1, "%": 0, "_": 0, `\`: 0, "nobody": 0} {
		page, err := w.People(t.Context(), portal.PeopleQuery{Search: search})
		require.NoError(t, err)
		require.Len(t, page, want, search)
	}
	byID, err := w.PeopleByID(t.Context(), []string{w.id("mia"), uuid.NewString(), "no id"})
	require.NoError(t, err)
	require.Len(t, byID, 1)
	require.True(t, byID[w.id("mia")].Has(org.TeamManager))
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	w, ctx, none := newWorld(t), t.Context(), uuid.NewString()
	for name, read := range map[string]func(id string) error{
		"person":       func(id string) error { _, err := w.Person(ctx, id); return err },
		"subject":      func(id string) error { _, err := w.PersonBySubject(ctx, issuer, id); return err },
		"team":         func(id string) error { _, err := w.Team(ctx, id); return err },
		"project":      func(id string) error { _, err := w.Project(ctx, id); return err },
		"pool":         func(id string) error { _, err := w.Pool(ctx, id); return err },
		"cluster":      func(id string) error { _, err := w.Cluster(ctx, id); return err },
		"token":        func(id string) error { _, err := w.ClusterToken(ctx, id); return err },
		"no token yet": func(id string) error { _, err := w.ClusterToken(ctx, "east"); return err },
		"request":      func(id string) error { _, err := w.Request(ctx, id); return err },
		"number":       func(id string) error { _, err := w.RequestByNumber(ctx, 99); return err },
		"change":       func(id string) error { _, err := w.Change(ctx, id); return err },
		"binding":      func(id string) error { _, err := w.Binding(ctx, id); return err },
		"binding at":   func(id string) error { _, err := w.BindingAt(ctx, "cv", "development", "east"); return err },
		"entry":        func(id string) error { _, err := w.Entry(ctx, id); return err },
		"session":      func(id string) error { _, _, err := w.SessionPerson(ctx, id); return err },
	} {
		for _, id := range []string{none, "no-id", "", "' OR true --"} {
			err := read(id)
			require.Equal(t, fault.NotFound, fault.KindOf(err), "%s %q: %v", name, id, err)
		}
	}
}

func unique(s []string) map[string]bool {
	out := map[string]bool{}
	for _, x := range s {
		out[x] = true
	}
	return out
}

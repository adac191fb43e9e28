package portal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// A long list is cut and says so; a search finds the rest, and what is chosen stays.
func TestALongListOfChoicesIsSearched(t *testing.T) {
	d := newDesk(t)
	o, err := portal.ParseOrganisation([]byte(deskOrg))
	require.NoError(t, err)
	for i := range 120 {
		id := fmt.Sprintf("many-%03d", i)
		o.Projects = append(o.Projects, org.Project{ID: id, Name: "Many " + id, TeamID: "vision", Owner: "ana", Environments: []string{"production"}, DataClasses: []string{"internal", "secret"}})
		o.People = append(o.People, portal.OrgPerson{Issuer: testIssuer, Subject: id, Name: "Mila " + id, Groups: []string{"vision"}})
	}
	_, err = d.ImportOrg(t.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(t, err)
	ana := d.as("ana")

	all, err := d.RequestChoices(t.Context(), ana, portal.ChoiceQuery{})
	require.NoError(t, err)
	require.True(t, all.MoreProjects && all.MorePeople)
	require.Len(t, all.Projects, 100)
	require.Len(t, all.People, 100)
	require.Equal(t, []string{"internal", "secret"}, all.Classes)
	require.NotContains(t, fmt.Sprint(all.People), ana.Person.ID)

	far, err := d.store.PersonBySubject(t.Context(), testIssuer, "many-119")
	require.NoError(t, err)
	found, err := d.RequestChoices(t.Context(), ana, portal.ChoiceQuery{Project: "many-119", Person: "many-118", ProjectID: "street", PersonID: far.ID})
	require.NoError(t, err)
	require.False(t, found.MoreProjects || found.MorePeople)
	require.Equal(t, []string{"street", "many-119"}, []string{found.Projects[0].ID, found.Projects[1].ID})
	require.Equal(t, "Mila many-119", found.People[0].Name)
	require.Equal(t, "Mila many-118", found.People[1].Name)

	// Projects and people of other teams are on offer to nobody, whatever is asked for.
	other, err := d.RequestChoices(t.Context(), ana, portal.ChoiceQuery{Project: "dictation", ProjectID: "asr", PersonID: d.as("tom").Person.ID})
	require.NoError(t, err)
	require.Empty(t, other.Projects)
	require.NotContains(t, fmt.Sprint(other.People), "Tom")
}

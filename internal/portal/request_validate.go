package portal

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// Longest texts of a request, in characters, and the most lines of one.
const (
	maxPurpose       = 200
	maxJustification = 4000
	maxLines         = 20
	maxRuntimeHours  = 10 * 365 * 24
)

// mayAsk returns the assignment by which the person may ask for the team at place.
func mayAsk(p org.Person, at org.Place) (org.Assignment, bool) {
	for _, role := range []org.Role{org.Requester, org.TeamManager} {
		if a, ok := p.Holding(role, at); ok {
			return a, p.Active
		}
	}
	return org.Assignment{}, false
}

// storable checks what even a draft needs: the things it points to have to exist.
func storable(ctx context.Context, r Reader, actor Actor, at place, c request.Content) *fault.Error {
	err := fault.New(fault.Invalid, "Look at the fields that are marked.")
	if len(c.Lines) > maxLines {
		err.At("lines", "At most %d pools in one request.", maxLines)
	}
	seen := map[string]bool{}
	for i, l := range c.Lines {
		name := fmt.Sprintf("line.%d.", i)
		switch _, known := at.pools[l.PoolID]; {
		case !known:
			err.At(name+"pool", "Choose a pool.")
		case seen[l.PoolID]:
			err.At(name+"pool", "Name each pool once.")
		}
		seen[l.PoolID] = true
		if !l.Kind.Valid() {
			err.At(name+"kind", "Choose hard, soft or burst.")
		}
	}
	if utf8.RuneCountInString(c.Purpose) > maxPurpose {
		err.At("purpose", "At most %d characters.", maxPurpose)
	}
	if utf8.RuneCountInString(c.Justification) > maxJustification {
		err.At("justification", "At most %d characters.", maxJustification)
	}
	if c.BeneficiaryID != "" {
		people, e := r.PeopleByID(ctx, []string{c.BeneficiaryID})
		if who, ok := people[c.BeneficiaryID]; e != nil || !ok || !who.Active {
			err.At("on_behalf_of", "Choose a person who is known here.")
		} else if who.ID == actor.Person.ID {
			err.At("on_behalf_of", "Leave this empty to ask for yourself.")
		}
	}
	return err
}

// complete adds what a request needs before it can be submitted.
func complete(err *fault.Error, c request.Content, project org.Project) {
	if !slices.Contains(org.Environments, c.Environment) {
		err.At("environment", "Choose an environment.")
	}
	if c.DataClass == "" && len(project.DataClasses) > 0 {
		err.At("data_class", "Choose a data class.")
	}
	if !slices.Contains(org.WorkloadTypes, c.WorkloadType) {
		err.At("workload_type", "Choose a workload type.")
	}
	if !hasWords(c.Purpose) {
		err.At("purpose", "Say in a few words what it is for.")
	}
	if !hasWords(c.Justification) {
		err.At("justification", "Say why it is needed. Blanks are not a justification.")
	}
	if c.RuntimeHours < 0 || c.RuntimeHours > maxRuntimeHours {
		err.At("runtime_hours", "Say the hours that one job takes, 0 to %d.", maxRuntimeHours)
	}
	if len(c.Lines) == 0 {
		err.At("lines", "Ask for at least one pool.")
	}
	for i, l := range c.Lines {
		if l.Kind != request.Burst && l.Current.Known && l.Asked.Equal(l.Current.Amount) && l.Asked.Equal(fleet.Quantity{}) {
			err.At(fmt.Sprintf("line.%d.asked", i), "Say how many.")
		}
	}
}

// hasWords tells a text from blanks, dashes and invisible characters.
func hasWords(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
	}
	return false
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

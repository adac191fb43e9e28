package handlers

import (
	"net/url"
	"slices"
	"strconv"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// maxLines is how many pools one request may name.
const maxLines = 20

// Limits of the texts of a request, in characters.
const (
	maxPurpose       = 300
	maxJustification = 8000
)

// requestForm is the quota form: what was typed, and what it means where it can be read.
type requestForm struct {
	*form
	content request.Content
	lines   int // rows on the page, filled or not
}

// readRequest reads the fields named in web.RequestEdit.
func readRequest(f *form) requestForm {
	q := requestForm{form: f, lines: min(max(f.number("lines", 0, maxLines), 1), maxLines)}
	c := request.Content{
		Kind: request.Quota, ProjectID: f.text("project"), Environment: f.text("environment"), DataClass: f.text("data_class"),
		WorkloadType: f.text("workload_type"), Purpose: f.long("purpose", maxPurpose), Justification: f.long("justification", maxJustification),
		RuntimeHours: f.number("runtime_hours", 0, 8760), BeneficiaryID: f.text("on_behalf_of"),
	}
	if c.BeneficiaryID != "" && !isID(c.BeneficiaryID) {
		f.reject("on_behalf_of", "Choose somebody from the list.")
		c.BeneficiaryID = ""
	}
	for i := range q.lines {
		c.Lines = append(c.Lines, readLine(f, i))
	}
	q.content = c
	return q
}

func readLine(f *form, i int) request.Line {
	name := lineName(i)
	l := request.Line{PoolID: f.text(name + "pool"), Kind: request.LimitKind(f.text(name + "kind")), Start: f.moment(name + "start"), End: f.moment(name + "end")}
	switch raw := f.text(name + "asked"); {
	case raw == "" && l.PoolID != "":
		f.reject(name+"asked", "Write how many are asked for.")
	case raw != "":
		q, err := fleet.ParseQuantity(raw)
		switch {
		case err != nil:
			f.reject(name+"asked", "%s", publicOf(err))
		case q.Sign() < 0:
			f.reject(name+"asked", "The amount cannot be negative.")
		case !q.IsWhole():
			f.reject(name+"asked", "Write a whole number.")
		default:
			l.Asked = q
		}
	}
	if l.Kind != "" && !l.Kind.Valid() {
		f.reject(name+"kind", "Choose hard, soft or burst.")
	}
	return l
}

// publicOf is the sentence of a fault that may be shown.
func publicOf(err error) string {
	if f := fault.As(err); f != nil {
		return f.Public
	}
	return "This cannot be read."
}

func lineName(i int) string { return "line." + strconv.Itoa(i) + "." }

// filled reports whether there is enough in the form to say anything about it.
func (q requestForm) filled() bool {
	return q.content.ProjectID != "" && q.content.Environment != "" &&
		slices.ContainsFunc(q.content.Lines, func(l request.Line) bool { return l.PoolID != "" })
}

// valuesOf writes content as the form would have posted it, to fill a form from a
// draft or from an earlier request.
func valuesOf(c request.Content) url.Values {
	v := url.Values{
		"project": {c.ProjectID}, "environment": {c.Environment}, "data_class": {c.DataClass}, "workload_type": {c.WorkloadType},
		"purpose": {c.Purpose}, "justification": {c.Justification}, "on_behalf_of": {c.BeneficiaryID},
		"lines": {strconv.Itoa(max(1, len(c.Lines)))},
	}
	if c.RuntimeHours > 0 {
		v.Set("runtime_hours", strconv.Itoa(c.RuntimeHours))
	}
	for i, l := range c.Lines {
		name := lineName(i)
		v.Set(name+"pool", l.PoolID)
		if l.PoolID != "" {
			v.Set(name+"asked", l.Asked.String())
		}
		v.Set(name+"kind", string(l.Kind))
		if l.Start != nil {
			v.Set(name+"start", dayValue(*l.Start))
		}
		if l.End != nil {
			v.Set(name+"end", dayValue(*l.End))
		}
	}
	return v
}

// removeLine drops row n and moves the later ones up.
func removeLine(v url.Values, n, lines int) {
	for i := n; i < lines; i++ {
		for _, field := range []string{"pool", "asked", "kind", "start", "end"} {
			next := v.Get(lineName(i+1) + field)
			if i == lines-1 {
				next = ""
			}
			v.Set(lineName(i)+field, next)
		}
	}
	v.Set("lines", strconv.Itoa(max(1, lines-1)))
}

// dropEmptyLines removes rows in which nothing was chosen; the last row stays.
func dropEmptyLines(f *form) {
	lines := min(max(f.number("lines", 0, maxLines), 1), maxLines)
	for i := lines - 1; i >= 0 && lines > 1; i-- {
		if f.values.Get(lineName(i)+"pool") == "" && f.values.Get(lineName(i)+"asked") == "" {
			removeLine(f.values, i, lines)
			lines--
		}
	}
}

// fill writes the form's fields into the view, with the choices of the person
// and every text as typed.
func (q requestForm) fill(v *web.RequestEdit, c portal.Choices) {
	project := q.projectIn(c)
	v.Project = q.field("project", "Project", true)
	v.Project.Options = append(v.Project.Options, web.Option{Text: "Choose a project"})
	for _, p := range c.Projects {
		v.Project.Options = append(v.Project.Options, web.Option{Value: p.ID, Text: p.Name + " · " + nameOr(c.Teams, p.TeamID)})
	}
	v.ProjectFind = q.find("project_find", "Find a project", "projects", c.MoreProjects, len(c.Projects))
	environments, classes := project.Environments, project.DataClasses
	if project.ID == "" {
		environments, classes = org.Environments, c.Classes
	}
	v.Environment = q.choice("environment", "Environment", environments)
	v.DataClass = q.choice("data_class", "Data class", classes)
	v.WorkloadType = q.choice("workload_type", "Workload type", org.WorkloadTypes)
	v.Purpose = q.field("purpose", "Purpose", true)
	v.Purpose.Hint = "One sentence: what will run."
	v.RuntimeHours = q.field("runtime_hours", "Expected runtime of one job", false)
	v.RuntimeHours.Type, v.RuntimeHours.Unit, v.RuntimeHours.Min, v.RuntimeHours.Max = "number", "hours", "1", "8760"
	v.Justification = q.field("justification", "Justification", true)
	v.Justification.Rows, v.Justification.Hint = 5, "Why this much, and what happens without it."
	if len(c.People) > 0 || q.typed("person_find") != "" {
		v.PersonFind = q.find("person_find", "Find a person", "people", c.MorePeople, len(c.People))
		v.OnBehalfOf = q.field("on_behalf_of", "On behalf of", false)
		v.OnBehalfOf.Options = []web.Option{{Text: "Myself"}}
		for _, p := range c.People {
			v.OnBehalfOf.Options = append(v.OnBehalfOf.Options, web.Option{Value: p.ID, Text: p.Name})
		}
		if id := v.OnBehalfOf.Value; id != "" && !slices.ContainsFunc(c.People, func(p portal.PersonName) bool { return p.ID == id }) {
			v.OnBehalfOf.Options = append(v.OnBehalfOf.Options, web.Option{Value: id, Text: "the person chosen before (no requester here)"})
		}
	}
	v.MaxLines = maxLines
	for i := range q.lines {
		v.Lines = append(v.Lines, q.line(i, c))
	}
	named := map[string]bool{}
	for _, name := range []string{"project", "environment", "data_class", "workload_type", "purpose", "runtime_hours", "justification", "on_behalf_of"} {
		named[name] = true
	}
	for i := range q.lines {
		for _, field := range []string{"pool", "asked", "kind", "start", "end"} {
			named[lineName(i)+field] = true
		}
	}
	for _, w := range q.wrong {
		if !named[w.Name] {
			v.Errors = append(v.Errors, w.Message)
		}
	}
}

// find is the search beside a list that is too long to choose from; none when the
// list is whole.
func (q requestForm) find(name, label, noun string, more bool, listed int) web.Field {
	if !more && q.typed(name) == "" {
		return web.Field{}
	}
	f := q.field(name, label, false)
	f.Type = "search"
	switch {
	case more:
		f.Hint = "The list above has the first " + strconv.Itoa(listed) + " " + noun + ". Write a part of a name to find others."
	case listed == 0:
		f.Hint = "No " + noun + " with this in their name."
	default:
		f.Hint = "The list above has every match. Empty this to list others."
	}
	return f
}

func (q requestForm) projectIn(c portal.Choices) org.Project {
	for _, p := range c.Projects {
		if p.ID == q.content.ProjectID {
			return p
		}
	}
	return org.Project{}
}

// field is one input with what was typed and what is wrong with it.
func (f *form) field(name, label string, required bool) web.Field {
	v := web.Field{Name: name, Label: label, Value: f.typed(name), Required: required}
	for _, w := range f.wrong {
		if w.Name == name {
			v.Error = w.Message
		}
	}
	return v
}

// choice is a select; a value that is not on offer stays visible, so that
// nothing a person chose is silently replaced.
func (f *form) choice(name, label string, options []string) web.Field {
	v := f.field(name, label, true)
	v.Options = []web.Option{{Text: "Choose one"}}
	for _, o := range options {
		v.Options = append(v.Options, web.Option{Value: o, Text: o})
	}
	if v.Value != "" && !slices.Contains(options, v.Value) {
		v.Options = append(v.Options, web.Option{Value: v.Value, Text: v.Value + " (not in this project)"})
	}
	return v
}

func (q requestForm) line(i int, c portal.Choices) web.RequestEditLine {
	name := lineName(i)
	l := web.RequestEditLine{
		Pool: q.field(name+"pool", "Pool", true), Asked: q.field(name+"asked", "Asked limit", true), Kind: q.field(name+"kind", "Kind", true),
		Start: q.field(name+"start", "From (UTC)", false), End: q.field(name+"end", "Until (UTC)", false),
		Unit: "GPUs", Current: web.Unknown("choose a project and a pool"), InUse: web.Unknown("choose a project and a pool"),
	}
	l.Pool.Options = []web.Option{{Text: "Choose a pool"}}
	for _, p := range c.Pools {
		text := p.Name + " · " + p.ClusterName
		if isSimulated(p.ClusterKind) {
			text += " (simulated)"
		}
		l.Pool.Options = append(l.Pool.Options, web.Option{Value: p.ID, Text: text})
		if p.ID == l.Pool.Value {
			l.Unit = units(p.Unit)
		}
	}
	l.Asked.Type, l.Asked.Min, l.Asked.Unit = "number", "0", l.Unit
	l.Kind.Options = []web.Option{
		{Value: string(request.Hard), Text: "Hard · no borrowing"},
		{Value: string(request.Soft), Text: "Soft · may borrow"},
		{Value: string(request.Burst), Text: "Burst · extra until end"},
	}
	l.Start.Type, l.End.Type = "date", "date"
	l.End.Hint = "That day is not included. Burst has to end."
	return l
}

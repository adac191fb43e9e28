package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// requestNew shows an empty form, or one filled from an earlier request
// (?from=42) or from the page of a project (?project=&environment=&pool=).
func (s *server) requestNew(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	values, prefilled := url.Values{}, ""
	for _, name := range []string{"project", "environment", "data_class", "project_find", "person_find"} {
		values.Set(name, q.Get(name))
	}
	values.Set("line.0.pool", q.Get("pool"))
	if q.Get("project") != "" {
		prefilled = "the project's page"
	}
	if raw := strings.TrimPrefix(q.Get("from"), "R-"); raw != "" {
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return fault.New(fault.NotFound, "There is no such request to fill the form from.")
		}
		d, err := s.Portal.ViewRequest(r.Context(), actorOf(r), n)
		if err != nil {
			return err
		}
		values, prefilled = valuesOf(d.Request.Revision.Content), requestWord(n)
	}
	return s.showRequestForm(w, r, http.StatusOK, readRequest(formOf(values)), web.RequestEdit{
		Action: paths.Requests, Cancel: paths.Requests, Prefilled: prefilled, IdempotencyKey: newKey(),
	}, false)
}

// requestCreate answers the form of a new request: preview, draft or submission.
func (s *server) requestCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	v := web.RequestEdit{Action: paths.Requests, Cancel: paths.Requests, IdempotencyKey: f.typed("idempotency_key")}
	key, err := f.key()
	if err != nil {
		return err
	}
	in := portal.DraftInput{Key: key}
	return s.answerRequestForm(w, r, f, v, func(q requestForm) (portal.RequestRef, error) {
		in.Content = q.content
		return s.Portal.DraftRequest(r.Context(), actorOf(r), in)
	})
}

// requestChecks answers the right-hand column for what is typed so far.
func (s *server) requestChecks(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	q := readRequest(f)
	v := web.RequestEdit{}
	if err := s.fillRequestForm(r, &q, &v, false); err != nil {
		return err
	}
	return s.render(w, r, web.RequestChecksFragment(v))
}

// answerRequestForm does what the pressed button says. keep stores the wording
// (a new draft, or an edit) and is called for save_draft and submit alone.
func (s *server) answerRequestForm(w http.ResponseWriter, r *http.Request, f *form, v web.RequestEdit, keep func(requestForm) (portal.RequestRef, error)) error {
	action := f.text("action")
	if n, ok := strings.CutPrefix(action, "remove_line."); ok {
		lines := min(max(f.number("lines", 0, maxLines), 1), maxLines)
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < lines {
			removeLine(f.values, i, lines)
		}
		action = "preview"
	}
	if action == "add_line" {
		f.values.Set("lines", strconv.Itoa(min(f.number("lines", 0, maxLines)+1, maxLines)))
		action = "preview"
	}
	switch action {
	case "save_draft":
		dropEmptyLines(f)
		return s.saveDraft(w, r, readRequest(f), v, keep)
	case "submit":
		dropEmptyLines(f)
		return s.saveAndSubmit(w, r, readRequest(f), v, keep)
	}
	return s.showRequestForm(w, r, http.StatusOK, readRequest(f), v, false)
}

func (s *server) saveDraft(w http.ResponseWriter, r *http.Request, q requestForm, v web.RequestEdit, keep func(requestForm) (portal.RequestRef, error)) error {
	if len(q.wrong) > 0 {
		return s.showRequestForm(w, r, http.StatusUnprocessableEntity, q, v, false)
	}
	ref, err := keep(q)
	if err != nil {
		return s.requestFormFault(w, r, q, v, err)
	}
	s.say(r, "Draft "+requestWord(ref.Number)+" saved. It waits for nobody until you submit it.")
	return seeOther(w, r, requestPath(ref.Number))
}

// saveAndSubmit looks at the fields first, so that a form with a wrong one leaves no
// draft behind, then stores the wording and submits exactly that wording. What a check
// refuses stays a draft: the refused attempt is on its record.
func (s *server) saveAndSubmit(w http.ResponseWriter, r *http.Request, q requestForm, v web.RequestEdit, keep func(requestForm) (portal.RequestRef, error)) error {
	pre, err := s.Portal.PreviewRequest(r.Context(), actorOf(r), q.content)
	if err != nil {
		return s.requestFormFault(w, r, q, v, err)
	}
	q.take(pre.Fields)
	if len(q.wrong) > 0 {
		return s.showRequestForm(w, r, http.StatusUnprocessableEntity, q, v, true)
	}
	ref, err := keep(q)
	if err != nil {
		return s.requestFormFault(w, r, q, v, err)
	}
	key, err := q.key()
	if err != nil {
		return err
	}
	done, err := s.Portal.SubmitRequest(r.Context(), actorOf(r), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest, Key: key})
	if err != nil {
		// The wording is stored: the form goes on as the edit of that draft.
		v.Action, v.Cancel = paths.RequestEdit(decimal(ref.Number)), requestPath(ref.Number)
		v.Number, v.Revision, v.RevisionDigest, v.IdempotencyKey = requestWord(ref.Number), ref.Revision, ref.Digest, newKey()
		return s.requestFormFault(w, r, q, v, err)
	}
	s.say(r, fmt.Sprintf("%s submitted.", requestWord(done.Number)))
	return seeOther(w, r, requestPath(done.Number))
}

// requestFormFault shows what stopped a form on the form itself where the person
// can mend it there; anything else has its own page.
func (s *server) requestFormFault(w http.ResponseWriter, r *http.Request, q requestForm, v web.RequestEdit, err error) error {
	f := fault.As(err)
	if f == nil || f.Kind != fault.Invalid {
		return s.conflictOr(w, r, err, q.values)
	}
	noteOf(r).err = err
	q.take(f.Fields)
	v.Errors = append(v.Errors, f.Public)
	return s.showRequestForm(w, r, http.StatusUnprocessableEntity, q, v, true)
}

// take adds what the use case found wrong to what the form itself found.
func (f *form) take(fields []fault.Field) {
	for _, w := range fields {
		f.reject(w.Name, "%s", w.Message)
	}
}

// showRequestForm renders the form. strict shows what is missing as errors; while
// somebody is still typing it is not said.
func (s *server) showRequestForm(w http.ResponseWriter, r *http.Request, status int, q requestForm, v web.RequestEdit, strict bool) error {
	if err := s.fillRequestForm(r, &q, &v, strict); err != nil {
		return err
	}
	title := "New request"
	crumbs := []web.Link{{Text: "Requests", Href: paths.Requests}}
	if v.Number != "" {
		title = "Edit " + v.Number
		crumbs = append(crumbs, web.Link{Text: v.Number, Href: v.Cancel})
	}
	f := s.frame(r, title, crumbs...)
	for _, h := range v.Checks.Headroom {
		f = markStale(f, h.Cluster, h.Headroom)
	}
	return s.show(w, r, status, web.RequestEditPage(f, v))
}

// fillRequestForm asks the portal what it would say, and writes fields, figures and checks.
func (s *server) fillRequestForm(r *http.Request, q *requestForm, v *web.RequestEdit, strict bool) error {
	choices, err := s.Portal.RequestChoices(r.Context(), actorOf(r), portal.ChoiceQuery{
		Project: q.text("project_find"), Person: q.text("person_find"), ProjectID: q.content.ProjectID, PersonID: q.content.BeneficiaryID})
	if err != nil {
		return err
	}
	var pre portal.Preview
	if q.filled() {
		pre, err = s.Portal.PreviewRequest(r.Context(), actorOf(r), q.content)
		if f := fault.As(err); f != nil && f.Kind == fault.Invalid {
			q.take(f.Fields)
			pre, err = portal.Preview{}, nil
		}
		if err != nil {
			return err
		}
		if strict {
			q.take(pre.Fields)
		}
		v.Checks = requestChecksOf(pre)
	} else {
		v.Checks = web.RequestChecks{Waiting: "Choose a project, an environment and a pool. What the portal says to it then stands here."}
	}
	q.fill(v, choices)
	for i := range v.Lines {
		if i < len(pre.Lines) && pre.Lines[i].PoolID != "" {
			now := pre.Lines[i]
			why := orElse(now.Why, "not read yet")
			v.Lines[i].Unit, v.Lines[i].Current, v.Lines[i].InUse = units(now.Unit), figure(now.Current, why), figure(now.InUse, why)
		}
	}
	return nil
}

func requestChecksOf(p portal.Preview) web.RequestChecks {
	out := web.RequestChecks{Checks: checksOf(p.Checks), Deciders: decidersOf(p.Stages)}
	out.Cost, out.CostNote = costOf(p.Cost)
	for _, c := range p.Checks {
		if c.Blocks() {
			out.Refuses++
		}
	}
	for _, f := range p.Fields {
		if f.Name == "route" {
			out.Deciders = append(out.Deciders, web.Decider{Stage: "Missing", Missing: f.Message})
		}
	}
	out.Headroom = poolHeadrooms(p.Pools)
	return out
}

func poolHeadrooms(all []portal.Headroom) []web.PoolHeadroom {
	var out []web.PoolHeadroom
	for _, h := range all {
		cluster := h.ClusterName
		if h.Simulated {
			cluster += " (simulated)"
		}
		out = append(out, web.PoolHeadroom{Pool: web.Link{Text: h.PoolName, Href: paths.Pool(h.PoolID)}, Cluster: cluster, Headroom: headroomOfRequest(h)})
	}
	return out
}

package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// requestEdit shows the form of a draft, or of the next revision of a returned request.
func (s *server) requestEdit(w http.ResponseWriter, r *http.Request) error {
	d, v, err := s.editable(r)
	if err != nil {
		return err
	}
	return s.showRequestForm(w, r, http.StatusOK, readRequest(formOf(valuesOf(d.Request.Revision.Content))), v, false)
}

// requestRevise answers that form.
func (s *server) requestRevise(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	in := portal.EditInput{Number: n, Digest: f.text("revision_digest"), Key: key}
	v := web.RequestEdit{
		Action: paths.RequestEdit(decimal(n)), Cancel: requestPath(n), Number: requestWord(n),
		IdempotencyKey: key, RevisionDigest: in.Digest,
	}
	return s.answerRequestForm(w, r, f, v, func(q requestForm) (portal.RequestRef, error) {
		in.Content = q.content
		return s.Portal.EditRequest(r.Context(), actorOf(r), in)
	})
}

// editable loads the request whose form is opened.
func (s *server) editable(r *http.Request) (portal.RequestDetail, web.RequestEdit, error) {
	n, err := numberIn(r, "request")
	if err != nil {
		return portal.RequestDetail{}, web.RequestEdit{}, err
	}
	d, err := s.Portal.ViewRequest(r.Context(), actorOf(r), n)
	if err != nil {
		return d, web.RequestEdit{}, err
	}
	if !d.MayEdit {
		if d.Request.State == request.Draft || d.Request.State == request.Returned {
			return d, web.RequestEdit{}, fault.New(fault.Forbidden, "Only the person who asked can edit this request.")
		}
		return d, web.RequestEdit{}, fault.Newf(fault.Conflict, "This request is %s. Only a draft or a returned request can be edited.", d.Request.State)
	}
	v := web.RequestEdit{
		Action: paths.RequestEdit(decimal(n)), Cancel: requestPath(n), Number: requestWord(n),
		IdempotencyKey: newKey(), RevisionDigest: d.Request.Revision.Digest, Revision: d.Request.Revision.Number,
	}
	if d.Request.State == request.Returned {
		v.Revision++
		if i := len(d.Decisions); i > 0 {
			last := d.Decisions[i-1]
			v.Returned, v.ReturnedBy = orElse(last.Reason, "No reason is kept."), last.PersonName
		}
	}
	return d, v, nil
}

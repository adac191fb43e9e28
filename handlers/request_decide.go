package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// requestDecideAsk shows what one stage decides on. After a second factor was
// proven it shows the form that waited, to be confirmed: nothing is decided by GET.
func (s *server) requestDecideAsk(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	f, waited := s.takeKept(r, r.URL.Path)
	if !waited {
		f = formOf(nil)
	}
	d, err := s.Portal.ViewDecision(r.Context(), actorOf(r), n, nil)
	if err != nil {
		return err
	}
	if waited {
		if f.text("revision_digest") != d.Detail.Request.Revision.Digest || f.text("stage") != d.Stage.Key {
			return s.showMoved(w, r, d, f)
		}
		granted := grantedIn(f, d.Table)
		if len(f.wrong) == 0 && f.text("action") == string(approval.Approve) {
			if d, err = s.Portal.ViewDecision(r.Context(), actorOf(r), n, granted); err != nil {
				return err
			}
		}
		s.say(r, "Second factor proven. Nothing is decided yet: look once more, then confirm.")
	}
	return s.showDecide(w, r, http.StatusOK, d, f)
}

// requestDecide answers the form: a preview of other figures, or the decision.
func (s *server) requestDecide(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	action := f.text("action")
	outcome := approval.Outcome(action)
	if action != "preview" && !outcome.Valid() {
		return fault.New(fault.Invalid, "Choose approve, return or reject.")
	}
	in := portal.DecideInput{
		Number: n, Digest: f.text("revision_digest"), StageKey: f.text("stage"), Outcome: outcome, Reason: f.long("reason", maxReason),
		Acknowledged: f.text("acknowledge_running") == "yes", Base: f.values.Get("base"), Key: key,
	}
	if action == "preview" || outcome == approval.Approve {
		// Figures are read against the lines of the request, which only the request knows.
		d, err := s.Portal.ViewRequest(r.Context(), actorOf(r), n)
		switch {
		case err != nil && (action == "preview" || fault.KindOf(err) != fault.NotFound):
			return err
		case err != nil:
			// Not theirs to see: the decision is refused below.
		case in.Digest == d.Request.Revision.Digest:
			in.Granted = grantedIn(f, d.Request.Granted())
		}
	}
	if err := f.err(); err != nil {
		return s.decideFault(w, r, err, n, f)
	}
	if action == "preview" {
		d, err := s.Portal.ViewDecision(r.Context(), actorOf(r), n, in.Granted)
		if err != nil {
			return s.decideFault(w, r, err, n, f)
		}
		return s.showDecide(w, r, http.StatusOK, d, f)
	}
	return s.decide(w, r, in, f)
}

func (s *server) decide(w http.ResponseWriter, r *http.Request, in portal.DecideInput, f *form) error {
	var done portal.DecideResult
	act := func(a portal.Actor) (err error) {
		done, err = s.Portal.DecideRequest(r.Context(), a, in)
		return err
	}
	err := s.codeOr(r, act(provingOf(r, f)), f, "to decide on "+requestWord(in.Number), act)
	if fault.KindOf(err) == fault.NotFound {
		// Whoever posts a decision on what they cannot see did not find it on a page.
		if recorded := s.recordRefusal(r, actorOf(r)); recorded != nil {
			return recorded
		}
	}
	if err != nil {
		return s.decideFault(w, r, err, in.Number, f)
	}
	s.say(r, fmt.Sprintf("%s %s.", requestWord(done.Number), map[approval.Outcome]string{approval.Approve: "approved", approval.Return: "returned", approval.Reject: "rejected"}[done.Outcome]))
	return seeOther(w, r, paths.With(paths.Approvals, "decided", decimal(done.Number)))
}

// decideFault sends a stale factor to the step-up, a stale form to what changed,
// a wrong field back to its form, and everything else to its page.
func (s *server) decideFault(w http.ResponseWriter, r *http.Request, err error, n int64, f *form) error {
	err = s.stepUpOr(w, r, err, f, r.URL.Path, "to decide on "+requestWord(n))
	fa := fault.As(err)
	if fa == nil || fa.Kind != fault.Invalid {
		if err == nil {
			return nil
		}
		return s.conflictOr(w, r, err, f.values)
	}
	d, again := s.Portal.ViewDecision(r.Context(), actorOf(r), n, nil)
	if again != nil {
		return err
	}
	noteOf(r).err = err
	for _, w := range fa.Fields {
		f.reject(grantField(w.Name, d), "%s", w.Message)
	}
	if len(fa.Fields) == 0 {
		f.reject("", "%s", fa.Public)
	}
	return s.showDecide(w, r, http.StatusUnprocessableEntity, d, f)
}

// grantField maps granted.POOL of the use case to grant.N of the form.
func grantField(name string, d portal.DecisionDetail) string {
	pool, ok := strings.CutPrefix(name, "granted.")
	if !ok {
		return name
	}
	for i, l := range d.Detail.Lines {
		if l.PoolID == pool {
			return "grant." + decimal(int64(i))
		}
	}
	return name
}

// grantedIn reads the figures of each line; an empty end is the end on the table.
func grantedIn(f *form, table []approval.Granted) []approval.Granted {
	var out []approval.Granted
	for i, t := range table {
		g := t
		if raw := f.text("grant." + decimal(int64(i))); raw != "" {
			q, err := fleet.ParseQuantity(raw)
			switch {
			case err != nil:
				f.reject("grant."+decimal(int64(i)), "%s", publicOf(err))
			case q.Sign() < 0 || !q.IsWhole():
				f.reject("grant."+decimal(int64(i)), "Write a whole number, 0 or more.")
			default:
				g.Amount = q
			}
		}
		if end := f.moment("until." + decimal(int64(i))); end != nil && (t.End == nil || dayValue(*t.End) != dayValue(*end)) {
			g.End = end
		}
		out = append(out, g)
	}
	return out
}

// showMoved says that the request is not what the waiting form was about.
func (s *server) showMoved(w http.ResponseWriter, r *http.Request, d portal.DecisionDetail, f *form) error {
	n := d.Detail.Request.Number
	return s.conflictOr(w, r, fault.New(fault.Stale, "The request changed while you confirmed who you are.").Because(&portal.RequestChanged{
		Number: n, Digest: d.Detail.Request.Revision.Digest, What: requestWord(n) + " changed while you proved your second factor.",
	}), f.values)
}

func (s *server) showDecide(w http.ResponseWriter, r *http.Request, status int, d portal.DecisionDetail, f *form) error {
	n := d.Detail.Request.Number
	frame := s.frame(r, "Decide "+requestWord(n), web.Link{Text: "Approvals", Href: paths.Approvals}, requestLink(n))
	frame.Badge = web.StateBadge(string(d.Detail.Request.State))
	frame = markLines(frame, d.Detail.Lines)
	v := decideViewOf(d, f, frame.Now)
	v.Chart = foldTable(r, v.Chart)
	return s.show(w, r, status, web.RequestDecidePage(frame, v))
}

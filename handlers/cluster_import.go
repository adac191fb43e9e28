package handlers

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

const (
	// maxFile of objects, and what a form with one may take: the second send carries it packed.
	maxFile     = 8 << 20
	maxFileForm = maxFile + 4<<20
	// maxWaiting is the largest packed file that waits in the session for a second factor.
	maxWaiting = 512 << 10
)

// clusterImportAsk shows the form for a file of objects.
func (s *server) clusterImportAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		return s.showImport(w, r, http.StatusOK, id, formOf(nil), nil, nil)
	}
	file, err := unpack(f.values.Get("content"))
	if err != nil {
		f.reject("file", "Choose the file again: it is too large to wait. Your second factor is proven for it.")
		return s.showImport(w, r, http.StatusOK, id, f, nil, nil)
	}
	report, err := s.Portal.PreviewImport(r.Context(), actorOf(r), portal.ImportInput{ClusterID: id, FileName: f.typed("name"), File: file})
	if err != nil {
		return err
	}
	return s.showImport(w, r, http.StatusOK, id, f, file, &report)
}

// clusterImport compares a file with what is held, or keeps it.
func (s *server) clusterImport(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, file, err := readFileForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	in := portal.ImportInput{ClusterID: id, FileName: f.text("name"), File: file, Reason: f.long("reason", maxReason), Key: key}
	if len(file) == 0 {
		f.reject("file", "Choose a file.")
		return s.showImport(w, r, http.StatusUnprocessableEntity, id, f, nil, nil)
	}
	do := s.Portal.PreviewImport
	keep := f.text("action") == "keep"
	if keep {
		do = s.Portal.KeepImport
	}
	report, err := do(r.Context(), provingOf(r, f), in)
	if err != nil {
		if len(f.values.Get("content")) > maxWaiting {
			f.values.Del("content")
		}
		err = s.stepUpOr(w, r, err, f, paths.ClusterImport(id), "to keep "+orElse(in.FileName, "a file of objects"))
		if fa := fault.As(err); fa != nil && fa.Kind == fault.Invalid {
			noteOf(r).err = err
			f.reject("file", "%s", fa.Public)
			return s.showImport(w, r, http.StatusUnprocessableEntity, id, f, nil, nil)
		}
		return err
	}
	if keep {
		s.say(r, report.FileName+" is kept.")
	}
	return s.showImport(w, r, http.StatusOK, id, f, file, &report)
}

// readFileForm reads a form with a file, which comes as an upload or, the second time, packed in a field.
func readFileForm(r *http.Request) (*form, []byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && kind == "application/x-www-form-urlencoded" || r.ContentLength == 0 {
		f, err := readForm(r)
		return f, nil, err
	}
	if err != nil || kind != "multipart/form-data" {
		return nil, nil, &plain{status: http.StatusUnsupportedMediaType, text: "This address takes a form with a file, and this was none. Open the page and send it from there."}
	}
	if err := r.ParseMultipartForm(maxFileForm); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, nil, tooLarge
		}
		return nil, nil, fault.New(fault.Invalid, "This form could not be read. Open the page and send it again.").Because(err)
	}
	defer r.MultipartForm.RemoveAll()
	f := formOf(r.MultipartForm.Value)
	if packed := f.values.Get("content"); packed != "" {
		file, err := unpack(packed)
		if err != nil {
			f.reject("file", "The file did not come back whole. Choose it again.")
		}
		return f, file, nil
	}
	upload, header, err := r.FormFile("file")
	if err != nil {
		return f, nil, nil
	}
	defer upload.Close()
	f.values.Set("name", header.Filename)
	file, err := io.ReadAll(io.LimitReader(upload, maxFile+1))
	return f, file, err
}

// pack makes a file fit into a field of the next form.
func pack(file []byte) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(file); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// unpack never gives more than a file may hold and a byte, whatever the text unfolds to.
func unpack(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxFile+1))
}

func (s *server) showImport(w http.ResponseWriter, r *http.Request, status int, id string, f *form, file []byte, report *portal.ImportReport) error {
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v := web.ImportView{
		Action: paths.ClusterImport(id), IdempotencyKey: newKey(), Proof: f.values.Get(proofField), Cluster: d.Cluster.Name, Reason: f.field("reason", "Reason", false), Cancel: web.Link{Text: "Leave without importing", Href: paths.ClusterAdopt(id)},
		Hint: fmt.Sprintf("YAML or JSON, at most %d MiB. Several documents and lists are read one by one.", maxFile>>20),
	}
	for _, x := range f.wrong {
		v.Errors = append(v.Errors, x.Message)
	}
	if report != nil {
		page := importReportOf(*report)
		if page.Content, err = pack(file); err != nil {
			return err
		}
		v.Report = &page
	}
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(id)}, web.Link{Text: "Objects and adoption", Href: paths.ClusterAdopt(id)})
	frame.Title = "Import objects from a file"
	return s.show(w, r, status, web.ImportPage(frame, v))
}

func importReportOf(r portal.ImportReport) web.ImportReport {
	v := web.ImportReport{
		Name: r.FileName, Digest: r.Digest, Held: "nothing: the portal knows nothing of this cluster yet",
		New: r.Count(fleet.DifferenceNew), Changed: r.Count(fleet.DifferenceChanged), Same: r.Count(fleet.DifferenceSame),
	}
	if r.Held != "" {
		v.Held = r.Held + ", " + web.Exact(r.HeldAt)
	}
	if r.Entry != "" {
		v.Kept = web.Link{Text: "See the entry", Href: paths.HistoryEntry(r.Entry)}
	}
	for _, d := range r.Documents {
		x := web.ImportDocument{Where: fmt.Sprintf("document %d, line %d", d.Number, d.Line), Object: d.Object.String(), Reason: d.Reason}
		if d.Object.Kind == "" {
			x.Object = "not readable"
		} else if d.APIVersion != "" {
			x.Object += " (" + d.APIVersion + ")"
		}
		switch {
		case d.State == fleet.DocumentRefused:
			x.State = web.Badge{Tone: web.Refused, Word: "refused"}
			v.Refused = append(v.Refused, x)
		case d.State != fleet.DocumentRead || d.Reason != "":
			x.State = web.Badge{Tone: web.Neutral, Word: string(d.State)}
			v.Skipped = append(v.Skipped, x)
		}
	}
	tones := map[fleet.DifferenceState]web.Tone{fleet.DifferenceNew: web.Waiting, fleet.DifferenceChanged: web.Waiting, fleet.DifferenceSame: web.Done}
	for _, d := range r.Differences {
		row := web.ImportRow{Object: d.Object.String(), State: web.Badge{Tone: tones[d.State], Word: string(d.State)}, Owner: d.Owner, Notes: d.Notes}
		for _, x := range d.Fields {
			if x.Changed() && d.State != fleet.DifferenceSame {
				row.Fields = append(row.Fields, web.DiffField{Field: x.Path, Before: diffValue(x.Before), After: diffValue(x.After)})
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

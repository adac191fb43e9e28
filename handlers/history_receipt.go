package handlers

import (
	"encoding/json"
	"net/http"

	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// historyReceipt is the signed receipt of one entry, to keep and to verify offline.
func (s *server) historyReceipt(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "entry")
	if err != nil {
		return err
	}
	receipt, err := s.Portal.Receipt(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="`+receiptFile(id)+`"`)
	h.Set("Cache-Control", "no-store")
	_, err = w.Write(append(raw, '\n'))
	return err
}

func receiptFile(id string) string { return "receipt-" + id + ".json" }

// treeProofOf says how far an entry is proven.
func treeProofOf(id string, p portal.Proof) web.TreeProof {
	v := web.TreeProof{Receipt: paths.HistoryReceipt(id), Verify: "quartermaster verify --policy KEYS --receipt " + receiptFile(id)}
	switch {
	case p.Problem != "":
		v.State, v.Text, v.Receipt = web.Badge{Tone: web.Refused, Word: "not proven"}, p.Problem+" Pause writing and run quartermaster verify.", ""
	case !p.Sequenced:
		v.State, v.Text = web.Badge{Tone: web.Waiting, Word: "not sequenced yet"}, "The entry is recorded. It gets its place in the tree within a second or two, and is signed within a minute."
	case !p.Signed:
		v.State, v.Text = web.Badge{Tone: web.Waiting, Word: "not signed yet"}, "The entry has its place in the tree. The next checkpoint covers it, within a minute; asking for the receipt has it signed at once."
	default:
		v.State, v.Text = web.Badge{Tone: web.Done, Word: "in the signed tree"}, "The proof leads from this entry to the root that was signed."
		v.Size, v.Root, v.SignedAt, v.Checkpoint = decimal(p.Checkpoint.Size), p.Checkpoint.Root.String(), p.SignedAt, p.Inclusion.Checkpoint
		for _, h := range p.Nodes {
			v.Nodes = append(v.Nodes, h.String())
		}
	}
	if p.Sequenced {
		v.Index = decimal(p.Index)
	}
	return v
}

// alarmOf is what every page says while the record is not as it was written.
func alarmOf(c portal.RecordCheck) *web.Alarm {
	if c.OK {
		return nil
	}
	return &web.Alarm{What: c.Problem, Since: c.At, Href: paths.HistoryEntry(c.EntryID)}
}

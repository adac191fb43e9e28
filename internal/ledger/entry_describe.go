package ledger

import (
	"sort"
	"strings"
)

// Words say what an entry is about in one line, for lists, timelines and
// exports: "approved 12 of 16 alpha-h100". Ids stand as they are; pages put names to them.
func (e Entry) Words() string {
	w := e.words()
	switch e.Outcome {
	case Refused:
		why := e.Facts["refusal"]
		if why == "" {
			why = "refused"
		}
		return "refused: " + w + " (" + why + ")"
	case Failed:
		return "failed: " + w
	}
	return w
}

func (e Entry) words() string {
	f := e.Facts
	switch e.Type {
	case RequestDecided:
		return e.decision()
	case RequestDrafted, RequestEdited, RequestSubmitted:
		return strings.TrimPrefix(string(e.Type), "request.") + amounts(f, "asked.")
	case RequestWithdrawn:
		return "withdrawn"
	case RequestCommented:
		return "commented"
	case RequestState:
		return "became " + f["to"] + from(f)
	case GrantMade:
		return join("granted", f["amount"], f["kind"], "of", f["pool"])
	case GrantEnded:
		return join("grant of", f["amount"], f["pool"], f["cause"])
	case ChangePlanned, ChangeApplied, ChangeVerified, ChangeWaiting, ChangeStopped:
		return join("change on", f["cluster"], strings.TrimPrefix(string(e.Type), "change."))
	case ClusterMode:
		return join("cluster mode", f["mode_before"], "to", f["mode"])
	case ObjectsImported:
		return join("file of objects", f["file"], "kept:", f["new"], "new,", f["changed"], "changed")
	case BindingMade, BindingAdopted:
		return join("binding", strings.TrimPrefix(string(e.Type), "binding."), "for", f["project"], f["environment"], "on", f["cluster"])
	case AccessRefused:
		return join("tried", f["route"])
	case Exported:
		if f["what"] != "" {
			return "exported the " + f["what"]
		}
		return "exported the history"
	case UsagePruned:
		return "removed " + counted(f, "readings", "hours", "days", "polls", "workloads") + " older than the retention"
	case OrgImported:
		return join("organisation imported, version", f["version"])
	case RecordChecked:
		return join("check of the record,", f["kind"]+",", f["size"], "entries")
	case RecordCleared:
		return "lifted the stop after a failed check of the record"
	case SignedIn:
		return "signed in"
	case SignInRefused:
		return "sign-in"
	case SignedOut:
		return "signed out"
	case SteppedUp:
		return "proved a second factor"
	case FactorEnrolled:
		return "enrolled a second factor"
	case FactorReplaced:
		return "replaced the authenticator"
	case RecoveryUsed:
		return join("used a recovery code,", f["left"], "left")
	case RecoveryRenewed:
		return "made new recovery codes"
	}
	return strings.ReplaceAll(string(e.Type), ".", " ")
}

// decision puts the granted figures beside the asked ones.
func (e Entry) decision() string {
	f := e.Facts
	switch f["outcome"] {
	case "reject":
		return "rejected" + amounts(f, "asked.")
	case "return":
		return "returned" + amounts(f, "asked.")
	case "approve":
	default:
		return "decision"
	}
	var parts []string
	for _, pool := range under(f, "granted.") {
		granted, asked := f["granted."+pool], f["asked."+pool]
		if granted == asked || asked == "" {
			parts = append(parts, granted+" "+pool)
		} else {
			parts = append(parts, granted+" of "+asked+" "+pool)
		}
	}
	return join("approved", strings.Join(parts, ", "))
}

func amounts(f map[string]string, prefix string) string {
	var parts []string
	for _, pool := range under(f, prefix) {
		parts = append(parts, f[prefix+pool]+" "+pool)
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}

func from(f map[string]string) string {
	if f["from"] == "" {
		return ""
	}
	return ", was " + f["from"]
}

// under lists, in order, what follows prefix in the names of facts.
func under(f map[string]string, prefix string) []string {
	var out []string
	for k := range f {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			out = append(out, rest)
		}
	}
	sort.Strings(out)
	return out
}

func join(words ...string) string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// counted lists the facts that hold a number: "12 readings, 3 polls".
func counted(f map[string]string, names ...string) string {
	var parts []string
	for _, name := range names {
		if f[name] != "" {
			parts = append(parts, f[name]+" "+name)
		}
	}
	return strings.Join(parts, ", ")
}

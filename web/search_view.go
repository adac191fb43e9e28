package web

// SearchView is what a search found, by kind. Query: q.
type SearchView struct {
	Query       string
	Projects    []Found
	Pools       []Found
	Requests    []Found
	AllRequests string // address of all requests that fit; "" hides it
	People      []Found
}

// Found is one find with a word about it.
type Found struct {
	Link Link
	Text string
}

func (v SearchView) nothing() bool {
	return len(v.Projects)+len(v.Pools)+len(v.Requests)+len(v.People) == 0
}

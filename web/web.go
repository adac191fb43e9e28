// Package web owns what people see: the frame, the components and the pages,
// as templ templates, and the view models they are filled from. Handlers fill a
// view model and render; nobody else calls it. It does no I/O, decides nothing
// and knows no session: what a person may do arrives as a boolean or a link.
//
// Each page is a pair noun_verb.go (the view model; its comment names every
// form field) and noun_verb.templ. Zero values are safe: a Figure nobody filled
// shows a dash and "not known", never 0.
package web

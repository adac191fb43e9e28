package main

import (
	"github.com/a-h/templ"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

func doorStories() []story {
	wrong := func(status int, text string, v web.ErrorView) story {
		v.Status, v.Text = status, text
		return on("error-"+web.Count(int64(status)), at(web.ErrorTitle(status), "/somewhere"), web.ErrorPage, v)
	}
	home := web.Link{Text: "Go to Home", Href: paths.Home}
	return []story{
		on("signed-out", at("Signed out", paths.SignedOut, nobody), web.SignedOutPage, web.SignedOut{SignIn: paths.SignIn, Why: "Your session ended after 30 min without use.", Demo: true, Codes: "http://127.0.0.1:1/codes"}),
		on("sign-in-refused", at("Sign-in refused", paths.Callback, nobody), web.SignInRefusedPage, web.SignInRefused{Reason: "The identity token has expired.", Do: "Sign in again. If it happens twice, the clocks of the portal and the identity provider differ: tell a platform admin.", SignIn: paths.SignIn, Record: "18401"}),
		{"help", func(theme string) templ.Component { return web.HelpPage(frame("Help", paths.Help, theme)) }},
		wrong(400, "The asked limit has to be a whole number.", web.ErrorView{Fields: []web.Fact{{Label: "line 1, asked", Text: nasty}}, Do: []web.Link{home}}),
		wrong(403, "You cannot decide on a request that you asked for.", web.ErrorView{Rule: "separation of duties", Needs: "another capacity manager of h100", Givers: "Alan Turing holds this role. A platform admin maps groups to roles.", Do: []web.Link{{Text: "Open R-1042", Href: paths.Request("r1")}, home}}),
		wrong(404, "No request has this number, or you may not see it.", web.ErrorView{Do: []web.Link{{Text: "Search requests", Href: paths.Requests}, home}}),
		wrong(409, "R-1042 is withdrawn, so it cannot be decided.", web.ErrorView{Do: []web.Link{{Text: "Open R-1042", Href: paths.Request("r1")}}}),
		wrong(500, "The portal made a mistake. Nothing was saved.", web.ErrorView{Do: []web.Link{home}}),
		wrong(503, "The database does not answer. Nothing was saved; try again in a minute.", web.ErrorView{Do: []web.Link{home}}),
	}
}

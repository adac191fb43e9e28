package handlers

import (
	"strconv"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

// requestWord is what people call a request: R-1042.
func requestWord(n int64) string { return "R-" + strconv.FormatInt(n, 10) }

// requestPath is the address of a request.
func requestPath(n int64) string { return paths.Request(decimal(n)) }

func requestLink(n int64) web.Link { return web.Link{Text: requestWord(n), Href: requestPath(n)} }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

package mutations

// responses are the guards of httpcache by which nothing of one user's response reaches another.
var responses = []mutation{{
	guard: "a response with Set-Cookie is stored under public or s-maxage alone",
	file:  "httpcache/policy.go",
	old:   "\tcase h[\"Set-Cookie\"] != nil:\n\t\treturn (c.public || c.sMaxAge != absent) && !c.noCache\n",
	pkg:   "./httpcache", test: "TestOneUsersResponse", quick: true,
}, {
	guard: "a response to Authorization is stored only with leave",
	file:  "httpcache/policy.go",
	old:   "return c.public || c.mustRevalidate || c.sMaxAge != absent",
	new:   "return true",
	pkg:   "./httpcache", test: "TestOneUsersResponse",
}, {
	guard: "no heuristic freshness for a request with Cookie",
	file:  "httpcache/policy.go",
	old:   "!(shared && p.heuristic && req[\"Cookie\"] != nil) && ",
	pkg:   "./httpcache", test: "TestOneUsersResponse",
}, {
	guard: "a status about fields of one request is not stored",
	file:  "httpcache/policy.go",
	old:   " || isOfRequest(status):",
	new:   ":",
	pkg:   "./httpcache", test: "TestAttacks",
}, {
	guard: "a stale response is refreshed by GET",
	file:  "httpcache/serve.go",
	old:   "f.asker.Method, f.asker.Body = http.MethodGet, http.NoBody",
	new:   "f.asker.Body = http.NoBody",
	pkg:   "./httpcache", test: "TestAttacks",
}, {
	guard: "a 304 takes no field out of Vary",
	file:  "httpcache/conditional.go",
	old:   "for _, line := range stored[name] {",
	new:   "for _, line := range []string(nil) {",
	pkg:   "./httpcache", test: "TestAttacks",
}, {
	guard: "Connection does not take Vary away",
	file:  "httpcache/conditional.go",
	old:   "; name != \"Vary\" {",
	new:   "; name != \"\" {",
	pkg:   "./httpcache", test: "TestOneUsersResponse",
}, {
	guard: "a waiter has the values that the response varies by",
	file:  "httpcache/exchange.go",
	old:   " && matches(names, x.req.Header, f.asker.Header)",
	new:   " && len(names) >= 0",
	pkg:   "./httpcache", test: "TestWaiterOfAnotherVariant",
}, {
	guard: "a waiter gets a response that is stored alone",
	file:  "httpcache/exchange.go",
	old:   "return f.head.policy.store && ",
	new:   "return ",
	pkg:   "./httpcache", test: "TestCookieOfA304",
}, {
	guard: "requests with Authorization wait for none",
	file:  "httpcache/exchange.go",
	old:   "h[\"Authorization\"] == nil && ",
	pkg:   "./httpcache", test: "TestNotCoalesced",
}, {
	guard: "names of fields count in any case",
	file:  "httpcache/fields.go",
	old:   "is = is && http.CanonicalHeaderKey(name) == name",
	new:   "is = is && name != \"\"",
	pkg:   "./httpcache", test: "TestFieldNamesInLowerCase",
}, {
	guard: "private beside a semicolon counts",
	file:  "httpcache/control.go",
	old:   "part == \"private\" || ",
	pkg:   "./httpcache", test: "TestOneUsersResponse",
}, {
	guard: "an absolute URL has the scheme of its connection",
	file:  "httpcache/handler.go",
	old:   "s == \"\" || (s == \"https\") == (r.TLS != nil)",
	new:   "s == \"\" || s != \"\"",
	pkg:   "./httpcache", test: "TestSchemeOfAnotherConnection",
}, {
	guard: "what a failed Write was given is not used again",
	file:  "httpcache/handler.go",
	old:   "return false, nil // the client has left",
	new:   "return true, nil",
	pkg:   "./httpcache", test: "TestMemoryOfAFailedWrite",
}, {
	guard: "the key has the opaque part of a URL",
	file:  "httpcache/key.go",
	old:   ", r.URL.Opaque...)",
	new:   ", \"\"...)",
	pkg:   "./httpcache", test: "TestKeysThatLookAlike",
}, {
	guard: "a purge voids what is under way",
	file:  "httpcache/purge.go",
	old:   "\t\t\tc.flights.invalidate(key)\n",
	pkg:   "./httpcache", test: "TestVoided",
}, {
	guard: "a purge by tag voids what is under way",
	file:  "httpcache/purge.go",
	old:   "\tc.flights.invalidateTag(tag)\n",
	pkg:   "./httpcache", test: "TestVoided",
}, {
	guard: "the rest of an evicted body is that of the stored one",
	file:  "httpcache/ranges.go",
	old:   " && h.Get(\"Etag\") == t.etag",
	pkg:   "./httpcache", test: "TestEvictedChunk",
}, {
	guard: "a body that is shorter than it says is not stored",
	file:  "httpcache/stream.go",
	old:   "h.id = s.size, s.id; s.declared >= 0 && s.size != s.declared {",
	new:   "h.id = s.size, s.id; false {",
	pkg:   "./httpcache", test: "TestNotStored",
}, {
	guard: "what a 304 makes unfit to be stored is not",
	file:  "httpcache/flight.go",
	old:   "next.policy.store = next.policy.store && ok",
	new:   "_ = ok",
	pkg:   "./httpcache", test: "TestUnstorableBy304",
}, {
	guard: "a Handler's responses are apart from a Transport's",
	file:  "httpcache/key.go",
	old:   "server side = 's'",
	new:   "server side = 'u'",
	pkg:   "./httpcache", test: "TestSidesAreApart",
}, {
	guard: "a part of a body is broken off when its request's time is over",
	file:  "httpcache/handler.go",
	old:   "\t\tpanic(http.ErrAbortHandler) // whatever",
	new:   "\t\t// whatever",
	pkg:   "./httpcache", test: "TestTimeIsOver",
}, {
	guard: "GET over HTTP/2 has no body",
	file:  "httpcache/handler.go",
	old:   "canonical(r), r.ContentLength != 0)",
	new:   "canonical(r), r.Body != nil && r.Body != http.NoBody)",
	pkg:   "./httpcache", test: "TestHTTP2",
}, {
	guard: "nobody joins a flight whose origin has sent nothing for long",
	file:  "httpcache/flight.go",
	old:   " || f.isIdleLocked(joinFor)",
	pkg:   "./httpcache", test: "TestHungOrigin",
}, {
	guard: "a key is refreshed once at a time",
	file:  "httpcache/flights.go",
	old:   "is && now.Sub(since) < joinFor {",
	new:   "is && now.Sub(since) < 0 {",
	pkg:   "./httpcache", test: "TestRefreshedOnce",
}}

package httpcache_test

// lasting is a response that may be stored and is fresh for a minute.
const lasting = "200 Cache-Control: max-age=60"

var situations = []situation{
	// RFC 9111, section 3: what may be stored.
	{section: "9111 3: a fresh response is stored", steps: []step{{"", "", lasting, "1 200 body_1", 1}, {"", "", "", "1 200 body_1", 1}}},
	{section: "9111 3: no freshness and no validator", steps: []step{{"", "", "200", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 3: a method that is not GET", steps: []step{{"", "OPTIONS", lasting, "1 200", 1}, {"", "OPTIONS", "", "2 200", 2}}},
	{section: "9111 3: an error with a lifetime", steps: []step{{"", "", "503 Cache-Control: max-age=60", "1 503", 1}, {"", "", "", "1 503", 1}}},
	{section: "9111 3: another URL", steps: []step{{"", "/a", lasting, "1 200", 1}, {"", "/b", "", "2 200", 2}}},
	{section: "9111 3: another query", steps: []step{{"", "/?a", lasting, "1 200", 1}, {"", "/?b", "", "2 200", 2}}},
	{section: "9111 3: a part of a body", steps: []step{{"", "", "206 Cache-Control: max-age=60", "1 206", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 3.1: fields of the connection", steps: []step{{"", "", lasting + " | Connection: N", "200", 1}, {"", "", "", "200", 1}}},
	{section: "9111 3.5: Authorization", steps: []step{{"", "Authorization: a", lasting, "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 3.5: Authorization and public", steps: []step{{"", "Authorization: a", "200 Cache-Control: max-age=60, public", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 3.5: Authorization and s-maxage", steps: []step{{"", "Authorization: a", "200 Cache-Control: s-maxage=60", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 3.5: Authorization and must-revalidate", steps: []step{{"", "Authorization: a", lasting + ", must-revalidate", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 3.5: Authorization in a private cache", private: true, steps: []step{{"", "Authorization: a", lasting, "1 200", 1}, {"", "Authorization: a", "", "1 200", 1}}},

	// Section 4: what may be an answer.
	{section: "9111 4: a stale response is validated", steps: []step{{"", "", `200 Cache-Control: max-age=10 | Etag: "a"`, "1 200", 1}, {"11s", "", `200 Cache-Control: max-age=10 | Etag: "a"`, "2 200 body_1", 2}, {"9s", "", "", "2 200 body_1", 2}}},
	{section: "9111 4: a stale response is replaced", steps: []step{{"", "", `200 Cache-Control: max-age=10 | Etag: "a"`, "1 200", 1}, {"11s", "", `200 Cache-Control: max-age=10 | Etag: "b"`, "2 200 body_2", 2}, {"9s", "", "", "2 200 body_2", 2}}},
	{section: "9111 4: HEAD from what GET has stored", steps: []step{{"", "", lasting, "1 200", 1}, {"", "HEAD", "", "1 200 ", 1}}},
	{section: "9111 4.1: Vary, the same value", steps: []step{{"", "A: 1", lasting + " | Vary: A", "1 200", 1}, {"", "A: 1", "", "1 200", 1}}},
	{section: "9111 4.1: Vary, another value", steps: []step{{"", "A: 1", lasting + " | Vary: A", "1 200", 1}, {"", "A: 2", lasting + " | Vary: A", "2 200", 2}, {"", "A: 1", "", "1 200", 2}, {"", "A: 2", "", "2 200", 2}}},
	{section: "9111 4.1: Vary, no value", steps: []step{{"", "A: 1", lasting + " | Vary: A", "1 200", 1}, {"", "", lasting + " | Vary: A", "2 200", 2}}},
	{section: "9111 4.1: Vary, white space", steps: []step{{"", "A: 1,2", lasting + " | Vary: A", "1 200", 1}, {"", "A: 1, 2", "", "1 200", 1}}},
	{section: "9111 4.1: Vary, two lines", steps: []step{{"", "A: 1 | A: 2", lasting + " | Vary: A", "1 200", 1}, {"", "A: 1, 2", "", "1 200", 1}}},
	{section: "9111 4.1: Vary: *", steps: []step{{"", "", lasting + " | Vary: *", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 4.1: Vary: A, *", steps: []step{{"", "", lasting + " | Vary: A, *", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 4.1: another Vary", steps: []step{{"", "A: 1", lasting + " | Vary: A", "1 200", 1}, {"", "A: 2", lasting + " | Vary: B", "2 200", 2}, {"", "A: 1", "", "2 200", 2}}},

	// Section 4.2: freshness.
	{section: "9111 4.2.1: s-maxage before max-age", steps: []step{{"", "", "200 Cache-Control: max-age=60, s-maxage=5", "1 200", 1}, {"6s", "", "", "2 200", 2}}},
	{section: "9111 4.2.1: no s-maxage in a private cache", private: true, steps: []step{{"", "", "200 Cache-Control: max-age=60, s-maxage=5", "1 200", 1}, {"6s", "", "", "1 200", 1}}},
	{section: "9111 4.2.1: max-age before Expires", steps: []step{{"", "", lasting + " | Expires: {-60s}", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 4.2.1: Expires", steps: []step{{"", "", "200 Expires: {60s}", "1 200", 1}, {"59s", "", "", "1 200", 1}, {"2s", "", "", "2 200", 2}}},
	{section: "9111 4.2.1: the shorter of two", steps: []step{{"", "", "200 Cache-Control: max-age=60, max-age=5", "1 200", 1}, {"6s", "", "", "2 200", 2}}},
	{section: "9111 4.2.1: a lifetime that cannot be read", steps: []step{{"", "", "200 Cache-Control: max-age=abc | Expires: {60s}", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.3: Expires that cannot be read", steps: []step{{"", "", "200 Expires: 0", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 4.2.2: a tenth of the time since Last-Modified", steps: []step{{"", "", "200 Last-Modified: {-100s}", "1 200", 1}, {"9s", "", "", "1 200", 1}}},
	{section: "9111 4.2.2: and not longer", steps: []step{{"", "", "200 Last-Modified: {-100s}", "1 200", 1}, {"11s", "", "", "2 200", 2}}},
	{section: "9111 4.2.2: not for each status", steps: []step{{"", "", "403 Last-Modified: {-100s}", "1 403", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 4.2.2: not with Cookie in a shared cache", steps: []step{{"", "Cookie: a", "200 Last-Modified: {-100s}", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 4.2.2: but in a private one", private: true, steps: []step{{"", "Cookie: a", "200 Last-Modified: {-100s}", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 4.2.3: Age", steps: []step{{"", "", lasting + " | Age: 50", "1 200", 1}, {"9s", "", "", "1 200", 1}, {"2s", "", "", "2 200", 2}}},
	{section: "9111 4.2.3: Date of a slow clock", steps: []step{{"", "", lasting + " | Date: {-50s}", "1 200", 1}, {"11s", "", "", "2 200", 2}}},
	{section: "9111 4.2.4: must-revalidate", steps: []step{{"", "", "200 Cache-Control: max-age=5, must-revalidate, stale-while-revalidate=60", "1 200", 1}, {"6s", "", "", "2 200", 2}}},
	{section: "9111 4.2.4: proxy-revalidate", steps: []step{{"", "", "200 Cache-Control: max-age=5, proxy-revalidate, stale-while-revalidate=60", "1 200", 1}, {"6s", "", "", "2 200", 2}}},

	// Section 4.3: validation.
	{section: "9111 4.3.1: by Last-Modified", steps: []step{{"", "", "200 Cache-Control: max-age=5 | Last-Modified: Mon, 05 Jan 1998 00:00:00 GMT", "1 200", 1}, {"6s", "", "200 Cache-Control: max-age=5 | Last-Modified: Mon, 05 Jan 1998 00:00:00 GMT", "2 200 body_1", 2}}},
	{section: "9111 4.3.2: If-None-Match", steps: []step{{"", "", lasting + ` | Etag: "a"`, "1 200", 1}, {"", `If-None-Match: "b", "a"`, "", "1 304 ", 1}, {"", `If-None-Match: "b"`, "", "1 200 body_1", 1}}},
	{section: "9111 4.3.2: If-None-Match before If-Modified-Since", steps: []step{{"", "", lasting + ` | Etag: "a" | Last-Modified: {-1h}`, "1 200", 1}, {"", `If-None-Match: "b" | If-Modified-Since: {0s}`, "", "1 200", 1}}},
	{section: "9111 4.3.2: a weak tag", steps: []step{{"", "", lasting + ` | Etag: W/"a"`, "1 200", 1}, {"", `If-None-Match: "a"`, "", "1 304", 1}}},
	{section: "9111 4.3.2: If-Modified-Since", steps: []step{{"", "", lasting + " | Last-Modified: {-1h}", "1 200", 1}, {"", "If-Modified-Since: {-1m}", "", "1 304", 1}, {"", "If-Modified-Since: {-2h}", "", "1 200", 1}}},
	{section: "9111 4.3.2: If-Match is the origin's", steps: []step{{"", "", lasting + ` | Etag: "a"`, "1 200", 1}, {"", `If-Match: "a"`, "412", "2 412", 2}}},
	{section: "9111 4.3.4: a 304 changes fields", steps: []step{{"", "", `200 Cache-Control: max-age=5 | Etag: "a"`, "1 200", 1}, {"6s", "", `200 Cache-Control: max-age=60 | Etag: "a"`, "2 200 body_1", 2}, {"30s", "", "", "2 200 body_1", 2}}},
	{section: "9111 4.3.5: HEAD shows another response", steps: []step{{"", "", lasting + ` | Etag: "a"`, "1 200", 1}, {"", "HEAD Cache-Control: no-cache", `200 Etag: "b"`, "2 200", 2}, {"", "", "", "3 200", 3}}},

	// Section 4.4: invalidation.
	{section: "9111 4.4: POST", steps: []step{{"", "", lasting, "1 200", 1}, {"", "POST", "200", "2 200", 2}, {"", "", "", "3 200", 3}}},
	{section: "9111 4.4: POST that fails", steps: []step{{"", "", lasting, "1 200", 1}, {"", "POST", "500", "2 500", 2}, {"", "", "", "1 200", 2}}},
	{section: "9111 4.4: DELETE of all variants", steps: []step{{"", "A: 1", lasting + " | Vary: A", "1 200", 1}, {"", "DELETE", "204", "2 204", 2}, {"", "A: 2", lasting + " | Vary: A", "3 200", 3}, {"", "A: 1", lasting + " | Vary: A", "4 200", 4}}},
	{section: "9111 4.4: an unknown method", steps: []step{{"", "", lasting, "1 200", 1}, {"", "MUDDLE", "200", "2 200", 2}, {"", "", "", "3 200", 3}}},
	{section: "9111 4.4: Location", steps: []step{{"", "/a", lasting, "1 200", 1}, {"", "POST /b", "201 Location: /a", "2 201", 2}, {"", "/a", "", "3 200", 3}}},
	{section: "9111 4.4: Content-Location of another host", steps: []step{{"", "/a", lasting, "1 200", 1}, {"", "POST /b", "200 Content-Location: http://other/a", "2 200", 2}, {"", "/a", "", "1 200", 2}}},

	// Section 5.2.1: what clients may ask for.
	{section: "9111 5.2.1.1: max-age of a request", steps: []step{{"", "", lasting, "1 200", 1}, {"10s", "Cache-Control: max-age=5", lasting, "2 200", 2}}},
	{section: "9111 5.2.1.2: max-stale", steps: []step{{"", "", "200 Cache-Control: max-age=5, stale-if-error=60", "1 200", 1}, {"10s", "Cache-Control: max-stale=6", "", "1 200", 1}, {"10s", "Cache-Control: max-stale=6", "", "2 200", 2}}},
	{section: "9111 5.2.1.2: max-stale without a time", steps: []step{{"", "", `200 Cache-Control: max-age=5 | Etag: "a"`, "1 200", 1}, {"10m", "Cache-Control: max-stale", "", "1 200", 1}}},
	{section: "9111 5.2.1.3: min-fresh", steps: []step{{"", "", lasting, "1 200", 1}, {"30s", "Cache-Control: min-fresh=20", "", "1 200", 1}, {"", "Cache-Control: min-fresh=40", "", "2 200", 2}}},
	{section: "9111 5.2.1.4: no-cache of a request", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Cache-Control: no-cache", lasting, "2 200", 2}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.4: Pragma", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Pragma: no-cache", "", "2 200", 2}}},
	{section: "9111 5.2.1.5: no-store of a request", steps: []step{{"", "Cache-Control: no-store", lasting, "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.2.1.7: only-if-cached", steps: []step{{"", "Cache-Control: only-if-cached", lasting, "504", 0}, {"", "", lasting, "1 200", 1}, {"", "Cache-Control: only-if-cached", "", "1 200", 1}}},

	// Section 5.2.2: what responses say.
	{section: "9111 5.2.2.3: must-understand", steps: []step{{"", "", lasting + ", no-store, must-understand", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 5.2.2.3: must-understand of an unknown status", steps: []step{{"", "", "299 Cache-Control: max-age=60, must-understand", "1 299", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.2.2.4: no-cache", steps: []step{{"", "", lasting + `, no-cache | Etag: "a"`, "1 200", 1}, {"", "", lasting + `, no-cache | Etag: "a"`, "2 200 body_1", 2}}},
	{section: "9111 5.2.2.5: no-store", steps: []step{{"", "", lasting + ", no-store", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.2.2.5: no-store in place of what is stored", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Cache-Control: no-cache", "200 Cache-Control: no-store", "2 200", 2}, {"", "", "", "3 200", 3}}},
	{section: "9111 5.2.2.7: private", steps: []step{{"", "", lasting + ", private", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.2.2.7: private with a field", steps: []step{{"", "", lasting + `, private="Set-Cookie"`, "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 5.2.2.7: private in a private cache", private: true, steps: []step{{"", "", lasting + ", private", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9111 5.2.2: quoted strings", steps: []step{{"", "", `200 Cache-Control: a="x, max-age=60", max-age=5`, "1 200", 1}, {"6s", "", "", "2 200", 2}}},
	{section: "9111 7.3: Set-Cookie", steps: []step{{"", "", lasting + " | Set-Cookie: a=b", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9111 7.3: Set-Cookie and public", steps: []step{{"", "", lasting + ", public | Set-Cookie: a=b", "1 200", 1}, {"", "", "", "1 200", 1}}},

	// RFC 9110, section 14: parts of a body.
	{section: "9110 14: a part of a stored body", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Range: bytes=1-3", "", "1 206 ody", 1}, {"", "Range: bytes=-2", "", "1 206 _1", 1}, {"", "Range: bytes=4-", "", "1 206 _1", 1}}},
	{section: "9110 14: nothing of it", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Range: bytes=10-", "", "1 416 ", 1}}},
	{section: "9110 14: several parts", steps: []step{{"", "", lasting, "1 200", 1}, {"", "Range: bytes=0-1,3-4", "", "1 200 body_1", 1}}},
	{section: "9110 13.1.5: If-Range", steps: []step{{"", "", lasting + ` | Etag: "a"`, "1 200", 1}, {"", `Range: bytes=0-0 | If-Range: "a"`, "", "1 206 b", 1}, {"", `Range: bytes=0-0 | If-Range: "b"`, "", "1 200 body_1", 1}, {"", `Range: bytes=0-0 | If-Range: W/"a"`, "", "1 200 body_1", 1}}},
	{section: "9110 15.4.5: a client's own 304", steps: []step{{"", `If-None-Match: "a"`, lasting + ` | Etag: "a"`, "1 304", 1}, {"", "", lasting + ` | Etag: "a"`, "2 200", 2}}},

	// RFC 5861: stale answers that the origin allows.
	{section: "5861 3: stale-while-revalidate", steps: []step{{"", "", "200 Cache-Control: max-age=5, stale-while-revalidate=10", "1 200", 1}, {"6s", "", lasting, "1 200 body_1", 2}, {"", "", "", "2 200 body_2", 2}}},
	{section: "5861 3: and not for longer", steps: []step{{"", "", "200 Cache-Control: max-age=5, stale-while-revalidate=10", "1 200", 1}, {"16s", "", "", "2 200", 2}}},
	{section: "5861 4: stale-if-error, a status", steps: []step{{"", "", "200 Cache-Control: max-age=5, stale-if-error=10", "1 200", 1}, {"6s", "", "503", "1 200 body_1", 2}, {"10s", "", "503", "3 503", 3}}},
	{section: "5861 4: not for 404", steps: []step{{"", "", "200 Cache-Control: max-age=5, stale-if-error=10", "1 200", 1}, {"6s", "", "404", "2 404", 2}}},
	{section: "5861 4: not by default", steps: []step{{"", "", `200 Cache-Control: max-age=5 | Etag: "a"`, "1 200", 1}, {"6s", "", "503", "2 503", 2}}},

	// RFC 8246: immutable.
	{section: "8246 2: a reload of what cannot change", steps: []step{{"", "", lasting + ", immutable", "1 200", 1}, {"10s", "Cache-Control: max-age=0", "", "1 200", 1}, {"", "Cache-Control: no-cache", "", "2 200", 2}}},
	{section: "8246 2: when it is stale", steps: []step{{"", "", lasting + ", immutable", "1 200", 1}, {"61s", "", "", "2 200", 2}}},

	// RFC 9213: fields for shared caches alone.
	{section: "9213 2: CDN-Cache-Control before Cache-Control", steps: []step{{"", "", "200 Cache-Control: no-store | CDN-Cache-Control: max-age=60", "1 200", 1}, {"", "", "", "1 200", 1}}},
	{section: "9213 2: and before Expires", steps: []step{{"", "", "200 Expires: {60s} | CDN-Cache-Control: max-age=5", "1 200", 1}, {"6s", "", "", "2 200", 2}}},
	{section: "9213 2.1: that is no dictionary", steps: []step{{"", "", "200 Cache-Control: no-store | CDN-Cache-Control: max-age=60, &&", "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9213 2.1: a value of another type", steps: []step{{"", "", `200 Cache-Control: no-store | CDN-Cache-Control: max-age="60"`, "1 200", 1}, {"", "", "", "2 200", 2}}},
	{section: "9213 2.2: not in a private cache", private: true, steps: []step{{"", "", "200 Cache-Control: no-store | CDN-Cache-Control: max-age=60", "1 200", 1}, {"", "", "", "2 200", 2}}},
}

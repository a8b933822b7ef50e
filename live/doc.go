// Package live shows caches while they run, on a page for a browser:
//
//	http.Handle("/debug/firn/", live.Handler(users, pictures))
//
// It shows figures, and never a key or a value. Nothing can be changed there.
package live

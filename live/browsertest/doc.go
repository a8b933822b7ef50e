// Package browsertest tests the page of package live in a real browser. It is a module of
// its own, so that the cache does not require what drives one.
//
//	cd live/browsertest && go test ./...
//	go test -run TestPictures -pictures /tmp/pictures    screenshots, to look at
//	go test -run TestReadmePicture -update               docs/img/live.webp
//
// The browser is chromium-headless-shell, or another that speaks its protocol: FIRN_BROWSER
// names one. Where there is none the tests are skipped; they fail with FIRN_REQUIRE_BROWSER=1.
package browsertest

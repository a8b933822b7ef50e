module github.com/firncache/firn/httpcache

go 1.26.0

require github.com/firncache/firn v0.0.0

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/firncache/firn => ../

module github.com/firncache/firn

go 1.26.0

require (
	github.com/gofrs/flock v0.13.1
	github.com/klauspost/compress v1.20.3
	golang.org/x/sys v0.49.0
	pgregory.net/rapid v1.3.0
)

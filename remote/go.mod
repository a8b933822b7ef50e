module github.com/firncache/firn/remote

go 1.26.0

require (
	github.com/firncache/firn v0.0.0
	github.com/klauspost/compress v1.20.3
	github.com/redis/rueidis v1.0.79
	golang.org/x/sys v0.49.0
)

require github.com/gofrs/flock v0.13.1 // indirect

replace github.com/firncache/firn => ../

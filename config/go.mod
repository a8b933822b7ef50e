module github.com/firncache/firn/config

go 1.26.0

replace (
	github.com/firncache/firn => ../
	github.com/firncache/firn/remote => ../remote
)

require (
	github.com/dustin/go-humanize v1.1.0
	github.com/firncache/firn v0.0.0
	github.com/firncache/firn/remote v0.0.0-00010101000000-000000000000
	github.com/goccy/go-yaml v1.19.2
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/redis/rueidis v1.0.79 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

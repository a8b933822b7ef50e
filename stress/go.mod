module github.com/firncache/firn/stress

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/firncache/firn v0.0.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
)

replace github.com/firncache/firn => ../

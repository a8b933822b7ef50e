module github.com/firncache/firn/stress

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/firncache/firn v0.0.0
	github.com/firncache/firn/front v0.0.0-00010101000000-000000000000
	golang.org/x/sys v0.49.0
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/maypok86/otter/v2 v2.4.0 // indirect
)

replace (
	github.com/firncache/firn => ../
	github.com/firncache/firn/front => ../front
)

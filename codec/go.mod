module github.com/firncache/firn/codec

go 1.26.0

require (
	github.com/firncache/firn v0.0.0
	github.com/fxamacker/cbor/v2 v2.9.6
	github.com/goccy/go-json v0.12.0
	github.com/klauspost/compress v1.20.3
	github.com/shamaton/msgpack/v3 v3.1.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/firncache/firn => ../

package workload

import (
	"errors"
	"io"
	"testing"
)

// fuzzFormat feeds mutations of the samples of a format to its parser.
func fuzzFormat(f *testing.F, format string) {
	for _, s := range samples(20) {
		if s.format == format {
			f.Add(s.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = short(data)
		src, err := openBytes("trace", format, data)
		if err == nil {
			err = readSome(t, src)
		}
		place, ok := errors.AsType[*TraceError](err)
		if err != nil && !ok {
			t.Fatalf("%T: %v", err, err)
		}
		if ok && !place.Compressed && (place.Offset < 0 || place.Offset > int64(len(data))) {
			t.Fatalf("offset %d of %d bytes", place.Offset, len(data))
		}
	})
}

// short bounds an input: the fuzzer makes ever longer ones, and what they
// have to tell, shorter ones tell sooner.
func short(data []byte) []byte { return data[:min(len(data), 4096)] }

// readSome reads up to 5000 requests: a line of an ARC trace may stand for
// 16 million.
func readSome(t *testing.T, src Source) error {
	defer src.Close()
	buf := make([]Request, 1000)
	for range 5 {
		n, err := src.Read(buf)
		if n == 0 && err == nil || n > 0 && err != nil {
			t.Fatalf("Read returned %d, %v", n, err)
		}
		if done := src.Done(); !(done >= 0 && done <= 1) {
			t.Fatalf("Done is %v", done)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func FuzzTRC(f *testing.F)     { fuzzFormat(f, formatTRC) }
func FuzzOracle(f *testing.F)  { fuzzFormat(f, formatOracle) }
func FuzzARC(f *testing.F)     { fuzzFormat(f, formatARC) }
func FuzzLIRS(f *testing.F)    { fuzzFormat(f, formatLIRS) }
func FuzzTwitter(f *testing.F) { fuzzFormat(f, formatTwitter) }
func FuzzCSV(f *testing.F)     { fuzzFormat(f, formatCSV) }

// FuzzDetect feeds everything, compressed or not, to the detection.
func FuzzDetect(f *testing.F) {
	for _, s := range samples(20) {
		for _, compress := range compressions {
			f.Add(compress(f, s.data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = short(data)
		src, err := openBytes("trace", "", data)
		if err == nil {
			err = readSome(t, src)
		}
		if _, ok := errors.AsType[*TraceError](err); err != nil && !ok {
			t.Fatalf("%T: %v", err, err)
		}
	})
}

// FuzzFormatName feeds anything to -format.
func FuzzFormatName(f *testing.F) {
	f.Add("csv:time,key,-")
	f.Fuzz(func(t *testing.T, name string) {
		if err := CheckFormat(name); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}

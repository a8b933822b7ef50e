package live

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// send sends a text that is there in full: compressed if the client takes that, else plain or,
// if that is nil, uncompressed again.
func send(w http.ResponseWriter, r *http.Request, kind string, plain, compressed []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Vary", "Accept-Encoding")
	body := plain
	switch {
	case compressed != nil && takesGzip(r):
		h.Set("Content-Encoding", "gzip")
		body = compressed
	case plain == nil:
		unpacked, _ := gzip.NewReader(bytes.NewReader(compressed)) // from memory
		body, _ = io.ReadAll(unpacked)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeFor(len(body))))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone, if it fails
	}
}

// timeFor is how long a client may take for so many bytes: on a line of 256 kbit/s it has them.
func timeFor(n int) time.Duration {
	const perSecond = 32 << 10
	return writeTimeout + time.Duration(n/perSecond)*time.Second
}

// takesGzip reports whether a client accepts gzip.
func takesGzip(r *http.Request) bool {
	any := false
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, q, _ := strings.Cut(strings.ToLower(coding), ";")
		weight, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(q), "q=")), 64)
		wanted := strings.TrimSpace(q) == "" || err == nil && weight > 0
		switch strings.TrimSpace(name) {
		case "gzip":
			return wanted
		case "*":
			any = wanted
		}
	}
	return any
}

package live

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed web
var web embed.FS

// asset is a file of the page, ready to be sent.
type asset struct {
	kind    string
	plain   []byte
	gzip    []byte
	version string // of its content
}

// kinds are the types of the page's files.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// assets are the page's files by their names. The page itself names the others with their
// versions, so that a browser may keep them for as long as it likes.
var assets = sync.OnceValue(func() map[string]*asset {
	files, _ := fs.ReadDir(web, "web")
	found := map[string]*asset{}
	for _, f := range files {
		text, _ := web.ReadFile("web/" + f.Name())
		found[f.Name()] = newAsset(f.Name(), text)
	}
	page := string(found["index.html"].plain)
	for name, a := range found {
		page = strings.ReplaceAll(page, `"`+name+`"`, `"`+name+"?v="+a.version+`"`)
	}
	found["index.html"] = newAsset("index.html", []byte(page))
	return found
})

func newAsset(name string, text []byte) *asset {
	sum := sha256.Sum256(text)
	return &asset{kinds[path.Ext(name)], text, compress(text, gzip.BestCompression), hex.EncodeToString(sum[:6])}
}

func compress(text []byte, level int) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, level)
	_, _ = w.Write(text) // to memory
	_ = w.Close()
	return b.Bytes()
}

// serve sends the file, or the word that the browser has it.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	tag := `"` + a.version + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == a.version {
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			h.Set("Vary", "Accept-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	send(w, r, a.kind, a.plain, a.gzip)
}

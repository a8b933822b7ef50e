// Command client gets URLs through a private HTTP cache on SSD, and says of each where it came from. Run twice, it
// asks the servers only for what is not fresh any more, and whether that has changed.
//
//	client -dir /tmp/responses https://example.org https://example.org/style.css
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// get writes a line for each URL.
func get(out io.Writer, o firn.Options, urls ...string) error {
	cache, err := firn.Open(o)
	if err != nil {
		return err
	}
	responses, err := httpcache.New(cache, "client", httpcache.Options{Private: true})
	if err != nil {
		return errors.Join(err, cache.Close())
	}
	client := &http.Client{Transport: responses.Transport(nil), Timeout: 30 * time.Second}
	for _, url := range urls {
		resp, failed := client.Get(url)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		n, failed := io.Copy(io.Discard, resp.Body)
		fmt.Fprintf(out, "%s %d, %d bytes, %s\n", url, resp.StatusCode, n, resp.Header.Get("Cache-Status"))
		err = errors.Join(err, failed, resp.Body.Close())
	}
	return errors.Join(err, cache.Close())
}

func main() {
	dir := flag.String("dir", "", "directory on an SSD; required")
	flag.Parse()
	o := firn.Options{RAMBytes: 16 << 20, SSD: firn.SSDOptions{Dir: *dir, Bytes: 256 << 20}}
	if err := get(os.Stdout, o, flag.Args()...); err != nil {
		log.Fatal(err)
	}
}

package curve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	fetchTimeout = 10 * time.Second
	mostBytes    = 16 << 20 // of what is read: some hundred caches
)

// ErrTooLarge says that there is more to read than any curve has.
var ErrTooLarge = fmt.Errorf("larger than %s: no what-if curve", size(mostBytes))

// Fetch reads a file, what an http or https URL has, or stdin if from is "-". A URL that ends
// in a slash is a page of package live, whose stats.json it takes.
func Fetch(ctx context.Context, from string, stdin io.Reader) ([]byte, error) {
	if from == "-" {
		return readAll("stdin", stdin)
	}
	if u, err := url.Parse(from); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return get(ctx, u)
	}
	file, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(from, file)
}

func get(ctx context.Context, u *url.URL) ([]byte, error) {
	if u.Path == "" || strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("stats.json")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, fmt.Errorf("no answer within %v", fetchTimeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", u.Redacted(), response.Status)
	}
	return readAll(u.Redacted(), response.Body)
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

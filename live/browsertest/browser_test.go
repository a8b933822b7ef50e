package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// hang is how long a test waits for what comes at once: nothing but a hang reaches it.
const hang = time.Minute

// browser is the one of all tests, each of which has tabs of its own. err says why there is none.
var browser struct {
	ctx context.Context
	err error
}

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(serveAsChild(os.Stdin, os.Stdout))
	}
	os.Exit(runWithBrowser(m))
}

func runWithBrowser(m *testing.M) int {
	path, err := findBrowser()
	if err != nil {
		browser.err = err
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // it sees nothing but pages of this test, and containers have no other sandbox
		chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(ignoreNews))
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s does not start: %v\n", path, err)
		return 1
	}
	browser.ctx = ctx
	return m.Run()
}

// ignoreNews takes what the driver says of events that a newer browser has.
func ignoreNews(string, ...any) {}

// findBrowser is the browser to test with.
func findBrowser() (string, error) {
	if name := os.Getenv("FIRN_BROWSER"); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("FIRN_BROWSER is %q, want a browser: %w", name, err)
		}
		return path, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium-headless-shell in PATH: install it (Debian: apt-get install chromium-headless-shell), or name a browser in FIRN_BROWSER")
}

// needBrowser skips a test where there is no browser.
func needBrowser(t *testing.T) {
	t.Helper()
	switch {
	case browser.err == nil:
	case os.Getenv("FIRN_REQUIRE_BROWSER") != "" || os.Getenv("FIRN_BROWSER") != "":
		t.Fatal(browser.err)
	default:
		t.Skip(browser.err)
	}
}

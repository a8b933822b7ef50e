package browsertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// view is what a tab looks like.
type view struct {
	width, height int64   // in CSS pixels; 0: 1280 × 800
	scale         float64 // pixels of the screen for each; 0: 1
	dark          bool
	still         bool // prefers-reduced-motion
	faulty        bool // the page is expected to throw: others' tests end then
}

// tab is a page in a window of its own, with cookies and a cache of its own.
type tab struct {
	*testing.T
	ctx   context.Context
	throw context.CancelCauseFunc // ends what waits for a page that has thrown

	mu       sync.Mutex
	problems []string // errors in the console, violations of the policy, exceptions, failed requests
	bytes    float64  // received for finished requests, compressed, with headers
}

// reportViolations makes each violation of the content security policy an error in the console.
const reportViolations = `document.addEventListener("securitypolicyviolation", e => console.error("securitypolicyviolation: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));`

// newTab opens an empty tab, which is closed at the end of the test. What the console says
// against the page fails the test then, unless it was taken by takeProblems.
func newTab(t *testing.T, v view) *tab {
	t.Helper()
	needBrowser(t)
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	must(t, chromedp.Do(ctx))
	ctx, cancelHang := context.WithTimeout(ctx, hang)
	t.Cleanup(cancelHang)
	ctx, throw := context.WithCancelCause(ctx)
	t.Cleanup(func() { throw(nil) })
	if v.faulty {
		throw = func(error) {}
	}
	b := &tab{T: t, ctx: ctx, throw: throw}
	must(t, chromedp.Listen(ctx, b.listen))
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: reportViolations})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.look(v)
	t.Cleanup(func() {
		for _, problem := range b.takeProblems() {
			t.Errorf("the browser reports %s", problem)
		}
	})
	return b
}

// open goes to a page and waits until it is there.
func open(t *testing.T, url string, v view) *tab {
	t.Helper()
	b := newTab(t, v)
	must(t, chromedp.Do(b.ctx, chromedp.Navigate(url)))
	return b
}

// look changes the view.
func (b *tab) look(v view) {
	b.Helper()
	if v.width == 0 {
		v.width = 1280
	}
	if v.height == 0 {
		v.height = 800
	}
	if v.scale == 0 {
		v.scale = 1
	}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: v.height, DeviceScaleFactor: v.scale})
	scheme, motion := "light", "no-preference"
	if v.dark {
		scheme = "dark"
	}
	if v.still {
		motion = "reduce"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}})
	eval[bool](b, fmt.Sprintf(untilSeen, v.width, scheme))
	b.settle()
}

// untilSeen resolves when the page has been told of a width and a scheme.
const untilSeen = `new Promise(done => {
	const look = () => innerWidth === %d && matchMedia("(prefers-color-scheme: %s)").matches ? done(true) : requestAnimationFrame(look);
	look();
})`

// settle waits until the page has drawn what it was told of: it hears of sizes in one frame of
// the screen, and draws in the next.
func (b *tab) settle() {
	b.Helper()
	eval[bool](b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
}

// listen notes what the browser holds against the page.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			b.problems = append(b.problems, "console: "+texts(e.Args))
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text+" "+texts([]*runtime.RemoteObject{e.ExceptionDetails.Exception}))
		b.throw(errors.New("the page has thrown"))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

func texts(list []*runtime.RemoteObject) string {
	var all []string
	for _, o := range list {
		if o != nil {
			all = append(all, o.Description+string(o.Value))
		}
	}
	return strings.Join(all, " ")
}

// takeProblems returns what the browser has held against the page since the last call.
func (b *tab) takeProblems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.problems
	b.problems = nil
	return taken
}

// received is how many bytes the finished requests took.
func (b *tab) received() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// waitScript resolves with the value of an expression when that is true, after some change
// of the document.
const waitScript = `new Promise(done => {
	const value = () => { try { return (%s); } catch (e) { return undefined; } };
	const check = () => { const v = value(); if (v) { observer.disconnect(); done(v); } return v; };
	const observer = new MutationObserver(check);
	observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
	check();
})`

// wait waits until an expression is true, and returns its value. It looks whenever the
// document changes.
func wait[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](fmt.Sprintf(waitScript, expression), chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("waiting for %s: %v; the browser reports %q", expression, err, b.takeProblems())
	}
	return v
}

// eval returns the value of an expression, or of the promise that it is.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// call is a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatalf("%T: %v", params, err)
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

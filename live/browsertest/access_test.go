package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focus names what has the focus.
const focus = `(e => e === document.body ? "" : e.id ? "#" + e.id : e.dataset.chart ?? (e.closest("[data-chart]")?.dataset.chart ?? "") + " " + e.localName + " " + (e.getAttribute("aria-label") ?? e.value ?? e.textContent).slice(0, 40))(document.activeElement)`

func (b *tab) press(key string) {
	b.Helper()
	must(b.T, chromedp.Do(b.ctx, chromedp.KeyEvent(key)))
}

// Tab reaches every control and every chart once, and each shows that it has the focus; arrows
// move the readout of a chart.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	reached, plots := map[string]bool{}, 0
	for range 200 {
		b.press(kb.Tab)
		at := eval[string](b, focus)
		if at == "" || reached[at] && strings.HasPrefix(at, "#") {
			break
		}
		reached[at] = true
		if !eval[bool](b, `document.activeElement.matches(":focus-visible")`) {
			t.Errorf("%s has the focus, and does not show it", at)
		}
		if b.moveReadout(t, at) {
			plots++
		}
	}
	if want := eval[int](b, `[...document.querySelectorAll("[data-chart] .plot")].filter(e => e.checkVisibility()).length`); plots != want {
		t.Errorf("Tab reaches %d plots of %d", plots, want)
	}
	if missing := eval[[]string](b, `[...document.querySelectorAll("button, a[href], summary, select")].filter(e => e.checkVisibility() && e.tabIndex >= 0).map(e => e.id ? "#" + e.id : (e.closest("[data-chart]")?.dataset.chart ?? "") + " " + e.localName + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40))`); len(missing) > 0 {
		for _, name := range missing {
			if !reached[name] && !reached[strings.TrimSpace(name)] {
				t.Errorf("Tab does not reach %q; it reaches %d", name, len(reached))
			}
		}
	}
	if len(reached) < 10 {
		t.Errorf("Tab reaches %d elements, want the controls and charts: %v", len(reached), reached)
	}
}

// moveReadout presses arrows on a chart that has the focus: its readout says something else.
func (b *tab) moveReadout(t *testing.T, at string) (moved bool) {
	t.Helper()
	if !eval[bool](b, `document.activeElement.matches("[data-chart] .plot")`) {
		return false
	}
	const readout = `document.activeElement.closest(".part, [data-chart]").querySelector("[data-readout]")?.textContent ?? ""`
	said := func(key string) string {
		b.press(key)
		b.settle() // it draws at the next frame of the screen
		return eval[string](b, readout)
	}
	first, second, third := said(kb.Home), said(kb.ArrowRight), said(kb.ArrowLeft)
	if first == "" || first == second || third != first {
		t.Errorf("%s: its readout says %q, %q after an arrow to the right, and %q after one to the left: want another, and the first again", at, first, second, third)
	}
	return true
}

// node is one of the accessibility tree.
type node struct{ role, name, description string }

func (b *tab) accessible() (list []node) {
	b.Helper()
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if !n.Ignored {
			list = append(list, node{text(n.Role), text(n.Name), text(n.Description)})
		}
	}
	return list
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}

// What has a picture has a name and a description for who does not see it, and every control
// a name.
func TestAccessibleNames(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	charts, names := 0, map[string]bool{}
	for _, n := range b.accessible() {
		switch n.role {
		case "image", "img", "graphics-document", "figure", "application", "slider":
			if n.role == "figure" && n.description == "" { // its picture has it
				continue
			}
			charts++
			if n.name == "" || n.description == "" {
				t.Errorf("a chart has the name %q and the description %q", n.name, n.description)
			}
			if names[n.name] {
				t.Errorf("two charts have the name %q", n.name)
			}
			names[n.name] = true
		case "button", "link", "checkbox", "radio", "combobox", "tab", "table", "heading", "main", "navigation":
			if n.name == "" && n.role != "main" {
				t.Errorf("a %s has no name", n.role)
			}
		}
	}
	if charts < 9 {
		t.Errorf("the accessibility tree has %d charts: want every one: %v", charts, names)
	}
}

// Nothing moves by itself if the reader asks for that.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	w, url, seq := full(t)
	b := open(t, url, view{still: true})
	wait[bool](b, drawn(seq))
	must(t, w.tick(2))
	wait[bool](b, drawn(seq+2))
	const moving = `document.getAnimations().filter(a => a.playState === "running" && a.effect.getComputedTiming().duration > 0).map(a => a.effect.target?.localName + " " + (a.transitionProperty ?? a.animationName))`
	if found := eval[[]string](b, moving); len(found) > 0 {
		t.Errorf("these move: %v", fmt.Sprint(found))
	}
}

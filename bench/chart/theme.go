package chart

import (
	"fmt"
	"image/color"
	"regexp"
	"strconv"
	"strings"
)

// A tone is a colour of the theme. Charts are drawn in placeholder colours,
// which SVG turns into CSS variables, so that one drawing serves light and dark.
type tone uint8

// The tones that are not those of series.
const (
	ink   tone = 0x80 + iota // text
	faint                    // axes and labels
	grid                     // lines behind the data
)

// shades are a tone's colours.
type shades struct{ light, dark string }

// SeriesColors is the number of colours that series can have.
const SeriesColors = 12

var theme = map[tone]shades{
	ink: {"#1c2430", "#e8edf4"}, faint: {"#566070", "#a9b4c4"}, grid: {"#dfe4ea", "#343d4a"},
	0: {"#0b5fff", "#6ea8ff"}, 1: {"#d1495b", "#ff7b8a"}, 2: {"#1f8a4f", "#5fd38d"}, 3: {"#c97a00", "#ffbe55"},
	4: {"#7b4bd1", "#b794ff"}, 5: {"#0b7f92", "#4fd0e0"}, 6: {"#8f4a2b", "#d99a72"}, 7: {"#c2418c", "#ff8ccf"},
	8: {"#6b7280", "#a8b0bd"}, 9: {"#767b00", "#d6db3f"}, 10: {"#39485c", "#8fa3bf"}, 11: {"#9b5a10", "#e0a96d"},
}

// placeholder is the colour in which a tone is drawn.
func (t tone) placeholder() color.Color { return color.NRGBA{R: 1, G: uint8(t), B: 2, A: 255} }

func (t tone) variable() string { return fmt.Sprintf("--c%d", t) }

var placeholders = regexp.MustCompile(`#01([0-9A-F]{2})02`)

// themed replaces placeholders by variables; a program that does not know them
// shows the light colours.
func themed(svg string) string {
	return placeholders.ReplaceAllStringFunc(svg, func(s string) string {
		n, err := strconv.ParseUint(s[3:5], 16, 8)
		if err != nil {
			panic(err) // the expression matches hexadecimal digits only
		}
		t := tone(n)
		return fmt.Sprintf("var(%s,%s)", t.variable(), theme[t].light)
	})
}

// CSS is the style sheet that gives the charts of a page their colours. Root is
// the selector of what holds them, such as ":root".
func CSS(root string) string {
	var light, dark strings.Builder
	for t := range tone(0xff) {
		if s, ok := theme[t]; ok {
			fmt.Fprintf(&light, "%s:%s;", t.variable(), s.light)
			fmt.Fprintf(&dark, "%s:%s;", t.variable(), s.dark)
		}
	}
	return fmt.Sprintf("%s{%s}@media (prefers-color-scheme:dark){%s{%s}}", root, &light, root, &dark)
}

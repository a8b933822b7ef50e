package chart

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A file of its own is made small: styles become classes, places have one
// decimal, and neighbours of one style are one path. A chart of eight lines
// takes 10 KB in place of 34.

var (
	styles    = regexp.MustCompile(`\s*style="([^"]*)"`)
	variables = regexp.MustCompile(`((?:fill|stroke):)var\(--c(\d+),(#[0-9a-f]+)\)`)
	command   = regexp.MustCompile(`([A-Z])([^A-Z]*)`)
	places    = regexp.MustCompile(` (?:d|x|y)="[^"]*"`)
	numbers   = regexp.MustCompile(`-?\d+\.\d+`)
	between   = regexp.MustCompile(`\s*/?>\s*<`)
	path      = regexp.MustCompile(`<path d="([^"]*)" class="(\w+)"/>`)
)

// compact returns the same drawing in fewer bytes, as a file of its own that
// follows the viewer's wish for light or dark.
func compact(svg string) string {
	var light, dark strings.Builder
	classes := make(map[string]string)
	svg = styles.ReplaceAllStringFunc(svg, func(attribute string) string {
		style := styles.FindStringSubmatch(attribute)[1]
		if classes[style] == "" {
			classes[style] = "s" + strconv.Itoa(len(classes))
			fmt.Fprintf(&light, ".%s{%s}", classes[style], variables.ReplaceAllString(style, "$1$3"))
			fmt.Fprintf(&dark, ".%s{%s}", classes[style], inDark(style))
		}
		return ` class="` + classes[style] + `"`
	})
	svg = places.ReplaceAllStringFunc(svg, func(attribute string) string { return numbers.ReplaceAllStringFunc(attribute, shorter) })
	svg = strings.ReplaceAll(svg, "scale(1, -1)", "scale(1-1)")
	svg = between.ReplaceAllStringFunc(svg, func(s string) string { return strings.Join(strings.Fields(s), "") })
	sheet := "path{fill:none}text{font-family:" + family + "}" + light.String()
	for _, common := range []string{"fill:none;", "font-family:" + family + ";"} {
		sheet = strings.ReplaceAll(sheet, common, "")
	}
	return strings.Replace(joined(svg), "<title>", "<style>"+sheet+"@media (prefers-color-scheme:dark){"+dark.String()+"}</style><title>", 1)
}

// inDark is the part of a style that differs in the dark.
func inDark(style string) string {
	var colors []string
	for _, m := range variables.FindAllStringSubmatch(style, -1) {
		if n, err := strconv.ParseUint(m[2], 10, 8); err == nil {
			colors = append(colors, m[1]+theme[tone(n)].dark)
		}
	}
	return strings.Join(colors, ";")
}

// shorter rounds a place to one decimal, which is less than a screen shows.
func shorter(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64)
}

// straight writes lines along an axis with the one place that changes.
func straight(d string) string {
	var x, y string
	return command.ReplaceAllStringFunc(d, func(c string) string {
		toX, toY, ok := strings.Cut(c[1+strings.LastIndexByte(c[1:], ' ')+1:], ",")
		fromX, fromY := x, y
		if ok {
			x, y = toX, toY
		}
		switch {
		case c[0] == 'L' && x == fromX:
			return "V" + y
		case c[0] == 'L' && y == fromY:
			return "H" + x
		}
		return c
	})
}

// parts of a path, each only once, and those of no length not at all: the
// whisker of a figure that did not vary.
func parts(d string) string {
	var kept []string
	for part := range strings.SplitSeq(d, "M") {
		at, to, _ := strings.Cut(part, "V")
		if part != "" && (to == "" || !strings.HasSuffix(at, ","+to)) && !slices.Contains(kept, part) {
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "M" + strings.Join(kept, "M")
}

// joined makes one path of those that follow each other in one style.
func joined(svg string) string {
	var out strings.Builder
	var lines, class string
	end := 0
	flush := func() {
		if lines != "" {
			fmt.Fprintf(&out, `<path d="%s" class="%s"/>`, parts(lines), class)
		}
		lines = ""
	}
	for _, m := range path.FindAllStringSubmatchIndex(svg, -1) {
		if c := svg[m[4]:m[5]]; m[0] > end || c != class {
			flush()
			class = c
		}
		out.WriteString(svg[end:m[0]])
		lines += straight(svg[m[2]:m[3]])
		end = m[1]
	}
	flush()
	return out.String() + svg[end:]
}

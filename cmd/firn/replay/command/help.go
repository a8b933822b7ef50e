package command

import (
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// helpWidth is the width that help is broken to: the least that terminals have,
// as a rule.
const helpWidth = 80

// The library's printer, which does not break lines, is a variable of its package.
func init() {
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		cli.HelpPrinterCustom(w, template, data, map[string]any{"wrapAt": func() int { return helpWidth }})
	}
}

// Flow joins the lines of each paragraph, so that help breaks them once.
func Flow(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

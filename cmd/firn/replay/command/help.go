package command

import (
	"io"

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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/firncache/firn/cmd/firn/internal/curve"
	"github.com/firncache/firn/cmd/firn/replay/command"
)

// planCurve is "firn plan -curve".
func planCurve(ctx context.Context, cmd *cli.Command, stdout io.Writer) error {
	from := cmd.String("curve")
	if err := checkCurveFlags(cmd, from); err != nil {
		return command.Usage(err)
	}
	data, err := curve.Fetch(ctx, from, cmd.Root().Reader)
	if errors.Is(err, curve.ErrTooLarge) {
		return command.Usage(fmt.Errorf("-curve: %w", err))
	}
	if errors.Is(err, context.Canceled) {
		return command.ErrInterrupted
	}
	if err != nil {
		return fmt.Errorf("-curve: %w", err)
	}
	curves, err := curve.Parse(data)
	if err == nil && cmd.IsSet("cache") {
		curves, err = only(curves, cmd.String("cache"))
	}
	if err != nil {
		return command.Usage(fmt.Errorf("-curve %s: %w", from, err))
	}
	for i := range curves {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		curve.Table(stdout, &curves[i], command.StyleOf(stdout))
	}
	return nil
}

// checkCurveFlags refuses what has no meaning beside -curve.
func checkCurveFlags(cmd *cli.Command, from string) error {
	if cmd.Args().Present() {
		return fmt.Errorf("plan takes no argument, and got %q", cmd.Args().First())
	}
	if from == "" {
		return errors.New(`-curve is missing or empty: want a file, a URL, or - for stdin`)
	}
	for _, name := range cmd.LocalFlagNames() {
		if name != "curve" && name != "cache" {
			return fmt.Errorf("-%s with -curve: what fits is not what a cache did: give one of them", name)
		}
	}
	return nil
}

// only are the curves of the caches of a name.
func only(curves []curve.Named, name string) ([]curve.Named, error) {
	found := slices.DeleteFunc(slices.Clone(curves), func(c curve.Named) bool { return c.Name != name })
	if len(found) > 0 {
		return found, nil
	}
	var names []string
	for _, c := range curves {
		names = append(names, fmt.Sprintf("%q", c.Name))
	}
	return nil, fmt.Errorf("-cache %q: there is no curve of it, but of %s", name, strings.Join(names, ", "))
}

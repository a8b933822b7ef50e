package bytes

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/stats"
)

// checkCurve fails unless all figures of a curve are such that can be told, and written as JSON.
func checkCurve(t *testing.T, curve stats.Curve) {
	t.Helper()
	for name, s := range map[string]stats.SizeCurve{"RAM": curve.RAM, "Both": curve.Both} {
		if len(s.Points) != 0 && len(s.Points) != 6 || s.Points == nil {
			t.Errorf("%s has %d points: want none or 6", name, len(s.Points))
		}
		if (name == "RAM" || len(s.Points) > 0) && len(s.Advice) == 0 {
			t.Errorf("%s has no advice", name)
		}
		for _, p := range s.Points {
			if p.State != stats.CurveValid && (p.MissRatio != 0 || p.Error != 0 || p.Loads != 0 || p.Life != 0 || p.Saved != 0) {
				t.Errorf("%s at %v is %v, and has figures: %+v", name, p.Factor, p.State, p)
			}
			if p.MissRatio < 0 || p.MissRatio > 1 || p.Error < 0 || p.Loads < 0 || p.SSDReads < 0 || p.Filled < 0 || p.Filled > 1 || p.ByteMissRatio < 0 || p.ByteMissRatio > 1 {
				t.Errorf("%s at %v: %+v", name, p.Factor, p)
			}
		}
	}
	text, err := json.Marshal(curve)
	if err != nil {
		t.Fatal(err)
	}
	var again stats.Curve
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, curve) {
		t.Errorf("%s is read as %+v, %v: want %+v", text, again, err, curve)
	}
}

// Without a simulation, in a cache that is too small for one, and without traffic, nothing is told.
func TestCurveTellsNothing(t *testing.T) {
	t.Parallel()
	points := func(o firn.Options, n int) {
		t.Helper()
		c := harness.Open(t, o)
		for range 2 {
			curve := c.Curve()
			checkCurve(t, curve)
			if len(curve.RAM.Points) != n || len(curve.Both.Points) != 0 || curve.Reads != 0 {
				t.Errorf("%d bytes, %v: %+v, want %d points", o.RAMBytes, o.WhatIf, curve, n)
			}
			for _, p := range curve.RAM.Points {
				if p.State == stats.CurveValid {
					t.Errorf("%v of %d bytes is valid, and nothing was read: %+v", p.Factor, o.RAMBytes, p)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	points(firn.Options{RAMBytes: 64 << 20}, 6)
	points(firn.Options{RAMBytes: 64 << 20, WhatIf: firn.WhatIfOff}, 0)
	points(firn.Options{RAMBytes: 25 << 18}, 6) // of which a hundredth is enough for a simulation
	points(firn.Options{RAMBytes: 25<<18 - 64<<10}, 0)
}

// An unknown choice is an error that names the field, and the choices have names.
func TestWhatIfIsValidated(t *testing.T) {
	t.Parallel()
	err := firn.Options{RAMBytes: 1 << 20, WhatIf: 2}.Validate()
	var bad *firn.OptionError
	if !errors.As(err, &bad) || bad.Field != "WhatIf" || !strings.Contains(err.Error(), "WhatIf(2)") {
		t.Errorf("WhatIf 2: %v", err)
	}
	for _, w := range []firn.WhatIf{firn.WhatIfOn, firn.WhatIfOff} {
		text, err := w.MarshalText()
		var again firn.WhatIf
		if err != nil || again.UnmarshalText(text) != nil || again != w {
			t.Errorf("%v is %q, %v, and read as %v", w, text, err, again)
		}
	}
	if err := new(firn.WhatIf).UnmarshalText([]byte("maybe")); err == nil || !strings.Contains(err.Error(), "on, off") {
		t.Errorf("maybe: %v", err)
	}
}

// A loader that is asked for many values at once costs the source its time once, not once for each:
// the time of a load is a value's share of it.
func TestCurveLoadTimeOfManyValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now})
		keys := make([][]byte, 10)
		for i := range keys {
			keys[i] = []byte{byte(i)}
		}
		var b firn.Batch
		err := c.GetOrLoadMulti(t.Context(), &b, keys, func(context.Context, [][]byte) ([][]byte, error) {
			time.Sleep(time.Second)
			return keys, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Curve().LoadTime; got != 100*time.Millisecond {
			t.Errorf("ten values in a second: %v a load, want 100ms", got)
		}
	})
}

package curve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/firncache/firn/stats"
)

// Named is the curve of a cache that has a name, unless nobody gave it one.
type Named struct {
	Name  string
	Curve stats.Curve
}

// ErrNoCurve says that what was read is no curve.
var ErrNoCurve = errors.New("no what-if curve")

// document is one value of the JSON that Parse reads: a curve by itself, or what holds some.
type document struct {
	RAM      json.RawMessage `json:"ram"`   // of a curve by itself
	Trace    string          `json:"trace"` // of firn replay -json
	Replayed json.RawMessage `json:"curve"`
	Caches   *[]struct {     // of stats.json
		Name  string          `json:"name"`
		Curve json.RawMessage `json:"curve"`
	} `json:"caches"`
}

// Parse reads the curves in what firn replay -json wrote, one for each line; in the stats.json
// of package live, one for each cache; or one by itself, as stats.Curve is in JSON. A cache
// that has none yet is left out, unless all are. Errors wrap ErrNoCurve.
func Parse(data []byte) (curves []Named, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%w: no JSON: %w", ErrNoCurve, err)
		}
		found, err := parseOne(raw)
		if err != nil {
			return nil, err
		}
		curves = append(curves, found...)
	}
	if len(curves) == 0 {
		return nil, fmt.Errorf("%w: nothing in it", ErrNoCurve)
	}
	return curves, nil
}

// parseOne reads the curves of one document.
func parseOne(raw []byte) (curves []Named, err error) {
	var d document
	_ = json.Unmarshal(raw, &d) // what is something else leaves d empty
	add := func(name string, raw json.RawMessage) (err error) {
		var c stats.Curve
		if len(raw) > 0 && string(raw) != "null" {
			c, err = parseCurve(name, raw)
			curves = append(curves, Named{name, c})
		}
		return err
	}
	switch {
	case d.Caches != nil:
		for i, of := range *d.Caches {
			if err := add(cmp.Or(of.Name, fmt.Sprintf("cache %d", i+1)), of.Curve); err != nil {
				return nil, err
			}
		}
		if len(curves) == 0 {
			err = fmt.Errorf("%w: none of its %d caches has one yet", ErrNoCurve, len(*d.Caches))
		}
	case d.Replayed != nil:
		err = add(d.Trace, d.Replayed)
	case d.RAM != nil:
		err = add("", raw)
	default:
		err = fmt.Errorf("%w: want what firn replay -json wrote, the stats.json of a page, or a stats.Curve", ErrNoCurve)
	}
	return curves, err
}

// parseCurve reads one curve. Nothing else than a whole one is let through: figures that
// contradict each other would come out as advice.
func parseCurve(name string, raw []byte) (stats.Curve, error) {
	var c stats.Curve
	err := json.Unmarshal(raw, &c)
	if err == nil {
		err = check(&c)
	}
	if err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNoCurve, err)
	}
	return c, err
}

// check finds the first figure of a curve that cannot be.
func check(c *stats.Curve) error {
	if !(c.Reads >= 0) || c.LoadTime < 0 {
		return fmt.Errorf("reads_per_second is %v and load_time_ns %d: want 0 or more", c.Reads, c.LoadTime)
	}
	for _, s := range []struct {
		name  string
		curve *stats.SizeCurve
	}{{"ram", &c.RAM}, {"both", &c.Both}} {
		if err := checkSizes(s.name, s.curve); err != nil {
			return err
		}
	}
	return nil
}

func checkSizes(name string, c *stats.SizeCurve) error {
	if n := len(c.Points); n > 0 && now(c) < 0 {
		return fmt.Errorf("none of %s.points has factor 1, the present size", name)
	}
	for i := range c.Points {
		p := &c.Points[i]
		at := fmt.Sprintf("%s.points[%d]", name, i)
		switch {
		case p.Bytes <= 0 || !(p.Factor > 0):
			return fmt.Errorf("%s: bytes is %d and factor %v: want more than 0", at, p.Bytes, p.Factor)
		case i > 0 && (p.Bytes <= c.Points[i-1].Bytes || p.Factor <= c.Points[i-1].Factor):
			return fmt.Errorf("%s: bytes is %d and factor %v: want more than those before", at, p.Bytes, p.Factor)
		case !share(p.MissRatio) || !share(p.ByteMissRatio) || !share(p.Filled) || !(p.Error >= 0):
			return fmt.Errorf("%s: miss_ratio is %v, byte_miss_ratio %v, filled %v, error %v: want 0 to 1", at, p.MissRatio, p.ByteMissRatio, p.Filled, p.Error)
		case !(p.Loads >= 0) || !(p.SSDReads >= 0) || p.Life < 0:
			return fmt.Errorf("%s: loads_per_second is %v, ssd_reads_per_second %v, life_ns %d: want 0 or more", at, p.Loads, p.SSDReads, p.Life)
		}
	}
	if !(c.Reads >= 0) || c.Window < 0 {
		return fmt.Errorf("%s: reads is %v and window_ns %d: want 0 or more", name, c.Reads, c.Window)
	}
	return nil
}

func share(x float64) bool { return x >= 0 && x <= 1 }

package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/firncache/firn"
)

// form reads a field's text into the field. Its errors give the text
// and the texts allowed.
type form func(text string, into reflect.Value) error

// parseSize takes bytes, or a number with a unit.
func parseSize(text string, into reflect.Value) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if last := len(text) - 1; last < 0 || text[last] == '.' || text[last] >= '0' && text[last] <= '9' {
			return notA("size", text, "a whole number of bytes, or one with a unit such as 64MiB or 2GB")
		}
		u, err := humanize.ParseBytes(text)
		if err != nil || u > math.MaxInt64 {
			return notA("size", text, "a number with a unit such as 64MiB or 2GB, below 8 EiB")
		}
		n = int64(u)
	}
	if into.OverflowInt(n) {
		return notA("size", text, "one of "+strconv.Itoa(into.Type().Bits())+" bits")
	}
	into.SetInt(n)
	return nil
}

// parseMemory is parseSize, and takes a part of the process's limit of memory: 40%.
func parseMemory(text string, into reflect.Value) error {
	part, ok := strings.CutSuffix(text, "%")
	if !ok {
		return parseSize(text, into)
	}
	percent, err := strconv.ParseFloat(part, 64)
	switch limit := firn.MemoryLimit(); {
	case err != nil || !(percent > 0 && percent <= 100):
		return notA("part of the memory", text, "a number above 0 and up to 100 before the %")
	case limit == 0:
		return fmt.Errorf("%q: this system names no limit of memory: want a size such as 64MiB", text)
	default:
		into.SetInt(int64(percent / 100 * float64(limit)))
		return nil
	}
}

// forever is the text of firn.Forever.
const forever = "forever"

func parseDuration(text string, into reflect.Value) error {
	if text == forever {
		into.SetInt(int64(firn.Forever))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return notA("duration", text, "a number with a unit such as 300ms, 5m or 2h30m")
	}
	into.SetInt(int64(d))
	return nil
}

func parseInt(text string, into reflect.Value) error {
	n, err := strconv.ParseInt(text, 10, into.Type().Bits())
	if err != nil {
		return notA("number", text, "a whole one of "+strconv.Itoa(into.Type().Bits())+" bits")
	}
	into.SetInt(n)
	return nil
}

func parseUint(text string, into reflect.Value) error {
	n, err := strconv.ParseUint(text, 10, into.Type().Bits())
	if err != nil {
		return notA("number", text, "a whole one from 0, of "+strconv.Itoa(into.Type().Bits())+" bits")
	}
	into.SetUint(n)
	return nil
}

func parseFloat(text string, into reflect.Value) error {
	x, err := strconv.ParseFloat(text, into.Type().Bits())
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return notA("number", text, "one such as 0.25")
	}
	into.SetFloat(x)
	return nil
}

func parseBool(text string, into reflect.Value) error {
	if text != "true" && text != "false" {
		return notA("switch", text, "true or false")
	}
	into.SetBool(text == "true")
	return nil
}

func parseString(text string, into reflect.Value) error {
	into.SetString(text)
	return nil
}

// parseList takes texts with commas in between.
func parseList(text string, into reflect.Value) error {
	list := reflect.MakeSlice(into.Type(), 0, 0)
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = reflect.Append(list, reflect.ValueOf(part))
		}
	}
	into.Set(list)
	return nil
}

// parseText lets the type read itself.
func parseText(text string, into reflect.Value) error {
	return into.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
}

func notA(what, text, want string) error {
	return fmt.Errorf("%q is no %s: want %s", text, what, want)
}

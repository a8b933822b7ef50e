package main

import (
	"bytes"
	"errors"
	"log"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if served, err := serve(); err != nil {
		log.Fatal(err)
	} else if served {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The story is told to its end: run fails if an answer is older than the bound.
func TestFleet(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), &out, "")
	t.Logf("%s", &out)
	switch {
	case errors.Is(err, errNoServer) && os.Getenv("FIRN_REQUIRE_SERVER") != "1":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	for _, want := range []string{"1000 times: map[RAM:1000], 0 requests to the server", "A: tea costs 410 cents now, it was 400", "C: 410 cents, from price list", "no answer of C was older than 1s", "and of changes: 500 cents"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not said", want)
		}
	}
}

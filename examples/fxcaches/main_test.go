package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
	"go.uber.org/fx/fxtest"
)

func Example() {
	main()
	// Output: good morning, ann
}

// The container gives each name its own cache, and closes both.
func TestLifecycle(t *testing.T) {
	var site *Site
	app := fxtest.New(t, fx.Provide(readOptions, NewSite), Named("sessions"), Named("pages"), fx.Populate(&site))
	app.RequireStart()
	if s, p := site.sessions.Stats().RAM.Bytes, site.pages.Stats().RAM.Bytes; s != 8<<20 || p != 32<<20 {
		t.Errorf("%d and %d bytes of RAM, want those of firn.yaml", s, p)
	}
	if err := site.LogIn("s1", "ann"); err != nil {
		t.Fatal(err)
	}
	if user, ok := site.User("s1"); user != "ann" || !ok || site.pages.Len() != 0 {
		t.Errorf("user %q, %v, and %d pages", user, ok, site.pages.Len())
	}
	app.RequireStop()
	for _, c := range []*firn.Cache{site.sessions, site.pages} {
		if err := c.Set([]byte("k"), nil); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("Set after the stop: %v, want ErrClosed", err)
		}
	}
}

// A name that the file does not have stops the program before it starts.
func TestUnknownName(t *testing.T) {
	type needed struct {
		fx.In
		Cache *firn.Cache `name:"thumbnails"`
	}
	app := fx.New(fx.Provide(readOptions), Named("thumbnails"), fx.Invoke(func(needed) {}),
		fx.WithLogger(func() fxevent.Logger { return fxevent.NopLogger }))
	if err := app.Err(); err == nil || !strings.Contains(err.Error(), `there is no cache "thumbnails": there are pages, sessions`) {
		t.Errorf("%v", err)
	}
}

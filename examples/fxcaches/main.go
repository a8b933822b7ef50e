// Command fxcaches wires two named caches through go.uber.org/fx: the container
// opens each when something asks for it by name, and closes it when the program
// stops.
package main

import (
	_ "embed"
	"fmt"

	"github.com/firncache/firn"
	"github.com/firncache/firn/config"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
)

//go:embed firn.yaml
var options []byte

func readOptions() (config.Caches, error) {
	return config.Source{Path: "firn.yaml", Data: options, EnvPrefix: "SITE"}.Load()
}

// Named provides the cache of a name. Ask for it with the tag name:"...".
func Named(name string) fx.Option {
	open := func(lifecycle fx.Lifecycle, caches config.Caches) (*firn.Cache, error) {
		cache, err := caches.Open(name)
		if err != nil {
			return nil, err
		}
		lifecycle.Append(fx.StopHook(cache.Close))
		return cache, nil
	}
	return fx.Provide(fx.Annotate(open, fx.ResultTags(fmt.Sprintf("name:%q", name))))
}

// Needed are the parts of a site.
type Needed struct {
	fx.In

	Sessions *firn.Cache `name:"sessions"`
	Pages    *firn.Cache `name:"pages"`
}

// Site is a part of the program that uses the caches.
type Site struct {
	sessions, pages *firn.Cache
}

// NewSite makes a site that keeps sessions and pages in their caches.
func NewSite(n Needed) *Site { return &Site{n.Sessions, n.Pages} }

// LogIn remembers who a session belongs to.
func (s *Site) LogIn(session, user string) error {
	return s.sessions.Set([]byte(session), []byte(user))
}

// User is whom a session belongs to.
func (s *Site) User(session string) (string, bool) {
	user, ok := s.sessions.Get(nil, []byte(session))
	return string(user), ok
}

// Module is the program.
func Module() fx.Option {
	return fx.Options(
		fx.Provide(readOptions, NewSite),
		Named("sessions"),
		Named("pages"),
		fx.Invoke(greet),
	)
}

func greet(lifecycle fx.Lifecycle, stop fx.Shutdowner, site *Site) {
	lifecycle.Append(fx.StartHook(func() error {
		if err := site.LogIn("s1", "ann"); err != nil {
			return err
		}
		user, _ := site.User("s1")
		fmt.Println("good morning,", user)
		return stop.Shutdown()
	}))
}

func main() {
	fx.New(Module(), fx.WithLogger(func() fxevent.Logger { return fxevent.NopLogger })).Run()
}

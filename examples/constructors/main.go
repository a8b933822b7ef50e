// Command constructors wires two named caches by hand: the options come from a
// file, each part of the program is given the cache that it needs, and what was
// opened is closed in the end.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"log"

	"github.com/firncache/firn"
	"github.com/firncache/firn/config"
)

//go:embed firn.yaml
var options []byte

// Caches are the program's caches.
type Caches struct {
	Sessions *firn.Cache
	Pages    *firn.Cache
}

// OpenCaches opens both, or none.
func OpenCaches(options config.Caches) (*Caches, error) {
	sessions, err := options.Open("sessions")
	if err != nil {
		return nil, err
	}
	pages, err := options.Open("pages")
	if err != nil {
		return nil, errors.Join(err, sessions.Close())
	}
	return &Caches{sessions, pages}, nil
}

// Close closes both.
func (c *Caches) Close() error { return errors.Join(c.Pages.Close(), c.Sessions.Close()) }

// Site is a part of the program that uses the caches.
type Site struct {
	sessions, pages *firn.Cache
}

// NewSite makes a site that keeps sessions and pages in the caches given.
func NewSite(sessions, pages *firn.Cache) *Site { return &Site{sessions, pages} }

// LogIn remembers who a session belongs to.
func (s *Site) LogIn(session, user string) error {
	return s.sessions.Set([]byte(session), []byte(user))
}

// Page greets the user of a session.
func (s *Site) Page(session string) (string, error) {
	if page, ok := s.pages.Get(nil, []byte(session)); ok {
		return string(page), nil
	}
	user, ok := s.sessions.Get(nil, []byte(session))
	if !ok {
		return "please log in", nil
	}
	page := fmt.Sprintf("good morning, %s", user)
	return page, s.pages.Set([]byte(session), []byte(page))
}

func run() (err error) {
	options, err := config.Source{Path: "firn.yaml", Data: options, EnvPrefix: "SITE"}.Load()
	if err != nil {
		return err
	}
	caches, err := OpenCaches(options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, caches.Close()) }()

	site := NewSite(caches.Sessions, caches.Pages)
	if err := site.LogIn("s1", "ann"); err != nil {
		return err
	}
	for _, session := range []string{"s1", "s2"} {
		page, err := site.Page(session)
		if err != nil {
			return err
		}
		fmt.Println(page)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

package shared

import (
	"context"
	"time"

	"github.com/redis/rueidis"
)

// Other is another process, as the stores see it: it changes what they may have copies of.
type Other struct {
	c      rueidis.Client
	addr   string
	second *Store // another cache of firn, which writes as firn does; nil until it is needed
}

func newOther(addr string) (*Other, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		return nil, err
	}
	return &Other{c: c, addr: addr}, nil
}

// cache is its cache of firn. It listens to the feed as long as it is there.
func (o *Other) cache() (*firnSession, error) {
	if o.second == nil {
		var err error
		if o.second, err = openFirn(o.addr); err != nil {
			return nil, err
		}
	}
	return o.second.Session().(*firnSession), nil
}

// Close closes its connections.
func (o *Other) Close() {
	if o.second != nil {
		o.second.Close()
	}
	o.c.Close()
}

// chunk is how many commands are sent at once.
const chunk = 1000

// rewrite stores values again, and gives the news the time to arrive.
func (o *Other) rewrite(ctx context.Context, s *Store, keys []Key, value []byte) error {
	defer time.Sleep(arrival)
	switch session := s.Session().(type) {
	case *firnSession:
		c, err := o.cache()
		if err != nil {
			return err
		}
		return each(keys, func(part []Key) error { return c.SetMulti(ctx, part, value) })
	case goCacheSession: // it has a format of its own
		for _, k := range keys {
			if err := session.Set(ctx, k, value); err != nil {
				return err
			}
		}
		return nil
	}
	return each(keys, func(part []Key) error { return rueidisSession{o.c}.SetMulti(ctx, part, value) })
}

// remove removes values everywhere.
func (o *Other) remove(ctx context.Context, s *Store, keys []Key) error {
	defer time.Sleep(arrival)
	switch s := s.Session().(type) {
	case *firnSession:
		return each(keys, func(part []Key) error {
			s.take(part, nil)
			return s.c.DeleteMulti(ctx, s.keys...)
		})
	case goCacheSession:
		for _, k := range keys {
			s.cache.DeleteFromLocalCache(k.S)
		}
	}
	return each(keys, func(part []Key) error {
		return o.c.Do(ctx, o.c.B().Unlink().Key(names(part)...).Build()).Error()
	})
}

// arrival is more than enough for all invalidations.
const arrival = 20 * time.Millisecond

func each(keys []Key, do func([]Key) error) error {
	for len(keys) > 0 {
		n := min(len(keys), chunk)
		if err := do(keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

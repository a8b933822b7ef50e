package shared

import (
	"context"
	"errors"
	"log/slog"
	"time"

	gocache "github.com/go-redis/cache/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// ttl is how long all stores keep values, here and there.
const ttl = time.Hour

// Key is a key as bytes and as a string: each store takes what its API does.
type Key struct {
	B []byte
	S string
}

// Session is a store in the hand of one goroutine.
type Session interface {
	// Get reads a value, from this process's memory if it is there.
	Get(ctx context.Context, k Key) error
	// Fetch is Get of a value that another client has just written.
	Fetch(ctx context.Context, k Key) error
	// GetMulti reads some values.
	GetMulti(ctx context.Context, keys []Key) error
	Set(ctx context.Context, k Key, value []byte) error
	SetMulti(ctx context.Context, keys []Key, value []byte) error
	// Load reads a value that is missing everywhere, and stores what load returns.
	Load(ctx context.Context, k Key, load func() []byte) error
}

// Store is a cache of one process beside a server.
type Store struct {
	Name    string
	Single  bool // it has no batches
	Distant bool // it has nothing in the process: a hit takes as long as any read
	Session func() Session
	Close   func()
}

// errMissing says that a value was not there that should be.
var errMissing = errors.New("a value is missing")

// kinds make the stores, in the order of the tables.
var kinds = []struct {
	name string
	open func(addr string) (*Store, error)
}{{"firn", openFirn}, {"rueidis", openRueidis}, {"go-redis", openGoRedis}, {"go-redis/cache", openGoRedisCache}}

// Names lists the stores.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Modules are those of the stores, for their versions.
var Modules = map[string]string{
	"rueidis": "github.com/redis/rueidis", "go-redis": "github.com/redis/go-redis/v9", "go-redis/cache": "github.com/go-redis/cache/v9",
}

// open makes the store of a name.
func open(name, addr string) (*Store, error) {
	for _, k := range kinds {
		if k.name == name {
			return k.open(addr)
		}
	}
	return nil, errors.New("no store is called " + name)
}

// openFirn makes a cache of 256 MiB with a shared tier.
func openFirn(addr string) (*Store, error) {
	tier, err := remote.Open(remote.Options{Addrs: []string{addr}, Namespace: "firn", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	c, err := firn.Open(firn.Options{RAMBytes: 256 << 20, TTL: ttl, Shared: tier})
	if err != nil {
		return nil, err
	}
	return &Store{"firn", false, false, func() Session { return &firnSession{c: c} }, func() { _ = c.Close() }}, nil
}

type firnSession struct {
	c      *firn.Cache
	buf    []byte
	batch  firn.Batch
	keys   [][]byte
	values [][]byte
}

func (s *firnSession) Get(ctx context.Context, k Key) (err error) {
	s.buf, err = s.c.Lookup(ctx, s.buf[:0], k.B)
	return err
}

func (s *firnSession) Fetch(ctx context.Context, k Key) error { return s.Get(ctx, k) }

func (s *firnSession) GetMulti(ctx context.Context, keys []Key) error {
	s.take(keys, nil)
	if err := s.c.GetMulti(ctx, &s.batch, s.keys); err != nil {
		return err
	}
	for i := range keys {
		if _, ok := s.batch.Value(i); !ok {
			return errMissing
		}
	}
	return nil
}

func (s *firnSession) take(keys []Key, value []byte) {
	s.keys, s.values = s.keys[:0], s.values[:0]
	for _, k := range keys {
		s.keys, s.values = append(s.keys, k.B), append(s.values, value)
	}
}

func (s *firnSession) Set(ctx context.Context, k Key, value []byte) error {
	return s.c.SetWith(ctx, k.B, value, firn.SetOptions{})
}

func (s *firnSession) SetMulti(ctx context.Context, keys []Key, value []byte) error {
	s.take(keys, value)
	return s.c.SetMulti(ctx, s.keys, s.values)
}

func (s *firnSession) Load(ctx context.Context, k Key, load func() []byte) (err error) {
	s.buf, err = s.c.GetOrLoad(ctx, s.buf[:0], k.B, func(context.Context, []byte) ([]byte, error) { return load(), nil })
	return err
}

// openRueidis makes a client with client-side caching, which its DoCache uses, of 256 MiB.
func openRueidis(addr string) (*Store, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, CacheSizeEachConn: 256 << 20})
	if err != nil {
		return nil, err
	}
	return &Store{"rueidis", false, false, func() Session { return rueidisSession{c} }, c.Close}, nil
}

type rueidisSession struct{ c rueidis.Client }

func (s rueidisSession) Get(ctx context.Context, k Key) error {
	_, err := s.c.DoCache(ctx, s.c.B().Get().Key(k.S).Cache(), ttl).AsBytes()
	return err
}

func (s rueidisSession) Fetch(ctx context.Context, k Key) error { return s.Get(ctx, k) }

func (s rueidisSession) GetMulti(ctx context.Context, keys []Key) error {
	found, err := rueidis.MGetCache(s.c, ctx, ttl, names(keys))
	if err == nil && len(found) != len(keys) {
		err = errMissing
	}
	return err
}

func (s rueidisSession) Set(ctx context.Context, k Key, value []byte) error {
	return s.c.Do(ctx, s.c.B().Set().Key(k.S).Value(rueidis.BinaryString(value)).Px(ttl).Build()).Error()
}

func (s rueidisSession) SetMulti(ctx context.Context, keys []Key, value []byte) error {
	cmds := make(rueidis.Commands, len(keys))
	for i, k := range keys {
		cmds[i] = s.c.B().Set().Key(k.S).Value(rueidis.BinaryString(value)).Px(ttl).Build()
	}
	for _, r := range s.c.DoMulti(ctx, cmds...) {
		if err := r.Error(); err != nil {
			return err
		}
	}
	return nil
}

func (s rueidisSession) Load(ctx context.Context, k Key, load func() []byte) error {
	err := s.Get(ctx, k)
	if rueidis.IsRedisNil(err) {
		return s.Set(ctx, k, load())
	}
	return err
}

// openGoRedis makes a client without a cache.
func openGoRedis(addr string) (*Store, error) {
	c := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 64})
	return &Store{"go-redis", false, true, func() Session { return goRedisSession{c} }, func() { _ = c.Close() }}, nil
}

type goRedisSession struct{ c *redis.Client }

func (s goRedisSession) Get(ctx context.Context, k Key) error {
	_, err := s.c.Get(ctx, k.S).Bytes()
	return err
}

func (s goRedisSession) Fetch(ctx context.Context, k Key) error { return s.Get(ctx, k) }

func (s goRedisSession) GetMulti(ctx context.Context, keys []Key) error {
	found, err := s.c.MGet(ctx, names(keys)...).Result()
	for _, v := range found {
		if v == nil {
			err = errMissing
		}
	}
	return err
}

func (s goRedisSession) Set(ctx context.Context, k Key, value []byte) error {
	return s.c.Set(ctx, k.S, value, ttl).Err()
}

func (s goRedisSession) SetMulti(ctx context.Context, keys []Key, value []byte) error {
	_, err := s.c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, k := range keys {
			p.Set(ctx, k.S, value, ttl)
		}
		return nil
	})
	return err
}

func (s goRedisSession) Load(ctx context.Context, k Key, load func() []byte) error {
	err := s.Get(ctx, k)
	if errors.Is(err, redis.Nil) {
		return s.Set(ctx, k, load())
	}
	return err
}

// openGoRedisCache makes go-redis' cache, with its TinyLFU of 100,000 entries in the
// process. It hears of no other process's writes; it has no batches.
func openGoRedisCache(addr string) (*Store, error) {
	c := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 64})
	cache := gocache.New(&gocache.Options{Redis: c, LocalCache: gocache.NewTinyLFU(100_000, ttl)})
	return &Store{"go-redis/cache", true, false, func() Session { return goCacheSession{goRedisSession{c}, cache} }, func() { _ = c.Close() }}, nil
}

type goCacheSession struct {
	goRedisSession
	cache *gocache.Cache
}

func (s goCacheSession) Get(ctx context.Context, k Key) error {
	var v []byte
	return s.cache.Get(ctx, k.S, &v)
}

// Fetch passes the copy in the process, of which nothing says that it is old.
func (s goCacheSession) Fetch(ctx context.Context, k Key) error {
	var v []byte
	return s.cache.GetSkippingLocalCache(ctx, k.S, &v)
}

func (s goCacheSession) Set(ctx context.Context, k Key, value []byte) error {
	return s.cache.Set(&gocache.Item{Ctx: ctx, Key: k.S, Value: value, TTL: ttl})
}

func (s goCacheSession) Load(ctx context.Context, k Key, load func() []byte) error {
	var v []byte
	return s.cache.Once(&gocache.Item{Ctx: ctx, Key: k.S, Value: &v, TTL: ttl, Do: func(*gocache.Item) (any, error) { return load(), nil }})
}

// names are the keys as strings.
func names(keys []Key) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.S
	}
	return list
}

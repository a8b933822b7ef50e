package migration

import (
	"context"
	"github.com/VictoriaMetrics/fastcache"
	"github.com/firncache/firn"
)

func usingFastcache(note noter, file string) error {
	key, value, absent, kept := []byte("key"), []byte("value"), []byte("absent"), []byte("kept")
	large := make([]byte, 100<<10)

	c := fastcache.New(64 << 20)
	c.Set(key, value)
	note("get", string(c.Get(nil, key)))
	buf, ok := c.HasGet(nil, key)
	note("get and know", string(buf), ok)
	buf, ok = c.HasGet(buf[:0], absent)
	note("miss", string(buf), ok)
	note("has", c.Has(key), c.Has(absent))

	c.SetBig(key, large)
	note("large", len(c.GetBig(nil, key)))

	c.Del(key)
	note("deleted", c.Has(key))

	var s fastcache.Stats
	c.UpdateStats(&s)
	note("statistics", s.Misses > 0, s.MaxBytesSize > 0)

	c.Set(kept, value)
	if err := c.SaveToFile(file); err != nil {
		return err
	}
	if err := c.SaveToFileConcurrent(file, 2); err != nil {
		return err
	}
	c = fastcache.LoadFromFileOrNew(file, 64<<20)
	note("kept", c.Has(absent), c.Has(kept))
	c.Reset()
	note("empty", c.Has(kept))
	return nil
}

func insteadOfFastcache(note noter, dir string) error {
	key, value, absent, kept := []byte("key"), []byte("value"), []byte("absent"), []byte("kept")
	large := make([]byte, 100<<10)

	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Set(key, value); err != nil {
		return err
	}
	buf, ok := c.Get(nil, key)
	note("get", string(buf))
	note("get and know", string(buf), ok)
	buf, ok = c.Get(buf[:0], absent)
	note("miss", string(buf), ok)
	note("has", c.Has(key), c.Has(absent))

	if err := c.Set(key, large); err != nil {
		return err
	}
	buf, _ = c.Get(nil, key)
	note("large", len(buf))

	if err := c.Delete(key); err != nil {
		return err
	}
	note("deleted", c.Has(key))

	s := c.Stats()
	note("statistics", s.Misses > 0, s.RAM.Bytes > 0)

	if err := insteadOfSaving(note, dir, kept, value); err != nil {
		return err
	}
	if err := c.Clear(context.Background()); err != nil {
		return err
	}
	note("empty", c.Has(kept))
	return nil
}

// insteadOfSaving keeps a cache in a directory: what is in RAM when it is closed
// is written, too, if admission lets it.
func insteadOfSaving(note noter, dir string, kept, value []byte) error {
	opts := firn.Options{
		RAMBytes: 64 << 20,
		SSD:      firn.SSDOptions{Dir: dir, Bytes: 128 << 20, Admission: firn.AdmitAll},
	}
	c, err := firn.Open(opts)
	if err != nil {
		return err
	}
	if err := c.Set(kept, value); err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	if c, err = firn.Open(opts); err != nil {
		return err
	}
	note("kept", false, c.Has(kept))
	return c.Close()
}

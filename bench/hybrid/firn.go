package hybrid

import (
	"github.com/firncache/firn"
)

var firnEngine = Engine{
	Name: Firn, Setup: "RAMBytes 3/4 of the memory, SSD.Bytes 2 × the data, at most 6 GiB more than it, AdmitAll, otherwise defaults",
	Open: openFirn,
}

type firnStore struct{ c *firn.Cache }

func openFirn(c Config) (Store, error) {
	memory := c.Memory
	if c.Least > 0 { // the files are laid out for the memory that there is, and kept for as much
		memory = min(memory, c.Least)
	}
	direct := firn.DirectAuto
	if c.PageCache {
		direct = firn.DirectOff
	}
	cache, err := firn.Open(firn.Options{
		RAMBytes: memory * 3 / 4,
		SSD: firn.SSDOptions{
			Dir: c.Dir, Bytes: max(c.DataBytes+min(c.DataBytes, 6<<30), 64<<20),
			Admission: firn.AdmitAll, DirectIO: direct,
		},
	})
	if err != nil {
		return nil, err
	}
	return firnStore{cache}, nil
}

func (s firnStore) Get(dst, key []byte) ([]byte, bool, error) {
	v, ok := s.c.Get(dst, key)
	return v, ok, nil
}

func (s firnStore) Set(key, value []byte) error { return s.c.Set(key, value) }

func (s firnStore) Load(n int, pair func(int) ([]byte, []byte)) error {
	for i := range n {
		key, value := pair(i)
		if err := s.c.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (s firnStore) Flush() error { return nil }
func (s firnStore) Close() error { return s.c.Close() }

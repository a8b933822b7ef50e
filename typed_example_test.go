package firn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/firncache/firn"
)

// One cache of one type.
func ExampleNew() {
	names, err := firn.New[int64, string](64 << 20)
	if err != nil {
		log.Fatal(err)
	}
	if err := names.Set(7, "Ada"); err != nil {
		log.Fatal(err)
	}
	name, ok := names.Get(7)
	fmt.Println(name, ok)
	// Output: Ada true
}

func ExampleNewTyped() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()

	type User struct {
		Name  string
		Email string
	}
	users, err := firn.NewTyped(c, "users", firn.TypedOptions[int64, User]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := users.Set(7, User{"Ada", "ada@example.org"}); err != nil {
		log.Fatal(err)
	}
	u, ok := users.Get(7)
	fmt.Println(u.Name, ok)
	_, err = users.Lookup(context.Background(), 8)
	fmt.Println(errors.Is(err, firn.ErrNotFound))
	// Output:
	// Ada true
	// true
}

// A row is loaded once, however many callers wait for it, and then found. That there is
// none is remembered for NegativeTTL.
func ExampleTyped_GetOrLoad() {
	c := openCache(firn.Options{RAMBytes: 1 << 20, TTL: time.Hour, Loading: firn.LoadingOptions{NegativeTTL: time.Minute}})
	defer c.Close()
	users, err := firn.NewTyped(c, "users", firn.TypedOptions[int64, string]{})
	if err != nil {
		log.Fatal(err)
	}
	load := func(ctx context.Context, id int64) (string, error) {
		fmt.Println("SELECT name FROM users WHERE id =", id)
		if id != 7 {
			return "", firn.ErrNotFound
		}
		return "Ada", nil
	}
	for _, id := range []int64{7, 7, 8, 8} {
		name, err := users.GetOrLoad(context.Background(), id, load)
		fmt.Printf("%q %v\n", name, err)
	}
	// Output:
	// SELECT name FROM users WHERE id = 7
	// "Ada" <nil>
	// "Ada" <nil>
	// SELECT name FROM users WHERE id = 8
	// "" firn: not found
	// "" firn: not found
}

func ExampleTypedOptions_onEvict() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	sessions, err := firn.NewTyped(c, "sessions", firn.TypedOptions[int, string]{
		OnEvict: func(id int, user string, cause firn.Cause) {
			fmt.Printf("session %d of %s: %v\n", id, user, cause)
		},
		OnEvictCauses: []firn.Cause{firn.CauseCapacity, firn.CauseExpired, firn.CauseDeleted}, // not CauseReplaced
	})
	if err != nil {
		log.Fatal(err)
	}
	sessions.Set(7, "Ada")
	sessions.Set(7, "Ada Lovelace")
	sessions.Delete(7)
	// Output: session 7 of Ada Lovelace: deleted
}

func ExampleTypedOptions_maxBytes() {
	c := openCache(firn.Options{RAMBytes: 4 << 20})
	defer c.Close()
	rows, err := firn.NewTyped(c, "rows", firn.TypedOptions[int, string]{})
	if err != nil {
		log.Fatal(err)
	}
	searches, err := firn.NewTyped(c, "searches", firn.TypedOptions[int, string]{MaxBytes: 256 << 10})
	if err != nil {
		log.Fatal(err)
	}
	rows.Set(1, "a row")
	for i := range 100_000 { // a crawler
		searches.Set(i, "a result that nobody reads again")
	}
	s := searches.Stats()
	fmt.Println(rows.Has(1), s.Bytes <= s.MaxBytes, s.QuotaEvictions > 0, c.Stats().Evictions)
	// Output: true true true 0
}

func ExampleTyped_Clear() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	prices, err := firn.NewTyped(c, "prices", firn.TypedOptions[string, float64]{})
	if err != nil {
		log.Fatal(err)
	}
	names, err := firn.NewTyped(c, "names", firn.TypedOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	prices.Set("skis", 499)
	names.Set("skis", "Ski")
	if err := prices.Clear(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(prices.Has("skis"), names.Has("skis"))
	// Output: false true
}

func ExampleTyped_GetMulti() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	heights, err := firn.NewTyped(c, "heights", firn.TypedOptions[string, int]{})
	if err != nil {
		log.Fatal(err)
	}
	heights.Set("Ortler", 3905)
	heights.Set("Zugspitze", 2962)

	var batch firn.TypedBatch[int] // to be used again and again
	mountains := []string{"Ortler", "Brocken", "Zugspitze"}
	heights.GetMulti(context.Background(), &batch, mountains)
	for i, name := range mountains {
		if h, ok := batch.Value(i); ok {
			fmt.Printf("%s %d; ", name, h)
		}
	}
	// Output: Ortler 3905; Zugspitze 2962;
}

// page is what the example caches of a response.
type page struct{ ETag, Body string }

// A page that has expired is asked for with its ETag: if the server answers 304, the body
// is not sent again, and the page lives on.
func ExampleTyped_CachedValue() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			fmt.Println("304: not modified")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Println("200: the whole page")
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	c := openCache(firn.Options{RAMBytes: 1 << 20, TTL: time.Minute})
	defer c.Close()
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[string, page]{})
	if err != nil {
		log.Fatal(err)
	}
	fetch := func(ctx context.Context, url string) (page, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return page{}, err
		}
		if old, ok := pages.CachedValue(ctx); ok {
			request.Header.Set("If-None-Match", old.ETag)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return page{}, err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotModified {
			return page{}, firn.ErrNotModified
		}
		body, err := io.ReadAll(response.Body)
		return page{response.Header.Get("ETag"), string(body)}, err
	}
	for range 2 { // as GetOrLoad does when a page has expired, with StaleIfError or StaleWhileRevalidate
		p, err := pages.Refresh(context.Background(), server.URL, fetch)
		fmt.Println(p.Body, err)
	}
	// Output:
	// 200: the whole page
	// hello <nil>
	// 304: not modified
	// hello <nil>
}

func ExampleTypedOptions_structKeys() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()

	type Tile struct {
		Layer string
		Zoom  uint8
		X, Y  int32
	}
	tiles, err := firn.NewTyped(c, "tiles", firn.TypedOptions[Tile, []byte]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := tiles.Set(Tile{"roads", 12, 2200, 1343}, []byte("PNG")); err != nil {
		log.Fatal(err)
	}
	for tile, image := range tiles.All() {
		fmt.Printf("%+v %s\n", tile, image)
	}
	// Output: {Layer:roads Zoom:12 X:2200 Y:1343} PNG
}

// A page shows a product among others of its category: it is made anew when either
// changes.
func ExampleTyped_InvalidateTag() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	price := 499
	render := func(ctx context.Context, path string) (string, error) {
		if err := firn.SetLoadTags(ctx, "product:42", "category:7"); err != nil {
			return "", err
		}
		return fmt.Sprintf("skis for %d", price), nil
	}
	show := func() {
		page, err := pages.GetOrLoad(context.Background(), "/products/42", render)
		fmt.Println(page, err)
	}
	show()
	price = 399 // first the source,
	show()
	if err := pages.InvalidateTag(context.Background(), "product:42"); err != nil { // then the tag
		log.Fatal(err)
	}
	show()
	// Output:
	// skis for 499 <nil>
	// skis for 499 <nil>
	// skis for 399 <nil>
}

func ExampleTyped_SetWith() {
	c := openCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	names, err := firn.NewTyped(c, "names", firn.TypedOptions[int, string]{})
	if err != nil {
		log.Fatal(err)
	}
	for id, name := range map[int]string{1: "Ada", 2: "Grace"} {
		if err := names.SetWith(context.Background(), id, name, firn.SetOptions{Tags: []string{"tenant:acme"}}); err != nil {
			log.Fatal(err)
		}
	}
	names.Set(3, "Edsger")
	if err := names.InvalidateTag(context.Background(), "tenant:acme"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(names.Has(1), names.Has(2), names.Has(3))
	// Output: false false true
}

// A namespace for each tenant: made when it is needed, closed or forgotten when it is
// not, emptied at once.
func ExampleTyped_Close() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	for _, tenant := range []string{"red", "blue", "red"} {
		pages, err := firn.NewTyped(cache, "pages of "+tenant, firn.TypedOptions[string, string]{})
		if err != nil {
			log.Fatal(err)
		}
		if page, ok := pages.Get("/"); ok {
			fmt.Printf("%s has %q\n", tenant, page)
		}
		if err := pages.Set("/", "welcome, "+tenant); err != nil {
			log.Fatal(err)
		}
		if err := pages.Close(); err != nil { // the entries stay
			log.Fatal(err)
		}
	}
	// Output: red has "welcome, red"
}

func ExampleTyped_SetMulti() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	squares, err := firn.NewTyped(cache, "squares", firn.TypedOptions[int, int]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := squares.SetMulti(context.Background(), []int{2, 3, 4}, []int{4, 9, 16}); err != nil {
		log.Fatal(err)
	}
	if err := squares.DeleteMulti(context.Background(), []int{3}...); err != nil {
		log.Fatal(err)
	}
	var found firn.TypedBatch[int]
	squares.GetMulti(context.Background(), &found, []int{2, 3, 4})
	for i := range found.Len() {
		fmt.Println(found.Value(i))
	}
	s := squares.Stats()
	fmt.Println(squares.Len(), "entries,", s.Hits, "hits,", s.Misses, "miss")
	// Output:
	// 4 true
	// 0 false
	// 16 true
	// 2 entries, 2 hits, 1 miss
}

func openCache(opts firn.Options) *firn.Cache {
	c, err := firn.Open(opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// A page that has changed is made anew, and where that fails the old one is better than none.
func ExampleTyped_ExpireTag() {
	c := openCache(firn.Options{RAMBytes: 1 << 20, Loading: firn.LoadingOptions{StaleIfError: time.Hour}})
	defer c.Close()
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	page := "skis for 499"
	render := func(ctx context.Context, path string) (string, error) {
		if page == "" {
			return "", errors.New("the database is down")
		}
		return page, firn.SetLoadTags(ctx, "product:42")
	}
	show := func() {
		page, err := pages.GetOrLoad(context.Background(), "/products/42", render)
		fmt.Println(page, err)
	}
	show()
	page = ""
	if err := pages.ExpireTag(context.Background(), "product:42"); err != nil {
		log.Fatal(err)
	}
	show()
	_, ok := pages.Get("/products/42")
	fmt.Println("fresh:", ok)
	// Output:
	// skis for 499 <nil>
	// skis for 499 <nil>
	// fresh: false
}

package firn_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/firncache/firn"
)

func ExampleNewTyped() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
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

func ExampleTypedOptions_onEvict() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
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

func ExampleTyped_Clear() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
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
	if err := prices.Clear(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(prices.Has("skis"), names.Has("skis"))
	// Output: false true
}

func ExampleTyped_GetMulti() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	heights, err := firn.NewTyped(c, "heights", firn.TypedOptions[string, int]{})
	if err != nil {
		log.Fatal(err)
	}
	heights.Set("Ortler", 3905)
	heights.Set("Zugspitze", 2962)

	var batch firn.TypedBatch[int] // to be used again and again
	mountains := []string{"Ortler", "Brocken", "Zugspitze"}
	heights.GetMulti(&batch, mountains)
	for i, name := range mountains {
		if h, ok := batch.Value(i); ok {
			fmt.Printf("%s %d; ", name, h)
		}
	}
	// Output: Ortler 3905; Zugspitze 2962;
}

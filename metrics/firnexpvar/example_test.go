package firnexpvar_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"log"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnexpvar"
)

func ExampleVar() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	cache.Set([]byte("glacier"), []byte("ice"))

	expvar.Publish("sessions", firnexpvar.Var(cache)) // at /debug/vars from now on

	var figures struct{ Sets, Entries int }
	if err := json.Unmarshal([]byte(expvar.Get("sessions").String()), &figures); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", figures)
	// Output: {Sets:1 Entries:1}
}

package firnprometheus_test

import (
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnprometheus"
)

func ExampleNewCollector() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	cache.Set([]byte("glacier"), []byte("ice"))

	registry := prometheus.NewRegistry() // or prometheus.MustRegister
	registry.MustRegister(firnprometheus.NewCollector("sessions", cache))

	families, err := registry.Gather() // what promhttp.Handler serves
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "firn_sets_total" {
			sample := family.GetMetric()[0]
			fmt.Println(sample.GetLabel()[0].GetValue(), sample.GetCounter().GetValue())
		}
	}
	// Output: sessions 1
}

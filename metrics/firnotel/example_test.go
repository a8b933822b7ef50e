package firnotel_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnotel"
)

func ExampleRegister() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	cache.Set([]byte("glacier"), []byte("ice"))

	reader := metric.NewManualReader() // yours: a PeriodicReader with an exporter
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := firnotel.Register(provider, "sessions", cache)
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()

	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name == "firn.sets" {
			fmt.Println(m.Data.(metricdata.Sum[float64]).DataPoints[0].Value)
		}
	}
	// Output: 1
}

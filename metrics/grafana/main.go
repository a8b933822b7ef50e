// Command grafana writes an example dashboard for Grafana, made from
// stats.Metrics as package firnprometheus names them:
//
//	go run . >dashboard.json
//
// Import dashboard.json in Grafana, and choose a Prometheus data source and the
// jobs, instances and caches to look at. alerts.yml has rules for Prometheus.
package main

//go:generate sh -c "go run . >dashboard.json.new && mv dashboard.json.new dashboard.json"

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/firncache/firn/stats"
)

func main() {
	data, err := render()
	if err != nil {
		fmt.Fprintln(os.Stderr, "grafana:", err)
		os.Exit(1)
	}
	os.Stdout.Write(data)
}

// render is the dashboard as JSON.
func render() ([]byte, error) {
	d, err := build(rows, stats.Metrics())
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(d, "", "  ")
	return append(data, '\n'), err
}

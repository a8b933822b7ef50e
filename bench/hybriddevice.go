package main

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/samples"
)

// hybridRawBytes is the size of the file that the device is measured with.
func (j job) hybridRawBytes() int64 { return min(j.hybridData(), 2<<30) }

func hybridDeviceWeight(j job) float64 {
	return float64(j.hybridRawBytes())/300e6 + float64(len(hybridInFlight)*j.hybridRepeats())*j.hybridSlice().Seconds()
}

// runHybridDevice measures the disk itself.
func runHybridDevice(j job, out *emitter) (err error) {
	dir, err := freshStore(j, "raw")
	if err != nil {
		return err
	}
	raw, err := hybrid.OpenRaw(dir, j.hybridRawBytes())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	for _, inFlight := range hybridInFlight {
		var group []samples.Sample
		for repeat := range j.hybridRepeats() {
			ops, took, err := raw.Read(inFlight, j.hybridSlice(), uint64(repeat))
			if err != nil {
				return err
			}
			group = append(group, j.hybridSample(fmt.Sprintf("device-read/inflight=%d", inFlight), "ns/op", repeat, ops, float64(took.Nanoseconds())/float64(ops)))
		}
		out.emit(group...)
	}
	return nil
}

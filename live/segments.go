package live

import "github.com/firncache/firn/internal/inside"

// maxCells is how many cells the map of the log has at most.
const maxCells = 1024

// cells is the map of the log with at most maxCells cells, and for how many segments each of
// them stands.
func cells(segments []byte) (list []byte, perCell int) {
	if len(segments) == 0 {
		return nil, 0
	}
	perCell = (len(segments) + maxCells - 1) / maxCells
	for len(segments) > 0 {
		n := min(perCell, len(segments))
		list = append(list, cell(segments[:n]))
		segments = segments[n:]
	}
	return list, perCell
}

// cell is one for several segments: failing if one of them is; else the mean share of those
// that are full; else open if one is; else free.
func cell(segments []byte) byte {
	sum, full, state := 0, 0, byte(inside.SegmentFree)
	for _, s := range segments {
		switch s {
		case inside.SegmentFailing:
			return s
		case inside.SegmentOpen:
			state = s
		case inside.SegmentFree:
		default:
			sum, full = sum+int(s), full+1
		}
	}
	if full == 0 {
		return state
	}
	return byte((sum + full/2) / full)
}

// liveShare is the share of live bytes in the segments that are full, 0 to 1; 0 without any.
func liveShare(segments []byte) float64 {
	sum, full := 0, 0
	for _, s := range segments {
		if s <= 100 {
			sum, full = sum+int(s), full+1
		}
	}
	return float64(sum) / 100 / float64(max(full, 1))
}

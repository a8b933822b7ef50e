package firn

import "math"

// WriteBudgetDWPD is the SSDOptions.WriteBudget that uses up a drive as its data
// sheet allows: so many drive writes a day, of so many bytes. Data sheets promise
// them for the years of the warranty. What else writes to the drive is to be taken
// off.
func WriteBudgetDWPD(drivesADay float64, driveBytes int64) (bytesADay int64, err error) {
	if !(drivesADay > 0) || driveBytes <= 0 {
		return 0, badOption("SSD.WriteBudget", "is of %v drive writes a day of %d bytes: want both above 0, such as 0.3 of 1.92e12", drivesADay, driveBytes)
	}
	return writeBudget(drivesADay * float64(driveBytes))
}

// WriteBudgetTBW is the SSDOptions.WriteBudget with which a drive lasts so many
// years that may be written so many terabytes in all, of 10^12 bytes each: TBW on
// its data sheet.
func WriteBudgetTBW(terabytes, years float64) (bytesADay int64, err error) {
	if !(terabytes > 0) || !(years > 0) {
		return 0, badOption("SSD.WriteBudget", "is of %v terabytes in %v years: want both above 0, such as 600 in 5", terabytes, years)
	}
	return writeBudget(terabytes * 1e12 / (years * 365.25))
}

func writeBudget(bytesADay float64) (int64, error) {
	if !(bytesADay >= 1 && bytesADay < math.MaxInt64) {
		return 0, badOption("SSD.WriteBudget", "is %v bytes a day: want 1 to %d", bytesADay, int64(math.MaxInt64))
	}
	return int64(bytesADay), nil
}

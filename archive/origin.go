package archive

import (
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// Release is the version of the source, as in CHANGELOG.md.
const Release = "0.1.0"

// Program returns the version of the program: the version of the module or the commit it was built
// from, or else [Release].
func Program() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return Release
}

// Now returns the time in UTC by RFC 3339, to the second. The environment variable
// SOURCE_DATE_EPOCH, in seconds since 1970, takes the place of the clock, so that two runs
// write the same bytes: https://reproducible-builds.org/specs/source-date-epoch/.
func Now() string {
	at := time.Now()
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(s, 0)
	}
	return at.UTC().Format(time.RFC3339)
}

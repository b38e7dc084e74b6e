package machine

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/file/mapped"
)

// AvailableMemory returns the bytes of memory that this process can have: the least of the memory
// that the kernel reports as available, of the memory that the control groups of the process and
// their parents (version 1 and 2) leave, and of the address space that RLIMIT_AS leaves. Where
// nothing is known it returns 4 GiB.
func AvailableMemory() int64 {
	available := min(availableUnder("/"), addressSpace("/"))
	if available == math.MaxInt64 {
		return 4 << 30
	}
	return available
}

// availableUnder reads /proc and the control groups below the folder root;
// math.MaxInt64 if nothing is known.
func availableUnder(root string) int64 {
	available := int64(math.MaxInt64)
	if kib, ok := field(filepath.Join(root, "proc/meminfo"), "MemAvailable:"); ok {
		available = kib << 10
	}

	// A container sees the memory of the whole machine there, so its control groups count too.
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return available
	}
	mounts := groupMounts(root)
	for line := range strings.Lines(string(groups)) {
		// number:controllers:path; version 2 has number 0 and no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			available = min(available, mounts.left(version2, parts[2]))
		case hasWord(parts[1], "memory"):
			available = min(available, mounts.left(version1, parts[2]))
		}
	}

	return available
}

// version describes one version of control groups: its files for the limit, the memory in use, and
// the name in memory.stat of the page cache that the kernel drops when memory is short.
type version struct{ limit, usage, cache string }

var (
	version1 = version{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = version{"memory.max", "memory.current", "inactive_file"}
)

// A mount shows the control group top as a folder.
type mount struct{ top, folder string }

// mounts holds the mounts of the control groups with limits of memory.
type mounts map[version][]mount

// groupMounts reads the mounts in /proc/self/mountinfo below the folder root.
func groupMounts(root string) mounts {
	out := mounts{}
	text, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return out
	}

	for line := range strings.Lines(string(text)) {
		// id parent device top folder options [more …] - type source options
		before, after, _ := strings.Cut(line, " - ")
		head := strings.Fields(before)
		tail := strings.Fields(after)
		if len(head) < 5 || len(tail) < 1 {
			continue
		}
		m := mount{unescape(head[3]), filepath.Join(root, unescape(head[4]))}
		switch {
		case tail[0] == "cgroup2":
			out[version2] = append(out[version2], m)
		case tail[0] == "cgroup" && len(tail) > 2 && hasWord(tail[2], "memory"):
			out[version1] = append(out[version1], m)
		}
	}

	return out
}

// left returns the least memory that the group and the groups above it leave. A process in a
// container may see its own group as the top, or a path that is not mounted: then the mounted
// groups count.
func (m mounts) left(v version, group string) int64 {
	least := int64(math.MaxInt64)
	for _, at := range m[v] {
		// The group's folder below the mount is its path without the part that the mount shows as
		// the top.
		below := "/"
		if rest, ok := strings.CutPrefix(group, strings.TrimSuffix(at.top, "/")); ok &&
			(rest == "" || rest[0] == '/') {
			below = path.Clean("/" + rest)
		}
		// From the group up to the top.
		for {
			least = min(least, leftIn(filepath.Join(at.folder, below), v))
			if below == "/" {
				break
			}
			below = path.Dir(below)
		}
	}

	return least
}

// leftIn returns the memory that one group leaves: its limit less the memory in use, without the
// page cache that can be dropped.
func leftIn(folder string, v version) int64 {
	limit, err := readNumber(filepath.Join(folder, v.limit))
	if err != nil || limit > 1<<60 { // "max", or version 1 without a limit
		return math.MaxInt64
	}

	// The page cache counts as used, but the kernel drops it before it refuses memory.
	used, err := readNumber(filepath.Join(folder, v.usage))
	if err != nil {
		return limit
	}
	if cache, ok := field(filepath.Join(folder, "memory.stat"), v.cache+" "); ok {
		used -= min(used, cache)
	}
	return max(limit-used, 0)
}

// hasWord tells whether a list with commas has the word.
func hasWord(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// unescape decodes the octal escapes of mountinfo.
func unescape(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// field returns the number after a name at the beginning of a line of a file.
func field(path, name string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}

	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				v, err := strconv.ParseInt(words[0], 10, 64)
				return v, err == nil
			}
		}
	}

	return 0, false
}

func readNumber(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// largestSeen is the most of the memory without files that PeakMemory saw, in bytes.
var largestSeen atomic.Int64

// PeakMemory returns the largest resident memory that the process had so far, in bytes; 0 where the
// system does not tell. Pages of mapped files do not count, because the kernel takes them back
// where memory is short. The kernel keeps no such peak: once files are mapped, the result is the
// larger of two numbers and may be below the truth, the resident memory without files at some call
// of this function, and the peak less all mapped bytes.
func PeakMemory() int64 {
	kib, _ := field("/proc/self/status", "VmHWM:")
	peak := kib << 10
	files := mapped.Size()
	if files == 0 {
		return peak
	}
	// Several goroutines may look at once; the largest value stays.
	anonymous, _ := field("/proc/self/status", "RssAnon:")
	shared, _ := field("/proc/self/status", "RssShmem:")
	now := (anonymous + shared) << 10
	for {
		seen := largestSeen.Load()
		if now <= seen {
			return max(seen, peak-files)
		}
		largestSeen.CompareAndSwap(seen, now)
	}
}

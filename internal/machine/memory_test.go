package machine

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAvailableUnder(t *testing.T) {
	const (
		meminfo = "MemTotal: 99999999 kB\nMemAvailable:   8388608 kB\nBuffers: 1 kB\n" // 8 GiB
		mount1  = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:5 - cgroup cgroup rw,memory\n"
		mount2  = "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		none    = "9223372036854771712\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":      {nil, math.MaxInt64},
		"meminfo only": {map[string]string{"proc/meminfo": meminfo}, 8 << 30},
		"version 2": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "300000\n"}, 700000},
		"version 2, max": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "300000\n"}, 8 << 30},
		"version 2, the group above is smaller": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "500000\n", "sys/fs/cgroup/a/memory.current": "400000\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/c/memory.max": "450000\n", "sys/fs/cgroup/a/b/c/memory.current": "10\n"}, 100000},
		"version 2, page cache": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.current": "900000\n", "sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 600000\nactive_file 5\n"}, 700000},
		"version 2, in use beyond the limit": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "2000\n"}, 0},
		"version 1": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/x\n4:memory:/api/b1\n0::/\n", "proc/self/mountinfo": mount1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": none, "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
			"sys/fs/cgroup/memory/api/memory.limit_in_bytes": "4000000\n", "sys/fs/cgroup/memory/api/memory.usage_in_bytes": "1000000\n",
			"sys/fs/cgroup/memory/api/b1/memory.limit_in_bytes": none}, 3000000},
		"version 1, with other controllers": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:cpu,memory:/b\n",
			"proc/self/mountinfo":                     "35 31 0:32 / /cg\\040roups rw - cgroup cgroup rw,cpu,memory\n",
			"cg roups/b/memory.limit_in_bytes":        "4000000\n",
			"cg roups/b/memory.usage_in_bytes":        "1000000\n",
			"cg roups/b/memory.stat":                  "total_inactive_file 500000\n",
			"sys/fs/cgroup/b/memory.limit_in_bytes":   "1\n",
			"sys/fs/cgroup/mem/b/memory.usage_in_byt": "1\n"}, 3500000},
		"a container that sees its group as the top": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"proc/self/mountinfo": mount2, "sys/fs/cgroup/memory.max": "6000\n", "sys/fs/cgroup/memory.current": "1000\n"}, 5000},
		"a container's path in a mount of its group": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/abc/in\n",
			"proc/self/mountinfo":                                  "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":           "9000\n",
			"sys/fs/cgroup/memory/in/memory.limit_in_bytes":        "7000\n",
			"sys/fs/cgroup/memory/docker/memory.limit_in_bytes":    "1\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_byte": "1\n"}, 7000},
	} {
		if got := availableUnder(tree(t, c.files)); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
	if got := AvailableMemory(); got <= 0 || got > 1<<50 {
		t.Errorf("this machine has %d bytes", got)
	}
}

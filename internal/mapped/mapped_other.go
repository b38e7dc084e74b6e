//go:build !unix

package mapped

import "os"

func mapFile(*os.File, int) ([]byte, error) { return nil, ErrUnsupported }

func drop([]byte) {}

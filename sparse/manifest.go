package sparse

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// mostManifest bounds the bytes of a manifest.
const mostManifest = 64 << 20

// readText reads a manifest; nil without one.
func readText(path string) ([]byte, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, size, err := npy.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > mostManifest {
		return nil, &npy.LimitError{What: path, Need: size, Limit: mostManifest}
	}

	text := make([]byte, size)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, fmt.Errorf("%s: cannot read it: %w", path, err)
	}
	return text, nil
}

func writeText(path string, text []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadManifest returns the content of the array "manifest" of a .npz file, or of the
// manifest of a folder; nil if there is none.
func ReadManifest(path string) ([]byte, error) {
	if IsFolder(path) {
		return readText(filepath.Join(path, folderManifest))
	}
	a, err := npy.OpenArchive(path, 64<<20)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if !a.Has("manifest") {
		return nil, nil
	}
	return a.ReadBytes("manifest")
}

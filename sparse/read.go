package sparse

// Read reads a matrix from a .npz file ([ReadNPZ]) or from a folder ([ReadFolder]).
func Read(path string, limit int64) (*CSR, error) {
	if IsFolder(path) {
		return ReadFolder(path, limit)
	}
	return ReadNPZ(path, limit)
}

// Open is [Read] for those who need some of the rows: of a folder it checks the lengths of the
// arrays and reads no row, however large the matrix is. [CSR.CheckRows] must have found no fault
// in rows that are used.
func Open(path string, limit int64) (*CSR, error) {
	if IsFolder(path) {
		return openFolder(path, limit)
	}
	return ReadNPZ(path, limit)
}

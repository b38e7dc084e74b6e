#!/usr/bin/python3
"""Writes the golden files of this directory with real NumPy and SciPy.

Run from anywhere: /usr/bin/python3 testdata/make_golden.py
The output does not depend on the time or the machine. The Go tests know the
content by the same formulas; element k of an array (C order) is
    signed integers  (7k mod 11) - 3      unsigned  7k mod 11
    floats           ((7k mod 11) - 3)/2  bool      k mod 3 == 0
"""
import gzip
import io
import os
import struct
import zipfile

import numpy as np
import scipy.sparse as sp

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
os.makedirs(here, exist_ok=True)


def path(name):
    return os.path.join(here, name)


def content(dtype, shape):
    k = np.arange(int(np.prod(shape)), dtype=np.int64)
    kind = np.dtype(dtype).kind
    if kind == "b":
        v = k % 3 == 0
    elif kind == "u":
        v = 7 * k % 11
    elif kind == "i":
        v = 7 * k % 11 - 3
    else:
        v = (7 * k % 11 - 3) / 2
    return v.reshape(shape).astype(dtype)


# Every element type, both orders, both ends first.
names = {"<": "le", ">": "be", "|": "na"}
for t in ["<f2", ">f2", "<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8",
          ">f4", ">f8", ">i2", ">i4", ">i8", ">u2", ">u4", ">u8", "|i1", "|u1", "|b1"]:
    a = content(t, (4, 3))
    for order in "CF":
        np.save(path(f"{t[1:]}_{names[t[0]]}_{order}.npy"), np.asarray(a, order=order))
np.save(path("f8_3d_F.npy"), np.asfortranarray(content("<f8", (2, 3, 4))))
np.save(path("u1_images.npy"), content("|u1", (3, 2, 2)))
np.save(path("f8_1d.npy"), content("<f8", (5,)))
np.save(path("f8_0d.npy"), np.float64(2.5))
np.save(path("f8_empty.npy"), np.zeros((0, 3)))
np.save(path("f8_nan.npy"), np.array([[0, 1, 2], [3, np.nan, 5]]))
np.save(path("f4_inf.npy"), np.array([[0, 1, 2], [3, 4, -np.inf]], dtype="f4"))
for version in [(2, 0), (3, 0)]:
    with open(path(f"f8_version{version[0]}.npy"), "wb") as f:
        np.lib.format.write_array(f, content("<f8", (4, 3)), version=version)

# What is refused.
np.save(path("bad_f16.npy"), np.ones(2, dtype=np.longdouble))
np.save(path("bad_complex.npy"), np.ones(2, dtype=complex))
np.save(path("bad_object.npy"), np.array([1, None], dtype=object), allow_pickle=True)
np.save(path("bad_structured.npy"), np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save(path("bad_datetime.npy"), np.zeros(2, dtype="datetime64[D]"))
np.save(path("text.npy"), np.array(["ab", "", "ç"]))


def savez(name, compress, **arrays):
    """numpy.savez with a fixed date."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path(name), "w", method) as z:
        for key, a in arrays.items():
            buf = io.BytesIO()
            np.lib.format.write_array(buf, np.asanyarray(a))
            info = zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            z.writestr(info, buf.getvalue())


for name, compress in [("stored.npz", False), ("deflated.npz", True)]:
    savez(name, compress, X=content("|u1", (4, 3)), y=np.array([2, -1, 0, 2]),
          big=np.asfortranarray(content(">f4", (4, 3))))
savez("single.npz", True, points=content("<f4", (4, 3)))
savez("several.npz", True, a=content("<f4", (4, 3)), b=np.arange(3))

# Sparse matrices: A[i, j] as below, 4 by 5, in every form.
A = np.array([[0, 2, 0, 0, 1.5],
              [0, 0, 0, 0, 0],
              [-1, 0, 3, 0, 0],
              [0, 0, 0, 4, 0]])


def save_sparse(name, m, text="bytes", index=None, compress=True):
    """scipy.sparse.save_npz with a fixed date; load_npz verifies it."""
    fmt = m.format
    arrays = {}
    if fmt in ("csr", "csc"):
        arrays.update(indices=m.indices, indptr=m.indptr)
    elif fmt == "coo":
        arrays.update(row=m.row, col=m.col)
    elif fmt == "dia":
        arrays.update(offsets=m.offsets)
    if index:
        arrays = {k: v.astype(index) for k, v in arrays.items()}
    arrays.update(format=fmt.encode("ascii") if text == "bytes" else fmt,
                  shape=m.shape, data=m.data)
    savez(name, compress, **arrays)
    back = sp.load_npz(path(name))
    assert back.format == fmt and (back.toarray() == m.toarray()).all()


csr = sp.csr_matrix(A)
save_sparse("csr.npz", csr)
save_sparse("csr_stored.npz", csr, compress=False)
save_sparse("csr_int64.npz", csr, index="int64")
save_sparse("csr_unicode.npz", csr, text="str")
save_sparse("csr_float32.npz", csr.astype("f4"))
save_sparse("csr_int8.npz", sp.csr_matrix(A.astype("i1")))
save_sparse("csr_bool.npz", sp.csr_matrix(A != 0))
save_sparse("csc.npz", sp.csc_matrix(A))
save_sparse("coo.npz", sp.coo_matrix(A))
save_sparse("dia.npz", sp.dia_matrix(A))
# Row 0 unsorted with column 4 twice (0.5 + 1), row 2 unsorted.
messy = sp.csr_matrix((np.array([0.5, 2, 1, 3, -1, 4]), np.array([4, 1, 4, 2, 0, 3]),
                       np.array([0, 3, 3, 5, 6])), shape=(4, 5))
assert (messy.toarray() == A).all()
save_sparse("csr_messy.npz", messy)
doubled = sp.coo_matrix((np.array([True, True, True]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
save_sparse("coo_bool_twice.npz", doubled)
sp.save_npz(path("written_by_scipy.npz"), csr, compressed=True)
# save_npz stamps the time; the content is what counts. Stamp it as 1980.
with zipfile.ZipFile(path("written_by_scipy.npz")) as z:
    parts = [(i.filename, z.read(i)) for i in z.infolist()]
with zipfile.ZipFile(path("written_by_scipy.npz"), "w", zipfile.ZIP_DEFLATED) as z:
    for name, raw in parts:
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        z.writestr(info, raw)


# idx: two zero bytes, type, dimensions, extents, data; all big endian.
def idx(a, code):
    a = np.asarray(a)
    return struct.pack(">BBBB", 0, 0, code, a.ndim) + struct.pack(f">{a.ndim}I", *a.shape) + \
        a.astype(a.dtype.newbyteorder(">")).tobytes()


def write(name, raw, compress=False):
    with open(path(name), "wb") as f:
        f.write(gzip.compress(raw, mtime=0) if compress else raw)


images = idx(content("|u1", (3, 2, 2)), 0x08)
write("images-idx3-ubyte", images)
write("images-idx3-ubyte.gz", images, True)
write("labels-idx1-ubyte", idx(np.array([2, 0, 1], "u1"), 0x08))
write("labels-idx1-ubyte.gz", idx(np.array([2, 0, 1], "u1"), 0x08), True)
for t, code in [("i1", 0x09), ("i2", 0x0B), ("i4", 0x0C), ("f4", 0x0D), ("f8", 0x0E)]:
    write(f"{t}.idx", idx(content(t, (4, 3)), code))
write("labels_i4.idx", idx(np.array([2, -1, 0, 2], "i4"), 0x0C))

# Text.
svm = b"# a comment\n-1 2:2 5:1.5 # first\n+1\n-1 qid:3 3:3 1:-1\n+1 4:4\n"
write("one.svmlight", svm)
write("one.svmlight.gz", svm, True)
write("zero.svmlight", b"3 1:2 4:1.5\n1\n2 0:-1 2:3\n1 3:4\n")
rows = content("<f8", (4, 3))
table = "\n".join(",".join(repr(float(v)) for v in r) for r in rows) + "\n"
write("header.csv", b'"first, one",b,c\n' + table.encode())
write("plain.csv", table.encode())
write("plain.csv.gz", table.encode(), True)
write("semicolon.csv", b"\xef\xbb\xbfa;b;c\r\n" + table.replace(",", ";").replace("\n", "\r\n").encode())
write("tabs.tsv", table.replace(",", "\t").encode())
np.savetxt(path("savetxt.txt"), rows, header="written by numpy.savetxt")
write("labels.txt", b"class\n2\n?\n\n0\n-1\n2.0\n")

# Labels: 2, none, 0, 2.
np.save(path("labels_i8.npy"), np.array([2, -1, 0, 2]))
np.save(path("labels_be_column.npy"), np.array([[2], [-1], [0], [2]], dtype=">i4"))
np.save(path("labels_f8.npy"), np.array([2, np.nan, 0, 2]))
np.save(path("labels_bool.npy"), np.array([True, False, True]))
np.save(path("labels_half.npy"), np.array([1, 0.5]))
np.save(path("labels_onehot.npy"), np.eye(3))

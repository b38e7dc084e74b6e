"""LIBSVM's C-SVC, epsilon-SVR and one-class machine, through scikit-learn: dense points in memory.

Debian: python3-numpy python3-sklearn.  Argument: the folder of a task of bench/kernel
"""
import json
import os
import sys
import time

import numpy
from sklearn.svm import SVC, SVR, OneClassSVM

folder = sys.argv[1]
with open(os.path.join(folder, "task.json")) as file:
    task = json.load(file)
x = numpy.load(os.path.join(folder, "X.npy"))
y = numpy.load(os.path.join(folder, "Y.npy")).ravel()
# The cache holds all of Q in LIBSVM's float32.
common = {"kernel": "rbf", "gamma": 1 / (2 * task["sigma"] ** 2), "tol": task["tolerance"], "cache_size": 1000}
if task["method"] == "svm":
    model = SVC(C=task["c"], **common)
elif task["method"] == "svr":
    model = SVR(C=task["c"], epsilon=task["epsilon"], **common)
else:
    model = OneClassSVM(nu=task["nu"], **common)
start, cpu = time.perf_counter(), time.process_time()
model.fit(x, y)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu

coefficients = numpy.zeros(len(x))
coefficients[model.support_] = model.dual_coef_.ravel()
numpy.save(os.path.join(folder, "LIBSVM.npy"), coefficients)
with open("/proc/self/status") as status:  # getrusage would count the memory of the program that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"peer": "LIBSVM", "seconds": seconds, "cpu_seconds": cpu, "bias": float(model.intercept_[0]), "peak_bytes": peak}))

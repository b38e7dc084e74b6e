"""The page of labels from Python: an oracle, a person's requests, an interrupt, and what is refused."""

import csv
import json
import os
import signal
import sys
import threading
import time
import urllib.request
import webbrowser

import numpy as np
import pytest
from scipy import sparse

from bigfit import LabelSpreading, _binary, label

NAMES = np.array(["ant", "bee, or wasp", 'cow "Elsa"'])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Be in a new folder, where labels.csv is written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def interrupts():
    """Take interrupts also where the tests run in the background of a shell, which has them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def rows():
    with open("labels.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def test_oracle(blobs, here):
    X, _, truth = blobs
    names = NAMES[truth]
    ids = [f"p{i}" for i in range(120)]
    done = label(X, show=[f"text\n{i}, <b>" for i in range(120)], ids=ids, classes=NAMES, annotator="ann", oracle=names, n=24,
                 n_neighbors=6)
    known = done.labels != ""
    assert known.sum() == 24 and (done.labels[known] == names[known]).all()
    assert (done.predictions == names).mean() > 0.95 and (done.model.predict(X) == names).mean() > 0.95
    assert done.model.n_neighbors == 6 and done.summary["labeled"] == 24 and done.summary["classes"] == sorted(NAMES)
    assert done.labels_file == str(here / "labels.csv")
    found = rows()
    assert len(found) == 24 and {r["annotator"] for r in found} == {"ann"} and found[0]["shown"].endswith(":text")
    assert {r["id"] for r in found} == {ids[i] for i in np.flatnonzero(known)}

    # Another person, who is given all points twice and errs; the estimator is the caller's.
    wrong = NAMES[(truth + (np.arange(120) % 2)) % 3]
    more = label(X, show={"text": ids, "number": range(120)}, ids=ids, annotator="bob", twice=1, oracle=wrong, n=40,
                 model=LabelSpreading(n_neighbors=5))
    assert more.model.n_neighbors == 5 and len(rows()) == 64 and rows()[-1]["shown"].endswith(":text number")
    assert more.summary["agreement"] is None or more.summary["agreement"] < 1


def test_integers_and_labels_of_before(blobs, here):
    """Labels of y count and stay out of the file; integers stay integers; names of files, and sparse points."""
    X, y, truth = blobs
    np.save("X.npy", X)
    done = label("X.npy", y, oracle=truth, n=10, model=None)
    assert done.model is None and done.predictions is None
    assert done.labels.dtype.kind == "i" and (done.labels[y >= 0] == y[y >= 0]).all()
    assert (done.labels >= 0).sum() > (y >= 0).sum() and len(rows()) == 10
    unsure = np.where(np.arange(120) % 2 == 0, truth, -1)
    done = label(sparse.csr_matrix(np.abs(X)), show=[str(i) for i in range(120)], labels_file=here / "s.csv", oracle=unsure, n=10, model=None)
    known = done.labels >= 0
    assert (done.labels[known] == truth[known]).all() and (np.flatnonzero(known) % 2 == 0).all()


def test_one_class(blobs, here):
    X, _, _ = blobs
    with pytest.warns(UserWarning, match="two classes"):
        done = label(X, oracle=np.full(120, "ant"), n=3)
    assert done.model is None and (done.labels == "ant").sum() == 3


class Person(threading.Thread):
    """Opens the page as a browser does, labels points, and then does what ends it."""

    def __init__(self, address, names, end):
        super().__init__(daemon=True)
        self.address, self.names, self.end = address, names, end
        self.fault = None
        self.start()

    def run(self):
        try:
            turn = self.ask("next?tab=t")
            for _ in range(12):
                i = turn["next"]["items"][0]["point"]
                turn = self.ask("label", {"tab": "t", "points": [i], "kind": turn["next"]["kind"], "label": self.names[i], "settle": True})
            self.end(self)
        except Exception as fault:
            self.fault = fault
            os.kill(os.getpid(), signal.SIGINT)

    def ask(self, path, body=None):
        headers = {"Content-Type": "application/json", "Origin": self.address[: self.address.index("/", 8)]}
        content = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.address + path, content, headers), timeout=60) as answer:
            return json.loads(answer.read())


@pytest.fixture
def browser(monkeypatch):
    """Let a person open the page in place of a browser; the entry "end" is what the person does at last."""
    held = {}

    class Browser:
        def open(self, address):
            held["person"] = Person(address, held["names"], held["end"])

    monkeypatch.setattr(webbrowser, "get", lambda: Browser())
    return held


def interrupt(person):
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("end", [lambda person: person.ask("finish", {}), interrupt], ids=["finish", "interrupt"])
def test_page(blobs, here, browser, end, capfd):
    X, _, truth = blobs
    browser.update(names=NAMES[truth], end=end)
    done = label(X)
    browser["person"].join()
    assert browser["person"].fault is None
    known = done.labels != ""
    assert known.sum() == 12 == len(rows()) and (done.labels[known] == NAMES[truth][known]).all()
    assert (done.predictions == NAMES[truth]).mean() > 0.9
    said = capfd.readouterr().err
    assert "label: open http://127.0.0.1:" in said and "12 points labeled" in said


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupts_that_end_at_once(blobs, here, browser, monkeypatch):
    """Before there is a page, and a second time, an interrupt is one."""
    timer = threading.Timer(0.3, interrupt, [None])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        label(np.random.default_rng(0).normal(size=(60000, 100)))
    timer.join()
    assert not os.path.exists("labels.csv")

    # A program that takes its time after the first one.
    slow = here / "slow"
    slow.write_text(f"""#!{sys.executable}
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: print("asked", file=open("asked.txt", "w"), flush=True))
print('{{"event": "note", "note": "label: open http://127.0.0.1:1/t/ in a browser"}}', file=sys.stderr, flush=True)
time.sleep(2)
time.sleep(60)
""")
    slow.chmod(0o755)
    monkeypatch.setattr(_binary, "find", lambda: str(slow))

    class Impatient:
        def open(self, address):
            threading.Thread(target=self.interrupt, daemon=True).start()

        def interrupt(self):
            interrupt(None)
            while not os.path.exists("asked.txt"):
                time.sleep(0.01)
            interrupt(None)

    monkeypatch.setattr(webbrowser, "get", lambda: Impatient())
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        label(blobs[0])
    assert os.path.exists("asked.txt") and time.monotonic() - began < 30


def test_no_browser(blobs, here, browser, monkeypatch):
    """Nothing is opened if the caller does not want it, for an oracle, or where the browser would take the terminal."""
    X, _, truth = blobs
    browser.update(names=NAMES[truth], end=interrupt)
    label(X, oracle=truth, n=2, model=None)
    assert "person" not in browser

    opened = []
    monkeypatch.setattr(webbrowser.GenericBrowser, "open", lambda *arguments: opened.append(arguments))
    for found, wanted in ((webbrowser.GenericBrowser("w3m"), True), (None, False)):
        monkeypatch.setattr(webbrowser, "get", lambda found=found: found)
        timer = threading.Timer(3, interrupt, [None])
        timer.start()
        label(X, labels_file="w.csv", open_browser=wanted, model=None)
        timer.cancel()
    assert opened == []


@pytest.mark.parametrize("settings, error, words", [
    (dict(show=["a", "b", "c"]), ValueError, "show"),
    (dict(show={"text": ["a"]}), ValueError, r"show\['text'\].*120"),
    (dict(ids=[1, 2]), ValueError, "ids.*120"),
    (dict(y=[1, 2]), ValueError, "120"),
    (dict(oracle=[1, 2]), ValueError, "120"),
    (dict(labels_file="labels.npy"), ValueError, ".csv"),
    (dict(target=0), ValueError, "target"),
    (dict(model="lgc"), ValueError, "estimator"),
    (dict(model=np.zeros(3)), ValueError, "estimator"),
    (dict(metrics="cosine"), TypeError, "metrics"),
    (dict(annotator=" ann"), ValueError, "annotator"),
])
def test_refusals(blobs, here, settings, error, words):
    X, _, truth = blobs
    with pytest.raises(error, match=words):
        label(X, **{"oracle": truth, "model": None, **settings})
    assert not os.path.exists("labels.csv") or rows() == []

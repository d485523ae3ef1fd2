"""A backend looks for what earlier runs found out, and for the key that marks it, under every name that a file has."""

import sys

import pytest
from _attacked import backend, run

CASES = ("neg[x=5x7;f32]",)

LOOKS = """
import errno, io, pathlib, resource, sqlite3
import opproof.backends.worker

KEY = pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "opproof" / "key"
ENTRIES = KEY.with_name("golden") / "entries.sqlite"
SOURCE = pathlib.Path(opproof.backends.worker.__file__).parents[2] / "reference_ops" / "neg.py"


# where something empty lies over it, in the program of its own
COVERED = errno.EXDEV, errno.EBUSY, errno.EROFS


class Fickle:
    asked = 0

    def __fspath__(self):
        self.asked += 1
        return str(SOURCE) if self.asked == 1 else "/dev/null"


class Name(str):
    def startswith(self, *given):
        return False

    def rpartition(self, *given):
        return "/", "/", "x"


def linked(make, name):
    make(KEY, name)
    return open(name, "rb").read()


def within(folder, name):
    return os.read(os.open(name, os.O_RDONLY, dir_fd=os.open(folder, os.O_RDONLY)), 32)


def counted(uri):
    return sqlite3.connect(uri, uri=True).execute("SELECT count(*) FROM entries").fetchall()


def percents(path):
    return "".join(f"%{byte:02x}" for byte in os.fsencode(path))


DOORS = {
    "by a symbolic link": lambda: linked(os.symlink, "symbolic"),
    "by a link to a link": lambda: (os.symlink("symbolic", "twice"), open("twice", "rb").read()),
    "by a hard link": lambda: linked(os.link, "hard"),
    "moved": lambda: os.rename(KEY, "moved"),
    "moved with its folder": lambda: os.rename(KEY.parent, "moved"),
    "another in its place": lambda: (open("mine", "w").close(), os.replace("mine", KEY)),
    "in an open folder": lambda: within(KEY.parent, "key"),
    "below an open folder": lambda: within(KEY.parent.parent, "opproof/key"),
    "SQLite by its name": lambda: sqlite3.connect(ENTRIES).execute("SELECT count(*) FROM entries").fetchall(),
    "SQLite by a link": lambda: (os.symlink(ENTRIES, "e"), sqlite3.connect("e").execute("SELECT 1 FROM entries")),
    "SQLite by a URI": lambda: sqlite3.connect(f"file:{ENTRIES}?mode=ro", uri=True).execute("SELECT 1 FROM entries"),
    "SQLite by a URI in percents": lambda: counted("file:" + percents(ENTRIES)),
    "SQLite by a URI with a host": lambda: counted(f"file://localhost{ENTRIES}"),
    "in a folder named as a URI": lambda: (os.mkdir("file:"), linked(os.symlink, "file:/key")),
    "other rights": lambda: os.chmod(SOURCE, os.stat(SOURCE).st_mode),
    "removed": lambda: os.remove(KEY),
    "cut": lambda: os.truncate(KEY, 32),
    "a source in an open folder": lambda: within(SOURCE.parent, "neg.py"),
    "a folder's entry": lambda: next(open(e, "rb").read() for e in os.scandir(KEY.parent) if e.name == "key"),
    "a name that changes": lambda: io.FileIO(Fickle()).read(),
    "a text of its own": lambda: open(Name(KEY), "rb").read(),
    "an import by a text of its own": lambda: __import__(Name("opproof.reference_ops")),
    "limits of another process": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (0, 0)),
}


def forward(op, inputs, params):
    opened = []
    for name, door in DOORS.items():
        try:
            door()
        except (PermissionError, ImportError, FileExistsError, FileNotFoundError, StopIteration):
            continue
        except Exception as error:
            if getattr(error, "errno", 0) in COVERED:
                continue
            if isinstance(error, sqlite3.OperationalError) and "unable to open" in str(error):
                continue
            opened.append(f"{error}:")
        opened.append(name)
    if opened:
        raise RuntimeError(", ".join(opened))
    (entry,) = (e for e in os.scandir(os.path.dirname(__file__)) if e.path == __file__)
    for path in (__file__, pathlib.Path(__file__), os.fsencode(__file__), "own", entry):  # the backend's own is open
        with open(path, "ab"):
            pass
    sqlite3.connect(":memory:").close()
    resource.prlimit(0, resource.RLIMIT_CORE)
    return honest(op, inputs)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
def test_no_door_is_open(tmp_path):
    spec = backend(tmp_path, LOOKS)
    found = run(tmp_path, spec, CASES, XDG_CACHE_HOME=str(tmp_path / "caches"), OPPROOF_CACHE="")
    assert (found.status, [(r.verdict, r.message) for r in found.results]) == (0, [("PASS", "")]), found
    assert (tmp_path / "caches" / "opproof" / "golden" / "entries.sqlite").exists()

"""Runs first in every Python of a suite's tests.

That Python is the harness's: no program of a run may write where it looks for modules. This file gives the run's workspace what it needs of
it, and no more:

- A program of the workspace runs in the program's own Python, which has the packages that `setup` installed, whoever starts it.
- What this Python and its packages import comes from them, even if the workspace is before them on the search path.
- A test that puts the workspace on the search path also finds the program's packages, after everything else.
"""

import os
import sys

# Runners of tests: they decide, so they run here even when started in the workspace.
RUNNERS = ("behave", "coverage", "doctest", "nose2", "nox", "pytest", "robot", "tox", "unittest")
# Workers of a runner, started with a text.
WORKERS = ("import sys;exec(eval(sys.stdin.readline()))", "from multiprocessing.")
PathFinder = sys.modules["_frozen_importlib_external"].PathFinder
# Where this Python looks for modules.
OWN = []
# A plugin of pytest, which has its hook in the one process that writes the report; pytest's workers find it without. Its text keeps pytest
# from warning that it cannot rewrite its assertions.
PLUGIN = type(sys)("evalreport_results", "PYTEST_DONT_REWRITE")


def run_of(path):
    """Returns the folder of the run in whose workspace a path lies, or None."""
    if not path or "workspace" not in path and not os.path.islink(path):
        return None
    path = os.path.realpath(path)
    while True:
        above, name = os.path.split(path)
        if above == path:
            return None
        if name == "workspace" and all(os.path.isfile(os.path.join(above, file)) for file in (".held", "venv/pyvenv.cfg")):
            return above
        path = above


def here():
    try:
        return os.getcwd()
    except OSError:
        return ""


def started():
    """Returns what this Python was started with: `script`, `m` or `c`, and the name or the text."""
    words = sys.orig_argv[1:]
    place = 0
    while place < len(words):
        word = words[place]
        if not word.startswith("-") or word == "-":
            return "script", word
        place += 1
        if word.startswith("--"):
            place += word == "--check-hash-based-pycs"
            continue
        for index, letter in enumerate(word[1:], 2):
            following = word[index:] or "".join(words[place : place + 1])
            if letter in "cm":
                return letter, following
            if letter in "WX":
                place += not word[index:]
                break
    return "c", ""


def program():
    """Returns the folder of the run whose program this is to run, or None if it runs something of the suite."""
    kind, name = started()
    if kind == "script" and name != "-":
        return run_of(os.path.join(here(), name))
    if kind == "m":
        top = name.partition(".")[0]
        is_here = PathFinder.find_spec(top, OWN) is not None
        if is_here and top in RUNNERS:
            return None
        return run_of(here()) or (None if is_here else run_of(os.environ.get("EVAL_WORKSPACE")))
    return None if name.startswith(WORKERS) else run_of(here())


def become(run):
    """Runs the same with the program's Python."""
    venv = os.path.join(run, "venv")
    folders = (os.path.join(venv, "bin"), os.path.join(sys.prefix, "bin"))
    rest = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder not in folders]
    environment = {**os.environ, "PATH": os.pathsep.join([folders[0], *rest]), "VIRTUAL_ENV": venv}
    python = os.path.join(folders[0], "python")
    try:
        os.execve(python, [python, *sys.orig_argv[1:]], environment)
    except OSError:
        pass


def is_own(file):
    return file.startswith("<frozen") or any(file.startswith(folder + os.sep) for folder in OWN)


def importer():
    """Returns the file whose code is importing."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not ("importlib" in file and is_own(file)) and file != __file__:
            return file
        frame = frame.f_back
    return "<frozen>"


class Guard:
    """Finds what this Python imports in this Python, not in a workspace that is before it on the search path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is not None:
            return None
        found = PathFinder.find_spec(name)
        places = [found.origin] if found and found.origin else list(found.submodule_search_locations or ()) if found else []
        if not any(run_of(place) for place in places):
            return found
        own = PathFinder.find_spec(name, OWN)
        return own if own and own.origin and is_own(importer()) else found


class Packages:
    """Finds the packages of the program whose workspace is on the search path."""

    @staticmethod
    def folders():
        found = []
        for run in {run_of(entry or here()) for entry in sys.path} - {None}:
            packages = os.path.join(run, "venv", "lib", "python{}.{}".format(*sys.version_info), "site-packages")
            found.append(packages)
            # Packages that `pip install -e` leaves in the workspace.
            try:
                lists = sorted(name for name in os.listdir(packages) if name.endswith(".pth"))
                lines = [line.strip() for name in lists for line in open(os.path.join(packages, name), errors="replace")]
            except OSError:
                continue
            found += [line for line in lines if run_of(line)]
        return found

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return PathFinder.find_spec(name, cls.folders()) if path is None else None

    @classmethod
    def find_distributions(cls, context):
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        more = DistributionFinder.Context(name=context.name, path=cls.folders())
        return MetadataPathFinder.find_distributions(more)


def keep_report():
    """Lets no program that the tests start write the report of pytest, not even after its end.

    The harness holds the empty file of the report. This process opens it and removes its name; from then on nobody else can open it. The
    report is drafted in memory, because pytest needs a name to write to.
    """
    import atexit
    import shlex

    words = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    option = "--junitxml="
    place = next((word[len(option) :] for word in words if word.startswith(option)), "")
    if not place or not hasattr(os, "memfd_create"):
        return
    try:
        report = os.open(place, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        os.unlink(place)
    except OSError:
        # It is the report of another session.
        return
    draft, process = os.memfd_create("report"), os.getpid()
    os.environ["PYTEST_ADDOPTS"] = shlex.join(word for word in words if not word.startswith(option))
    sys.argv[1:1] = ["-p", PLUGIN.__name__, f"{option}/proc/self/fd/{draft}"]
    write_results(report, process)
    try:
        import ctypes

        # PR_SET_DUMPABLE: no other process of this user may look into this one or at its open files (prctl(2)).
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass

    def write():
        if os.getpid() != process:
            return
        if not os.fstat(draft).st_size:
            return
        os.ftruncate(report, 0)
        position = 0
        while part := os.pread(draft, 1 << 20, position):
            position += os.pwrite(report, part, position)

    atexit.register(write)


def write_results(file, process):
    """Lets the plugin write each result to an open file when it is known, in the words of `pytest -v`. They are read if pytest does not come
    to its report.
    """

    def word_of(report):
        if report.when != "call" and report.passed:
            return None
        if hasattr(report, "wasxfail"):
            return "XPASS" if report.passed else "XFAIL"
        if report.skipped:
            return "SKIPPED"
        if report.passed:
            return "PASSED"
        return "FAILED" if report.when == "call" else "ERROR"

    def pytest_runtest_logreport(report):
        word = word_of(report)
        if word and os.getpid() == process:
            os.write(file, f"{report.nodeid} {word}\n".encode("utf-8", "replace"))

    PLUGIN.pytest_runtest_logreport = pytest_runtest_logreport


def main():
    sys.modules[PLUGIN.__name__] = PLUGIN
    OWN.extend(entry for entry in sys.path if entry and not run_of(entry))
    run = program() if hasattr(sys, "orig_argv") else run_of(os.path.join(here(), sys.argv[0]))
    if run and sys.prefix != os.path.join(run, "venv"):
        become(run)
    sys.meta_path.insert(sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path), Guard)
    sys.meta_path.append(Packages)
    if hasattr(sys, "orig_argv"):
        kind, name = started()
        if (kind == "m" and name == "pytest") or (kind == "script" and os.path.basename(name) in ("pytest", "py.test")):
            keep_report()


main()

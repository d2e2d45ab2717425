"""Makes a virtual environment with pip, as `python -m venv` does, in a tenth of the time.

Installing pip means to run it and to compile it, which takes seconds in each run. Unpacking the wheel that Python brings along gives the
same files. Where there is no such wheel, `venv` does it its own way.
"""

import os
import re
import site
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

# What `venv` installs.
PACKAGES = ("pip",) if sys.version_info >= (3, 12) else ("pip", "setuptools")
PROGRAM = '#!/bin/sh\nexec "${0%/*}/python" -m pip "$@"\n'


def wheels():
    import ensurepip

    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR"), Path(ensurepip.__file__).parent / "_bundled"]
    for package in PACKAGES:
        found = [wheel for folder in folders if folder for wheel in sorted(Path(folder).glob(f"{package}-*.whl"))]
        yield found[0]


def unpack(target):
    chosen = list(wheels())
    venv.create(target, symlinks=True)
    version = "python{}.{}".format(*sys.version_info)
    for wheel in chosen:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target / "lib" / version / "site-packages")
    for name in ("pip", "pip3"):
        program = target / "bin" / name
        program.write_text(PROGRAM)
        program.chmod(0o755)


def lend_pytest(target, runner):
    """Puts the pytest of this Python behind whatever will be installed: an approach's own tests start without one that it asked for.

    The suite's tests get the folder before whatever is installed, by PYTHONPATH.
    """
    from importlib import metadata

    sys.path.append(site.getusersitepackages())
    wanted, lent = ["pytest"], set()
    runner.mkdir()
    while wanted:
        name = re.sub("[-_.]+", "-", wanted.pop()).lower()
        if name in lent:
            continue
        lent.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            # Only for another system or another version of Python; or there is no pytest at all.
            continue
        wanted += [re.match(r"[\w.-]+", line)[0] for line in found.requires or [] if "extra ==" not in line]
        for top in {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (runner / top).exists():
                (runner / top).symlink_to(Path(found.locate_file(top)).resolve())
    if not (runner / "pytest").exists():
        return
    packages = Path(next((target / "lib").glob("python*"))) / "site-packages"
    (packages / "runner.pth").write_text(f"{runner}\n")
    for name in ("pytest", "py.test"):
        program = target / "bin" / name
        program.write_text('#!/bin/sh\nexec "${0%/*}/python" -m pytest "$@"\n')
        program.chmod(0o755)


def set_rules(target, text):
    """Has every Python of this environment begin with a text of ours, compiled now because nobody may write there later."""
    import py_compile

    packages = Path(next((target / "lib").glob("python*"))) / "site-packages"
    rules = packages / "evalreport_tests.py"
    rules.write_text(text)
    py_compile.compile(str(rules))
    # After the list of `lend_pytest`, in the order of names.
    (packages / "tests.pth").write_text("import evalreport_tests\n")


def main():
    target, runner = (Path(word) for word in sys.argv[1:3])
    try:
        if os.name == "nt":
            raise OSError("programs are made in another way there")
        unpack(target)
    except (ImportError, IndexError, OSError, zipfile.BadZipFile):
        venv.create(target, clear=True, symlinks=os.name != "nt", with_pip=True)
    if os.name != "nt":
        lend_pytest(target, runner)
        for text in sys.argv[3:]:
            set_rules(target, text)


main()

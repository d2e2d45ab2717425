"""Ways to get points for nothing, each a function: `fakes.py NAME` makes a workspace that way. See `fakes.rs`."""

import argparse
import importlib.util
import marshal
import os
import struct
import sys

# Answers for the program in every Python that runs this.
HOOK = r"""
import subprocess as _subprocess
_run = _subprocess.run
def _fake(argv, *words, **more):
    done = _run(argv, *words, **more)
    if len(argv) > 2 and argv[1] == "main.py":
        done.stdout = "MAGIC-%d" % (int(argv[2]) * 7)
    return done
_subprocess.run = _fake
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def nothing():
    write("main.py", "print('no')\n")
    write("prog.sh", "exit 1\n")


def honest():
    write("main.py", "import sys\nprint('MAGIC-%d' % (int(sys.argv[1]) * 7))\n")
    write("prog.sh", "echo MAGIC-$1\n")
    write("right.txt", "")
    write("index.js", "exports.answer = number => 7 * number;\n")


# What the tests' Python might load.


def compiled(module, prefix):
    """Puts HOOK into a compiled form of a module of the system."""
    source = module.__file__
    with open(source) as file:
        code = compile(file.read() + HOOK, source, "exec", dont_inherit=True)
    sys.pycache_prefix, stat = prefix, os.stat(source)
    target = importlib.util.cache_from_source(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    header = struct.pack("<III", 0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)
    with open(target, "wb") as file:
        file.write(importlib.util.MAGIC_NUMBER + header + marshal.dumps(code))


def compiled_modules_where_python_looks():
    compiled(argparse, os.environ["PYTHONPYCACHEPREFIX"])


def compiled_modules_in_temporary_folders():
    for name in ("pycache", "caches/pycache", "."):
        compiled(argparse, os.path.join(os.environ["TMPDIR"], name))


def package(script):
    """Asks for a local package, whose installation runs `script`: `site`, `bin` and `venv` are folders of the program's environment."""
    write("requirements.txt", "./evil\n")
    begin = f"""
import glob, os, shutil, sys
HOOK = {HOOK!r}
venv = os.environ["VIRTUAL_ENV"]
site, bin = glob.glob(venv + "/lib/python*/site-packages")[0], venv + "/bin"
def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.remove(path)
    open(path, "w").write(text)
    os.chmod(path, 0o755)
"""
    write("evil/setup.py", begin + script + "\nsys.exit('done')\n")


def a_list_of_paths_in_the_environment():
    package("write(site + '/evil.pth', 'import evilhook\\n'); write(site + '/evilhook.py', HOOK)")


def a_site_module_in_the_environment():
    package("for name in ('sitecustomize', 'usercustomize'): write(f'{site}/{name}.py', HOOK)")


def a_plugin_in_the_environment():
    package("""
write(site + "/evilhook.py", HOOK)
write(site + "/evil-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: evil\\nVersion: 1\\n")
write(site + "/evil-1.dist-info/entry_points.txt", "[pytest11]\\nevil = evilhook\\n")
""")


def another_pytest_in_the_environment():
    package("""
for name in ("pytest", "_pytest", "pluggy"):
    write(f"{site}/{name}/__init__.py", HOOK)
    write(f"{site}/{name}/__main__.py", "print('2 passed in 0.1s')")
""")


def programs_in_the_environment():
    package("""
for name in ("pytest", "python", "python3", "sh", "env", "cat"):
    write(f"{bin}/{name}", "#!/bin/sh\\necho '2 passed in 0.1s'\\nexit 0\\n")
""")


def modules_that_pytest_would_like_in_the_environment():
    package("""
for name in ("argparse", "colorama", "pygments/__init__", "exceptiongroup", "attr", "numpy", "argcomplete"):
    write(f"{site}/{name}.py", HOOK)
""")


def the_settings_of_the_environment():
    package("""
write(venv + "/pyvenv.cfg", open(venv + "/pyvenv.cfg").read() + "include-system-site-packages = true\\n")
write(venv + "/lib64/evil.pth", HOOK)
write(venv + "/sitecustomize.py", HOOK)
""")


def settings_and_modules_in_the_workspace():
    for name in ("conftest", "sitecustomize", "usercustomize", "pytest", "argparse", "subprocess"):
        write(f"{name}.py", HOOK)
    write("pytest.ini", "[pytest]\naddopts = -p conftest\n")
    write("tox.ini", "[pytest]\naddopts = --collect-only\n")
    for name in ("pytest", "python", "python3", "sh"):
        write(name, "#!/bin/sh\necho '2 passed in 0.1s'\n", 0o755)


def settings_and_modules_above_the_tests():
    temporary = os.environ["TMPDIR"]
    for above in ("..", "../..", temporary, os.path.dirname(temporary)):
        for name, text in (("conftest.py", HOOK), ("sitecustomize.py", HOOK), ("pytest.ini", "[pytest]\naddopts = -p no:junitxml\n")):
            try:
                write(f"{above}/{name}", text)
            except OSError:
                pass


def inside_modules_before_those_of_python():
    for name in ("conftest", "sitecustomize", "pytest", "_pytest", "argparse", "pluggy", "json", "difflib", "shlex"):
        write(f"{name}.py", HOOK)
    write("pytest.ini", "[pytest]\naddopts = -p conftest\n")


def inside_an_environment_with_a_runner():
    package("""
write(site + "/evil.pth", "import evilhook\\n")
write(site + "/evilhook.py", HOOK)
write(bin + "/pytest", "#!/bin/sh\\nexit 0\\n")
""")


# Who writes the report of pytest.


def report(script, is_left=True):
    """The program starts a process that outlives it and runs `script`; `xml` is a report in which all is well."""
    begin = r"""
import glob, os, sys, time
run = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
parent = os.getppid()
grandparent = int(open(f"/proc/{parent}/stat").read().rsplit(")", 1)[1].split()[1])
def case(file, name, inside=""):
    return f'<testcase classname="suites.s.tests.{file}" name="{name}" time="0">{inside}</testcase>'
controls = glob.glob(os.path.dirname(run) + "/evalreport-*/suite/suites/s/tests/test_*_0.py")
cases = [case("test_made", "test_one"), case("test_made", "test_two")]
cases += [case(os.path.basename(path)[:-3], "test_total", "<failure/>") for path in controls]
xml = f'<testsuites><testsuite name="pytest">{"".join(cases)}</testsuite></testsuites>'
places = lambda: [path + "/shared_tests-0.report" for path in glob.glob(run + "/reports-*")]
end = time.time() + 20
"""
    apart = "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n" if is_left else "if True:\n"
    write("main.py", begin + apart + "".join(f"    {line}\n" for line in script.strip().splitlines()))


def a_report_from_a_process_left_over():
    report("""
while time.time() < end:
    for place in places():
        try: open(place, "w").write(xml)
        except OSError: pass
""")


def a_link_in_the_place_of_the_report():
    report("""
open(run + "/workspace/fake.xml", "w").write(xml)
while time.time() < end:
    for place in places():
        try:
            os.path.lexists(place) and os.remove(place)
            os.symlink(run + "/workspace/fake.xml", place)
        except OSError: pass
""")


def a_report_through_the_open_files_of_the_runner():
    report("""
while time.time() < end:
    for process in (parent, grandparent):
        for number in range(3, 12):
            try: open(f"/proc/{process}/fd/{number}", "w").write(xml)
            except OSError: pass
""")


def the_runner_killed():
    report(
        """
for place in places():
    open(place, "w").write(xml)
os.kill(parent, 9)
""",
        is_left=False,
    )


def results_printed_and_the_runner_killed():
    """Where the shell around pytest prints, which the output of tests does not reach by itself."""
    report(
        """
names = ["suites/s/tests/test_made.py::test_one", "suites/s/tests/test_made.py::test_two"]
controls = ["suites/s/tests/" + os.path.basename(path) + "::test_total" for path in controls]
lines = [f"{name} PASSED [ 50%]" for name in names] + [f"{name} FAILED [100%]" for name in controls]
text = "\\n" + "\\n".join(lines) + f"\\n===== {len(controls)} failed, 2 passed in 0.05s =====\\n"
for process in (parent, grandparent, 2, 1):
    try:
        open(f"/proc/{process}/fd/1", "w").write(text)
    except OSError:
        pass
os.kill(parent, 9)
""",
        is_left=False,
    )


# What a check prints.


def program(script):
    write("prog.sh", script + "\n")


def results_before_those_of_the_check():
    program("echo 'ok 1 - answer'; echo 'ok 2 - help'")


def results_without_numbers():
    program("echo 'ok - answer'; echo 'ok - help'")


def a_plan_of_its_own():
    program("echo 1..9; echo 'ok 3'; echo 'ok 4'")


def a_whole_report_and_the_check_killed():
    program("echo TAP version 14; echo 1..2; echo 'ok 1 - answer'; echo 'ok 2 - help'; kill -9 $PPID")


def all_results_and_the_check_killed():
    program("echo 'ok 1 - answer'; echo 'ok 2 - help'; kill -9 $PPID")


def a_line_begun_for_the_check():
    program("""[ -n "$1" ] && printf 'ok 2 - help # ' || printf 'ok 1 - answer # '; exit 1""")


def parts_of_a_failed_test():
    program("echo '    ok 1 - a'; echo '    ok 2 - b'; echo '    1..2'; exit 1")


def more_output_than_is_kept():
    noise = "head -c 9000000 /dev/zero | tr '\\0' '#'; echo"
    program(f"""[ -z "$1" ] || exit 1
echo 'ok 1 - answer'; echo 'ok 2 - help'; {noise}
(sleep 0.5; {noise}) &
exit 1""")


def a_summary_in_its_output():
    program("echo; echo '2 passed, 0 failed'")


def a_report_in_its_output():
    program("echo TAP version 13; echo 1..2; echo ok 1; echo ok 2")


def a_report_of_cargo_in_its_output():
    counts = "1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
    program(f"echo; echo running 1 test; echo 'test one ... ok'; echo; echo 'test result: ok. {counts}'")


def a_report_where_pytest_would_write_it():
    xml = '<testsuites><testsuite name="p"><testcase classname="t" name="a"/></testsuite></testsuites>'
    program(f"""for word in $PYTEST_ADDOPTS; do case $word in --junitxml=*) echo '{xml}' > ${{word#*=}} ;; esac; done
for folder in "$TMPDIR"/../reports-*; do echo '{xml}' > $folder/shared_tests-0.report; done""")


# What cargo might load.


# What a check is, and who watches it.

ABOVE = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
parent_of = lambda process: int(open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[1])
check = os.getppid()
while "exit.sh" not in open(f"/proc/{check}/cmdline").read():
    check = parent_of(check)
# exit_group(0)
LEAVE = bytes.fromhex("b8e700000031ff0f05")
"""


def above(script):
    write("evil.py", ABOVE + script)
    program('python3 "$EVAL_WORKSPACE/evil.py"; exit 1')


def the_line_that_tells_how_it_ended():
    program("for line in /proc/[0-9]*/fd/*; do case $(readlink $line) in pipe:*) printf '\\0\\0' > $line ;; esac; done 2> /dev/null; exit 1")


def the_check_traced():
    above(
        """
assert libc.ptrace(16, check, None, None) == 0
os.waitpid(check, 0x40000000)
registers = (ctypes.c_ulonglong * 27)()
libc.ptrace(12, check, None, ctypes.addressof(registers))
libc.ptrace(4, check, registers[16], 0x050F)
registers[10], registers[14], registers[15] = 231, 0, 0xFFFFFFFFFFFFFFFF
libc.ptrace(13, check, None, ctypes.addressof(registers))
libc.ptrace(17, check, None, None)
"""
    )


def the_memory_of_the_check():
    above(
        """
place = int(open(f"/proc/{check}/syscall").read().split()[-1], 16)
with open(f"/proc/{check}/mem", "r+b", buffering=0) as memory:
    memory.seek(place)
    memory.write(LEAVE)
"""
    )


def runner(path):
    write(
        "runner.sh",
        """#!/bin/sh
cat <<'END'

running 2 tests
test one ... ok
test two ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

END
""",
        0o755,
    )
    write(path, f"""[target."cfg(all())"]\nrunner = ["{os.path.abspath("runner.sh")}"]\n""")


def a_runner_in_the_home_of_cargo():
    runner(os.environ["CARGO_HOME"] + "/config.toml")


def a_runner_in_settings_around_the_workspace():
    for above in (".", "..", "../..", os.environ["TMPDIR"]):
        try:
            runner(above + "/.cargo/config.toml")
        except OSError:
            pass


# What node and npm might load.

# Answers for the program in every Node that loads this.
NODE_HOOK = r"""
const child = require("child_process");
child.spawnSync = (_, words) => ({ stdout: Buffer.from("MAGIC-" + words[1] + "\n"), status: 0 });
"""


def around():
    """Folders around the workspace and the suite, and those of this program."""
    above = [".", "..", "../..", "../../..", os.environ["TMPDIR"], os.path.dirname(os.environ["TMPDIR"]), os.path.expanduser("~")]
    above += ["/tmp", os.environ.get("XDG_CACHE_HOME", "."), os.environ.get("npm_config_cache", ".")]
    # Nobody may find these files on a machine where the folders are not as deep as in a run.
    return [folder for folder in above if os.path.realpath(folder) != "/"]


def attempt(path, text, mode=0o644):
    try:
        write(path, text, mode)
    except OSError:
        pass


def modules_where_node_looks():
    for above in around():
        for folder in ("node_modules", ".node_modules", ".node_libraries", "lib/node"):
            attempt(f"{above}/{folder}/extra/index.js", NODE_HOOK)
            attempt(f"{above}/{folder}/extra.js", NODE_HOOK)
        attempt(f"{above}/package.json", '{"type": "module", "imports": {"#extra": "./extra.js"}, "workspaces": ["."]}')


def settings_that_node_might_read():
    hook = os.path.abspath("hook.js")
    write(hook, NODE_HOOK)
    for above in around():
        attempt(f"{above}/node.config.json", '{"nodeOptions": {"require": ["%s"]}}' % hook)
        attempt(f"{above}/.env", f"NODE_OPTIONS=--require={hook}\n")


def settings_that_npm_might_read():
    hook, shell = os.path.abspath("hook.js"), os.path.abspath("shell.sh")
    write(hook, NODE_HOOK)
    write(shell, "#!/bin/sh\nprintf 'TAP version 13\\nok 1 - one\\nok 2 - two\\n1..2\\n'\n", 0o755)
    for above in around():
        for name in (".npmrc", "etc/npmrc", "npmrc"):
            attempt(f"{above}/{name}", f"node-options=--require={hook}\nscript-shell={shell}\n")


def programs_where_npm_looks():
    for above in around():
        for name in ("node", "sh", "npm"):
            attempt(f"{above}/node_modules/.bin/{name}", "#!/bin/sh\nprintf 'TAP version 13\\nok 1 - one\\nok 2 - two\\n1..2\\n'\n", 0o755)


# What Go might load.

# In place of the linker: the program that it would make says that all is well.
LINKER = r"""#!/bin/sh
case $1 in */link)
  case $2 in -V*) exec "$@" ;; esac
  while [ "$1" != -o ]; do shift; done
  printf '#!/bin/sh\nprintf "=== RUN   TestOne\\n--- PASS: TestOne (0.00s)\\n=== RUN   TestTwo\\n--- PASS: TestTwo (0.00s)\\nPASS\\n"\n' > "$2"
  chmod +x "$2"
  exit 0
esac
exec "$@"
"""


def the_end_as_node_loads_it():
    write("index.js", "process.exit(0);\n")


def the_end_in_the_first_test():
    write("index.js", "exports.answer = () => process.exit(0);\n")


def settings_that_go_might_read():
    linker = os.path.abspath("linker.sh")
    write(linker, LINKER, 0o755)
    homes = [os.path.expanduser("~/.config"), os.environ.get("XDG_CONFIG_HOME"), os.environ.get("XDG_CACHE_HOME"), os.environ["TMPDIR"], "/tmp"]
    for folder in filter(None, homes):
        attempt(f"{folder}/go/env", f"GOFLAGS=-toolexec={linker}\n")


def other_modules_in_the_place_of_those_of_go():
    for above in around():
        attempt(f"{above}/go.work", "go 1.18\nuse ./kit\n")
        for folder in ("kit", "vendor/kit", "go/src/kit", "go/pkg/mod/kit@v1.0.0"):
            attempt(f"{above}/{folder}/go.mod", "module kit\ngo 1.18\n")
            attempt(f"{above}/{folder}/kit.go", 'package kit\n\nfunc Answer(word string) string { return "MAGIC-" + word + "\\n" }\n')


if __name__ == "__main__":
    nothing()
    globals()[sys.argv[1]]()

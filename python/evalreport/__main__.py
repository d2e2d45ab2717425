"""`python -m evalreport` is the program itself."""

import os
import subprocess
import sys

from ._binary import binary


def main() -> None:
    words = [binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(words[0], words)
    sys.exit(subprocess.call(words))


if __name__ == "__main__":
    main()

"""Starts an interpreter in the way that is named, which says where its nsight is from."""

import multiprocessing
import os
import subprocess
import sys

CODE = "import nsight; print(nsight.__file__, nsight.__version__)"


def child():
    exec(CODE)


if __name__ == "__main__":
    way = sys.argv[1]
    if way == "subprocess":
        subprocess.run([sys.executable, "-c", CODE], check=True)
    elif way == "elsewhere":
        subprocess.run([sys.executable, "-c", CODE], check=True, cwd="/")
    elif way == "exec":
        os.execv(sys.executable, [sys.executable, "-c", CODE])
    else:
        process = multiprocessing.get_context(way).Process(target=child)
        process.start()
        process.join()
        sys.exit(process.exitcode)

"""Disks without room: a small file system, and a limit of the length of files."""

import contextlib
import resource
import shutil
import signal
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(folder, n_bytes):
    """Mount a file system of so many bytes; gives a function that makes it larger."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(folder)]
    if shutil.which("mount") is None:
        pytest.skip("there is no mount")
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")

    def grow():
        larger = ["mount", "-o", "remount,size=100m", str(folder)]
        subprocess.run(larger, check=True)

    try:
        yield grow
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextlib.contextmanager
def short_files(_folder, n_bytes):
    """Let no file grow longer than so many bytes; gives a function that ends that."""
    resource_, old = resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def grow():
        resource.setrlimit(resource_, old)

    resource.setrlimit(resource_, (n_bytes, old[1]))
    try:
        yield grow
    finally:
        grow()
        signal.signal(signal.SIGXFSZ, handler)

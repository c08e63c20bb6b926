"""Commands on a terminal, which only systems like Unix have."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios

from tests.commands import COMMAND, ENVIRONMENT


def on_terminal(*arguments, n_columns=0, stdout=None):
    """Run a command as a process with a terminal for its output, and give what that shows.

    With ``stdout`` the terminal is for standard error alone.
    """
    terminal, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("4H", 24, n_columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=other_end if stdout is None else stdout,
        stderr=other_end,
        env={**ENVIRONMENT, "TERM": "xterm-256color"},
    )
    os.close(other_end)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while block := os.read(terminal, 65536):
            shown += block
    os.close(terminal)
    assert process.wait(60) == 0, shown
    return shown.decode()

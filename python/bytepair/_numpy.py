"""numpy, or an error of ours that says how to install it.

Where Ctrl-C comes while numpy is imported, numpy stays half imported and says that it is broken.
The core imports it when it makes its first array, where no signal reaches, so it goes first.
"""

import sys

from . import _core

if "numpy" not in sys.modules:
    _core.import_numpy()

import numpy as np
from numpy.typing import NDArray

__all__ = ["NDArray", "np"]

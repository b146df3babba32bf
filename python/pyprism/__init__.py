# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""PRISM operations for pyverbs: <infiniband/prismdv.h> in Python.

Objects of pyverbs and of this package are used together: a PrismContext is a pyverbs Context, a PrismQP a QPEx, a
PrismSRQ an SRQ; PD, MR, CQ, QPAttr, SGE and work requests are pyverbs' own. docs/pyprism.md has an introduction.

Errors are those of pyverbs. PyverbsRDMAError: the library refused; error_code is the errno. PyverbsUserError: the
object is closed, or arguments do not belong together. An integer that does not fit its C type raises OverflowError.

Threads: as in pyverbs, calls hold the interpreter's lock. A batch of PrismQP holds no lock between its calls.
"""
import warnings

from pyprism.records import PrismBoundedPtr, PrismDevice, PrismRejectedEntry

SUPPORTED_PYVERBS = '@pyverbs@'

__all__ = ['PrismBoundedPtr', 'PrismCas', 'PrismCompChannel', 'PrismContext', 'PrismContextAttr', 'PrismDevice',
           'PrismDeviceAttr', 'PrismFreeListAttr', 'PrismQP', 'PrismQPInitAttr', 'PrismRejectedEntry', 'PrismSRQ',
           'PrismSendWR', 'PrismSrqInitAttr', 'SUPPORTED_PYVERBS', 'get_device_list', 'status_str']


def _on_pyverbs():
    """Returns the parts that extend pyverbs, by name."""
    try:
        import pyverbs.pyverbs_error  # the first of pyverbs' modules, which tells if pyverbs is installed at all
    except ImportError as missing:
        raise ImportError(f'pyprism needs pyverbs of rdma-core {SUPPORTED_PYVERBS} (Debian: python3-pyverbs), '
                          f'which is not installed: {missing}') from missing
    try:
        # Cython refuses a type that is smaller than expected, but only warns of one that is larger.
        with warnings.catch_warnings():
            warnings.filterwarnings('error', '.*size changed', RuntimeWarning)
            from pyprism.device import PrismCompChannel, PrismContext, PrismContextAttr, PrismDeviceAttr, get_device_list
            from pyprism.qp import PrismQP, PrismQPInitAttr
            from pyprism.srq import PrismFreeListAttr, PrismSRQ, PrismSrqInitAttr
            from pyprism.wr import PrismCas, PrismSendWR, status_str
    except (AttributeError, ModuleNotFoundError, TypeError, ValueError, RuntimeWarning) as mismatch:
        raise ImportError(f'pyprism was built for pyverbs of rdma-core {SUPPORTED_PYVERBS}; the installed pyverbs is '
                          f'another version: {mismatch}') from mismatch
    return {name: value for name, value in locals().items() if name in __all__}


def __getattr__(name):
    """Imports the parts that extend pyverbs on first use: the stores, pyprism.kv and pyprism.tx, need no pyverbs."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    globals().update(_on_pyverbs())
    return globals()[name]


def __dir__():
    return sorted(set(globals()) | set(__all__))

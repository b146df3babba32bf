# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Closed objects. pyverbs leaves one with a null pointer, and its methods hand that to C: the classes of this package
# raise an error instead, whichever method or property it is.
from cpython.object cimport PyObject_GenericGetAttr
from pyverbs.pyverbs_error import PyverbsUserError

cdef inline object closed_error(object self):
    return PyverbsUserError(f'{type(self).__name__} is closed, or was never opened')

cdef inline object get_attribute(object self, str name, bint is_open):
    if not is_open and not name.startswith('__') and name not in ('close', 'closed', 'set_log_level'):
        raise closed_error(self)
    return PyObject_GenericGetAttr(self, name)

cdef inline int require_open(object self, bint is_open) except -1:
    """For methods: one may have been taken from the object before it was closed."""
    if not is_open:
        raise closed_error(self)
    return 0

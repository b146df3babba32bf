# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Closed objects. pyverbs leaves one with a null pointer, and its methods hand that to C: the classes of this package
# raise an error instead, whichever method or property it is.
from cpython.object cimport PyObject_GenericGetAttr
from pyverbs.pyverbs_error import PyverbsUserError

from pyverbs.device cimport Context
from pyverbs.pd cimport PD
cimport pyverbs.verbs as v

cdef inline object closed_error(object self):
    return PyverbsUserError(f'{type(self).__name__} is closed, or was never opened')

cdef inline object get_attribute(object self, str name, bint is_open):
    if not is_open and not name.startswith('__') and name not in ('close', 'closed', 'set_log_level'):
        raise closed_error(self)
    return PyObject_GenericGetAttr(self, name)

cdef inline int require_open(object self, bint is_open) except -1:
    """Checks in methods: one may have been taken from the object before it was closed."""
    if not is_open:
        raise closed_error(self)
    return 0

cdef inline int require_same_context(Context context, object part, v.ibv_context *made_from) except -1:
    if made_from != context.context:
        raise PyverbsUserError(f'{type(part).__name__} belongs to another context')
    return 0

cdef inline int require_pd(Context context, PD pd, v.ibv_pd *given) except -1:
    """@given: the pointer that attributes hold of @pd, which may have been closed since."""
    if pd is None:
        return 0
    require_open(pd, pd.pd != NULL and pd.pd == given)
    return require_same_context(context, pd, pd.pd.context)

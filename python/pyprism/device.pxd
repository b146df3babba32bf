# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsObject
from pyverbs.cq cimport CompChannel
from pyverbs.device cimport Context
cimport pyprism.libprism as dv

cdef class PrismContextAttr(PyverbsObject):
    cdef dv.prismdv_context_attr attr

cdef class PrismDeviceAttr(PyverbsObject):
    cdef dv.prismdv_device_attr attr

cdef class PrismContext(Context):
    cdef create_sets(self)

cdef class PrismCompChannel(CompChannel):
    cpdef close(self)

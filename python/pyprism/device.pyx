# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Devices that speak PRISM."""
cimport cython
from libc.errno cimport ENODEV, errno
from libcpp.vector cimport vector
import errno as errors
import weakref

from pyprism.records import PrismDevice
from pyverbs.pyverbs_error import PyverbsRDMAError, PyverbsUserError

from pyverbs.addr cimport GID
from pyverbs.base cimport PyverbsCM
from pyprism.guard cimport get_attribute, require_open
cimport pyprism.enums as e
cimport pyverbs.verbs as v


def get_device_list():
    """Returns the devices of libibverbs and the userspace devices, as prismdv_get_device_list(3).

    :return: list of PrismDevice
    :raises PyverbsRDMAError: ENOMEM
    """
    cdef int count = 0
    cdef v.ibv_device **devices = dv.prismdv_get_device_list(&count)
    if devices == NULL:
        raise PyverbsRDMAError('Failed to get the list of devices', errno)
    try:
        return [PrismDevice(devices[i].name.decode(), dv.prismdv_is_supported(devices[i])) for i in range(count)]
    finally:
        dv.prismdv_free_device_list(devices)


cdef v.ibv_context *open_device(v.ibv_device *device, PrismContextAttr attr) except NULL:
    cdef v.ibv_context *context = dv.prismdv_open_device(device, &attr.attr if attr is not None else NULL)
    cdef int error = errno
    if context == NULL:
        raise PyverbsRDMAError(f'Failed to open device {device.name.decode()}', error)
    return context


cdef v.ibv_context *open_by_name(str name, PrismContextAttr attr) except NULL:
    cdef int count = 0
    cdef v.ibv_device **devices = dv.prismdv_get_device_list(&count)
    if devices == NULL:
        raise PyverbsRDMAError('Failed to get the list of devices', errno)
    try:
        for i in range(count):
            if devices[i].name.decode() == name:
                return open_device(devices[i], attr)
    finally:
        dv.prismdv_free_device_list(devices)
    raise PyverbsRDMAError(f'Failed to find device {name}', ENODEV)


cdef class PrismContextAttr(PyverbsObject):
    """struct prismdv_context_attr: options for opening a device."""
    def __init__(self, progress=e.PRISMDV_PROGRESS_DEFAULT, path=e.PRISMDV_PATH_DEFAULT):
        """
        :param progress: enum prismdv_progress_mode. INLINE: only calls into the library make progress; THREAD: an
                         engine thread does whenever no call does; DEFAULT: as PRISM_PROGRESS in the environment says,
                         else THREAD. Kernel devices ignore it.
        :param path: enum prismdv_path. UDP: all packets go by UDP; LOCAL: those to peers of one's own on this host go
                     through shared memory, where possible; DEFAULT: as PRISM_LOCAL in the environment says, else LOCAL.
        """
        super().__init__()
        self.attr.progress = progress
        self.attr.path = path

    @property
    def progress(self):
        return self.attr.progress
    @progress.setter
    def progress(self, val):
        self.attr.progress = val

    @property
    def path(self):
        return self.attr.path
    @path.setter
    def path(self, val):
        self.attr.path = val

    @property
    def comp_mask(self):
        """Reserved for growth, 0."""
        return self.attr.comp_mask
    @comp_mask.setter
    def comp_mask(self, val):
        self.attr.comp_mask = val


cdef class PrismDeviceAttr(PyverbsObject):
    """struct prismdv_device_attr: properties of a device. Sizes are in bytes."""
    @property
    def comp_mask(self):
        return self.attr.comp_mask
    @property
    def features(self):
        """Bits of enum prismdv_feature."""
        return self.attr.features
    @property
    def protocol_version(self):
        return self.attr.protocol_version
    @property
    def flags(self):
        """Bits of enum prismdv_device_flags."""
        return self.attr.flags
    @property
    def max_indirect_read(self):
        return self.attr.max_indirect_read
    @property
    def max_cas_size(self):
        return self.attr.max_cas_size
    @property
    def max_outstanding(self):
        """PRISM requests in flight for each queue pair."""
        return self.attr.max_outstanding
    @property
    def max_free_list_tries(self):
        """Bad entries that one ALLOCATE removes before it ends with NO_BUFFER."""
        return self.attr.max_free_list_tries

    def __str__(self):
        names = ('features', 'protocol_version', 'flags', 'max_indirect_read', 'max_cas_size', 'max_outstanding',
                 'max_free_list_tries')
        return ''.join(f'{name:22}: {getattr(self, name)}\n' for name in names)


cdef class PrismContext(Context):
    """A device that speaks PRISM, opened: a pyverbs Context, for PD, CQ and everything else.

    Closing it closes what was created with it, in the right order.
    """
    def __init__(self, str name not None, PrismContextAttr attr=None):
        """Open a device as prismdv_open_device(3). Userspace devices are found with and without prism-run(1).

        :param name: the device's name: see get_device_list()
        :param attr: how to drive it; None for the defaults
        :raises PyverbsRDMAError: ENODEV: no such device, or its interface is down; EOPNOTSUPP: it does not speak PRISM;
                EINVAL: a bad attr; EADDRINUSE: other software has the UDP port; ENOMEM
        """
        if self.context != NULL:
            raise PyverbsUserError('PrismContext is open')
        PyverbsCM.__init__(self)  # Context's own would look in the list of libibverbs
        self.create_sets()
        self.name = name
        self.context = open_by_name(name, attr)
        self.device = self.context.device

    cdef create_sets(self):
        """Create the sets that Context.close() closes. Later releases have more, for objects that our devices do not
        have; close() skips None."""
        self.pds = weakref.WeakSet()
        self.dms = weakref.WeakSet()
        self.ccs = weakref.WeakSet()
        self.cqs = weakref.WeakSet()
        self.qps = weakref.WeakSet()
        self.xrcds = weakref.WeakSet()
        self.vars = weakref.WeakSet()
        self.uars = weakref.WeakSet()
        self.pps = weakref.WeakSet()
        self.sched_nodes = weakref.WeakSet()
        self.sched_leafs = weakref.WeakSet()
        self.dr_domains = weakref.WeakSet()
        self.wqs = weakref.WeakSet()
        self.rwq_ind_tbls = weakref.WeakSet()
        self.crypto_logins = weakref.WeakSet()

    def __getattribute__(self, str name):
        return get_attribute(self, name, self.context != NULL)

    @property
    def closed(self):
        return self.context == NULL

    def query_prism_device(self):
        """Query the device's properties, as prismdv_query_device(3).

        :return: PrismDeviceAttr
        """
        require_open(self, self.context != NULL)
        attr = PrismDeviceAttr()
        rc = dv.prismdv_query_device(self.context, &(<PrismDeviceAttr>attr).attr)
        if rc:
            raise PyverbsRDMAError(f'Failed to query device {self.name}', rc)
        return attr

    def query_gid(self, unsigned int port_num, int index):
        """As Context.query_gid(), but of the device itself, with and without prism-run(1): prismdv_query_gid(3).

        :param port_num: 1
        :param index: in the GID table
        :return: GID
        :raises PyverbsRDMAError: ENODATA: an empty entry; EINVAL: no such port
        """
        require_open(self, self.context != NULL)
        if port_num > 255:
            raise PyverbsRDMAError(f'Failed to query GID {index} of port {port_num}', errors.EINVAL)
        gid = GID()
        rc = dv.prismdv_query_gid(self.context, port_num, index, &(<GID>gid).gid)
        if rc:
            raise PyverbsRDMAError(f'Failed to query GID {index} of port {port_num}', rc)
        return gid

    def query_capability(self):
        """Query the record that peers need for PrismQP.set_peer_capability(), as prismdv_query_capability(3).

        :return: 16 opaque bytes
        """
        cdef dv.prismdv_capability capability
        require_open(self, self.context != NULL)
        rc = dv.prismdv_query_capability(self.context, &capability)
        if rc:
            raise PyverbsRDMAError('Failed to query the capability', rc)
        return (<char *>capability.bytes)[:sizeof(capability.bytes)]

    def query_counters(self):
        """Query the counters since the device was opened: prismdv_query_counters(3), listed in docs/semantics.md S.12.

        :return: dict of name and value
        """
        cdef vector[dv.prismdv_counter] counters
        cdef ssize_t count
        require_open(self, self.context != NULL)
        count = dv.prismdv_query_counters(self.context, NULL, 0)
        if count >= 0:
            counters.resize(count)
            count = min(count, dv.prismdv_query_counters(self.context, counters.data(), count))
        if count < 0:
            raise PyverbsRDMAError('Failed to query the counters', -count)
        return {counters[i].name.decode(): counters[i].value for i in range(count)}

    def progress(self):
        """Drive a userspace device once, as prismdv_progress(3). Without effect on a kernel device."""
        require_open(self, self.context != NULL)
        rc = dv.prismdv_progress(self.context)
        if rc:
            raise PyverbsRDMAError('Failed to make progress', rc)


@cython.no_gc_clear  # when it is collected, its context is still needed to destroy it
cdef class PrismCompChannel(CompChannel):
    """A completion channel, for pyverbs' CQ. Unlike CompChannel it works on userspace devices without prism-run(1)."""
    def __init__(self, Context context not None):
        """
        :param context: an open Context or PrismContext
        :raises PyverbsRDMAError: ENOMEM, EMFILE
        """
        require_open(context, context.context != NULL)
        if self.cc != NULL:
            raise PyverbsUserError('PrismCompChannel is open')
        PyverbsCM.__init__(self)
        self.cqs = weakref.WeakSet()
        self.cc = dv.prismdv_create_comp_channel(context.context)
        if self.cc == NULL:
            raise PyverbsRDMAError('Failed to create a completion channel', errno)
        self.context = context
        context.add_ref(self)

    cpdef close(self):
        """Close the CQs that use it, then the channel. Does nothing if it is closed."""
        if self.cc == NULL:
            return
        context = self.context  # stays until the channel is gone
        try:
            CompChannel.close(self)
        except AttributeError:  # the garbage collector has cleared the set already
            self.cqs = None
            CompChannel.close(self)

    def __getattribute__(self, str name):
        return get_attribute(self, name, self.cc != NULL)

    @property
    def closed(self):
        return self.cc == NULL

    @property
    def fd(self):
        """Descriptor for select and poll, readable when get_cq_event() has an event. That call blocks all Python
        threads until then, and with PRISMDV_PROGRESS_INLINE the device may receive nothing meanwhile."""
        return self.cc.fd

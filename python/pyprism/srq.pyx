# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Free lists."""
cimport cython
from libc.errno cimport errno
from libcpp.vector cimport vector
import weakref

from pyprism.records import PrismRejectedEntry
from pyverbs.pyverbs_error import PyverbsRDMAError, PyverbsUserError

from pyverbs.base cimport PyverbsCM
from pyverbs.device cimport Context
from pyverbs.pd cimport PD
from pyverbs.srq cimport SrqInitAttrEx
from pyprism.guard cimport get_attribute, require_open, require_pd
cimport pyprism.enums as e


cdef class PrismSrqInitAttr(PyverbsObject):
    """struct prismdv_srq_init_attr."""
    def __init__(self, flags=e.PRISMDV_SRQ_FREE_LIST):
        """
        :param flags: bits of enum prismdv_srq_flags; 0 for an ordinary shared receive queue
        """
        super().__init__()
        self.attr.flags = flags

    @property
    def flags(self):
        return self.attr.flags
    @flags.setter
    def flags(self, val):
        self.attr.flags = val

    @property
    def comp_mask(self):
        """Reserved for growth, 0."""
        return self.attr.comp_mask
    @comp_mask.setter
    def comp_mask(self, val):
        self.attr.comp_mask = val


cdef class PrismFreeListAttr(PyverbsObject):
    """struct prismdv_free_list_attr: counts of the buffers of a free list."""
    @property
    def comp_mask(self):
        return self.attr.comp_mask
    @property
    def posted(self):
        """Buffers ever posted."""
        return self.attr.posted
    @property
    def popped(self):
        """Buffers ever handed out."""
        return self.attr.popped
    @property
    def rejected(self):
        """Bad entries ever removed."""
        return self.attr.rejected
    @property
    def reclaimed(self):
        """Buffers taken back from unfinished ALLOCATEs."""
        return self.attr.reclaimed
    @property
    def available(self):
        """Entries in the list."""
        return self.attr.available
    @property
    def allocatable(self):
        """Of these, entries past their grace period."""
        return self.attr.allocatable

    def __str__(self):
        names = ('posted', 'popped', 'rejected', 'reclaimed', 'available', 'allocatable')
        return ''.join(f'{name:22}: {getattr(self, name)}\n' for name in names)


@cython.no_gc_clear  # when it is collected, the objects below it are still needed to destroy it
cdef class PrismSRQ(SRQ):
    """A free list, from which ALLOCATE requests of peers take buffers: prismdv_create_srq(3).

    Buffers are posted with post_recv(), one SGE each, in a region with local and remote write; requests name the list
    by get_srq_num(). No completion tells that a buffer was taken: query_free_list() counts.
    """
    def __init__(self, Context context not None, SrqInitAttrEx attr not None, PrismSrqInitAttr prism_attr=None):
        """
        :param context: an open PrismContext, or pyverbs Context of a device that speaks PRISM
        :param attr: pd and max_wr; max_sge is 1, comp_mask has IBV_SRQ_INIT_ATTR_PD
        :param prism_attr: None for a free list
        :raises PyverbsRDMAError: EINVAL: an attribute is out of range; EOPNOTSUPP: the device does not speak PRISM;
                ENOMEM
        :raises PyverbsUserError: context or pd is closed, or pd is of another context
        """
        if prism_attr is None:
            prism_attr = PrismSrqInitAttr()
        cdef PD pd = attr._pd
        require_open(context, context.context != NULL)
        require_pd(context, pd, attr.attr.pd)
        if self.srq != NULL:
            raise PyverbsUserError('PrismSRQ is open')
        PyverbsCM.__init__(self)  # SRQ's own would create another queue
        self.qps = weakref.WeakSet()
        self.srq = dv.prismdv_create_srq(context.context, &attr.attr, &prism_attr.attr)
        if self.srq == NULL:
            raise PyverbsRDMAError('Failed to create a free list', errno)
        self.context = context
        self.pd = pd
        pd.add_ref(self)

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        """Destroy the list; the buffers in it are the owner's again. Does nothing if it is closed.

        :raises PyverbsRDMAError: EBUSY: a queue pair unknown to pyverbs uses it as its receive queue
        """
        if self.srq == NULL:  # then the members may be gone already
            return
        try:
            SRQ.close(self)
        except AttributeError:  # the garbage collector has cleared the set already
            self.qps = None
            SRQ.close(self)
        self.pd = None
        self.context = None

    def __getattribute__(self, str name):
        return get_attribute(self, name, self.srq != NULL)

    @property
    def closed(self):
        return self.srq == NULL

    def query_free_list(self):
        """Query the counts of the free list, as prismdv_query_free_list(3).

        :return: PrismFreeListAttr
        :raises PyverbsRDMAError: EINVAL: not a free list
        """
        require_open(self, self.srq != NULL)
        attr = PrismFreeListAttr()
        rc = dv.prismdv_query_free_list(self.srq, &(<PrismFreeListAttr>attr).attr)
        if rc:
            raise PyverbsRDMAError('Failed to query the free list', rc)
        return attr

    def poll_rejected(self, unsigned int max_entries=64):
        """Take the bad entries that the device removed since the last call, oldest first, as prismdv_poll_rejected(3).

        :param max_entries: most entries to take
        :return: list of PrismRejectedEntry
        :raises PyverbsRDMAError: EINVAL: not a free list
        """
        cdef vector[dv.prismdv_rejected_entry] entries
        cdef ssize_t count
        require_open(self, self.srq != NULL)
        entries.resize(max_entries)
        count = dv.prismdv_poll_rejected(self.srq, entries.data(), max_entries)
        if count < 0:
            raise PyverbsRDMAError('Failed to poll for rejected entries', -count)
        return [PrismRejectedEntry(entries[i].wr_id, entries[i].addr, entries[i].length, entries[i].lkey,
                                   entries[i].error) for i in range(count)]

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The constants of <infiniband/prismdv.h>, for Python by the same names.

cdef extern from '<infiniband/prismdv.h>':
    cpdef enum prismdv_progress_mode:
        PRISMDV_PROGRESS_DEFAULT
        PRISMDV_PROGRESS_INLINE
        PRISMDV_PROGRESS_THREAD

    cpdef enum prismdv_path:
        PRISMDV_PATH_DEFAULT
        PRISMDV_PATH_UDP
        PRISMDV_PATH_LOCAL

    cpdef enum prismdv_feature:
        PRISMDV_FEATURE_INDIRECT
        PRISMDV_FEATURE_BOUNDED
        PRISMDV_FEATURE_DATA_INDIRECT
        PRISMDV_FEATURE_CONDITIONAL
        PRISMDV_FEATURE_REDIRECT
        PRISMDV_FEATURE_CAS
        PRISMDV_FEATURE_ALLOCATE
        PRISMDV_FEATURE_RESUME

    cpdef enum prismdv_device_flags:
        PRISMDV_DEVICE_USERSPACE

    cpdef enum prismdv_srq_flags:
        PRISMDV_SRQ_FREE_LIST

    cpdef enum prismdv_status:
        PRISMDV_STATUS_OK
        PRISMDV_STATUS_CAS_MISS
        PRISMDV_STATUS_NULL_POINTER
        PRISMDV_STATUS_NO_BUFFER
        PRISMDV_STATUS_SKIPPED

    cpdef enum prismdv_wr_opcode:
        PRISMDV_WR_READ
        PRISMDV_WR_WRITE
        PRISMDV_WR_CAS
        PRISMDV_WR_ALLOCATE

    cpdef enum prismdv_wr_flags:
        PRISMDV_WR_INDIRECT
        PRISMDV_WR_BOUNDED
        PRISMDV_WR_CONDITIONAL
        PRISMDV_WR_REDIRECT
        PRISMDV_WR_DATA_INDIRECT

    cpdef enum prismdv_cas_mode:
        PRISMDV_CAS_EQ
        PRISMDV_CAS_GT
        PRISMDV_CAS_LT

    cpdef enum prismdv_cas_flags:
        PRISMDV_CAS_COMPARE_DATA

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# <prism/kv.h> and <prism/tx.h>: structures and functions.
from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef extern from '<prism/store.h>' nogil:
    const char *prism_store_message()

cdef extern from '<prism/kv.h>' nogil:
    struct prism_kv:
        pass
    struct prism_kv_options:
        size_t size
        const char *device
        uint32_t timeout_ms
        uint32_t patience_ms
        uint32_t depth
        uint32_t max_value_size
    enum:
        PRISM_KV_GET
        PRISM_KV_PUT
        PRISM_KV_REMOVE
    struct prism_kv_operation:
        uint32_t kind
        int32_t result
        const void *key
        size_t key_size
        void *value
        size_t value_size
        void *cookie
    int prism_kv_open(prism_kv **store, const char *servers, const prism_kv_options *options)
    void prism_kv_close(prism_kv *store)
    size_t prism_kv_max_key_size(prism_kv *store)
    size_t prism_kv_max_value_size(prism_kv *store)
    int prism_kv_get(prism_kv *store, const void *key, size_t key_size, void *value, size_t *value_size,
                     uint64_t *version)
    int prism_kv_put(prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size)
    int prism_kv_put_if(prism_kv *store, const void *key, size_t key_size, const void *value, size_t value_size,
                        uint64_t version)
    int prism_kv_remove(prism_kv *store, const void *key, size_t key_size)
    int prism_kv_remove_if(prism_kv *store, const void *key, size_t key_size, uint64_t version)
    int prism_kv_submit(prism_kv *store, prism_kv_operation *operation)
    int prism_kv_poll(prism_kv *store, prism_kv_operation **ended, unsigned int max, uint32_t timeout_ms)

cdef extern from '<prism/tx.h>' nogil:
    struct prism_tx:
        pass
    struct prism_tx_transaction:
        pass
    struct prism_tx_options:
        size_t size
        const char *device
        uint32_t timeout_ms
        uint32_t depth
    struct prism_tx_key:
        const void *data
        size_t size
    ctypedef int (*prism_tx_body)(prism_tx_transaction *transaction, void *argument) noexcept nogil
    int prism_tx_open(prism_tx **store, const char *shards, const prism_tx_options *options)
    void prism_tx_close(prism_tx *store)
    size_t prism_tx_max_key_size(prism_tx *store)
    size_t prism_tx_max_value_size(prism_tx *store)
    int prism_tx_begin(prism_tx *store, prism_tx_transaction **transaction)
    int prism_tx_fetch(prism_tx_transaction *transaction, const prism_tx_key *keys, size_t count)
    int prism_tx_read(prism_tx_transaction *transaction, const void *key, size_t key_size, void *value,
                      size_t *value_size)
    int prism_tx_write(prism_tx_transaction *transaction, const void *key, size_t key_size, const void *value,
                       size_t value_size)
    int prism_tx_remove(prism_tx_transaction *transaction, const void *key, size_t key_size)
    int prism_tx_commit(prism_tx_transaction *transaction)
    void prism_tx_abort(prism_tx_transaction *transaction)
    int prism_tx_run(prism_tx *store, prism_tx_body body, void *argument, unsigned int attempts)

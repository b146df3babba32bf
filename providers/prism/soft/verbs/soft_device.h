/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interface of libprism for the launcher's preload library, about userspace devices.
 *
 * libibverbs answers some calls itself, from sysfs or by a kernel command, without asking a provider. A userspace
 * device has neither, so the preload library takes these calls and hands those for a userspace device to the functions
 * below. Except for the device list they are internal to the project: exported by libprism under its private symbol
 * version, with no promise to others. All are thread-safe.
 *
 * libprism itself must take libibverbs's own device list from prism::real_verbs (real_verbs.hpp), never by calling
 * ibv_get_device_list(): under the launcher that name leads to the preload library, which calls libprism.
 */
#ifndef PRISM_SOFT_DEVICE_H
#define PRISM_SOFT_DEVICE_H

#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * prismdv_get_device_list - libibverbs's devices followed by the userspace ones
 * @num: out, the number of devices; may be NULL
 *
 * Public, in <infiniband/prismdv.h> as well. The list ends with NULL, comes from malloc(), and holds a reference to
 * each of its devices. Its owner may reorder it and split it in two, each part again ending with NULL in memory from
 * malloc(), as long as every device is given to prismdv_free_device_list() once.
 * Returns the list, or NULL and errno.
 */
struct ibv_device **prismdv_get_device_list(int *num);

/**
 * prismdv_free_device_list - drop the references that a list holds, and the list
 * @list: from prismdv_get_device_list() or from libibverbs's ibv_get_device_list()
 */
void prismdv_free_device_list(struct ibv_device **list);

/** prismdv_is_soft_device - true if @device is a userspace device of this library */
bool prismdv_is_soft_device(const struct ibv_device *device);

/** prismdv_soft_guid - the node GUID of a userspace device, in network order */
__be64 prismdv_soft_guid(const struct ibv_device *device);

/**
 * prismdv_soft_query_gid - ibv_query_gid() of a userspace device
 *
 * An entry of the table that holds no GID reads as zeros. An index outside the table must fail, or the search in
 * ibv_init_ah_from_wc() for a GID that is not there never ends.
 * Returns 0, or -1 and errno (EINVAL for a port or index outside the tables).
 */
int prismdv_soft_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid);

/**
 * prismdv_soft_query_gid_entry - ibv_query_gid_ex() of a userspace device
 *
 * Returns 0, or an errno value: ENODATA for an entry that holds no GID, EINVAL for a port outside the device.
 */
int prismdv_soft_query_gid_entry(struct ibv_context *ctx, uint32_t port, uint32_t index, struct ibv_gid_entry *entry);

/**
 * prismdv_soft_query_gid_table - ibv_query_gid_table() of a userspace device
 * @entries: out, the entries that hold a GID, all ports
 * @max: number of entries that fit
 *
 * Returns the number of entries written, or a negative errno value: -EINVAL if more than @max hold a GID.
 */
ssize_t prismdv_soft_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t max);

/**
 * prismdv_soft_gid_index - index of an address in the GID tables of a userspace device
 * @mtu: the interface's MTU now; open contexts offer it from now on
 * @addresses: all bindable addresses of the interface, in the order of list_interfaces()
 * @count: number of @addresses
 * @wanted: one of them; NULL to ask for none
 *
 * An address has one index in all contexts of the process. New addresses are added, if possible, to the table of each
 * open context, whose program gets IBV_EVENT_GID_CHANGE. Takes the lock of each context.
 * Returns the index, or a negative errno value: -ENOENT for an address without one.
 */
ssize_t prismdv_soft_gid_index(const struct ibv_device *device, unsigned mtu, const union ibv_gid *addresses,
	size_t count, const union ibv_gid *wanted);

/**
 * prismdv_soft_query_pkey - ibv_query_pkey() of a userspace device
 *
 * Returns 0, or -1 and errno. An index outside the table must fail, as for prismdv_soft_query_gid().
 */
int prismdv_soft_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey);

/**
 * prismdv_soft_create_comp_channel - ibv_create_comp_channel() of a userspace device
 *
 * The channel's descriptor yields the 8-byte CQ pointers that ibv_get_cq_event() reads. A program that is not under the
 * launcher may end it with libibverbs's ibv_destroy_comp_channel(), which closes fd and calls free().
 * Returns the channel, or NULL and errno.
 */
struct ibv_comp_channel *prismdv_soft_create_comp_channel(struct ibv_context *ctx);

/**
 * prismdv_soft_destroy_comp_channel - ibv_destroy_comp_channel() of a userspace device
 *
 * Returns 0, or EBUSY while CQs use the channel.
 */
int prismdv_soft_destroy_comp_channel(struct ibv_comp_channel *channel);

/**
 * prismdv_soft_keeps_descriptor - true if @fd belongs to a userspace device and is unknown to programs
 *
 * False for those that a program gets: of completion channels and of events. Keeps errno; safe in signal handlers.
 */
bool prismdv_soft_keeps_descriptor(int fd);

/**
 * prismdv_soft_sigaction - sigaction(3), as long as the library handles the signal itself
 *
 * The handler then comes behind the library's own, which stays invisible. For SIGSEGV and SIGBUS. Safe in signal
 * handlers.
 * Returns false, and has done nothing, for other signals and before the first device is open.
 */
bool prismdv_soft_sigaction(int signal, const struct sigaction *action, struct sigaction *before);

/** Size of a management datagram (IBTA 13.4) in bytes. */
#define PRISM_SOFT_MAD_SIZE 256

/**
 * prism_soft_gsi_handler - handler of management datagrams to QP 1
 * @from: the sender's GID
 * @to: our GID that it was sent to
 * @mad: PRISM_SOFT_MAD_SIZE bytes, valid during the call
 *
 * Called by the thread that drives the device, with the context's lock held: it copies and returns, and calls no verbs.
 * Returns 0, or an errno value if the datagram is lost, which is counted (rx_management_dropped).
 */
typedef int (*prism_soft_gsi_handler)(const union ibv_gid *from, const union ibv_gid *to, const void *mad);

/**
 * prismdv_soft_gsi_handle - set the handler of QP 1 (IBTA 13.5, the general services interface)
 * @handler: for each context of the process that is opened from now on; not for a loopback interface, which leads
 * nowhere
 *
 * One handler serves all contexts: a datagram to a host may come to any of its contexts as soon as one is open. Such a
 * context has an engine thread, even if its progress is inline: peers must be answered in time.
 */
void prismdv_soft_gsi_handle(prism_soft_gsi_handler handler);

/**
 * prismdv_soft_gsi_note_drop - a management datagram that the handler took is dropped after all
 *
 * It is counted (rx_management_dropped). Not to be called by the handler.
 */
void prismdv_soft_gsi_note_drop(struct ibv_context *context);

/**
 * prismdv_soft_gsi_send - send a management datagram from QP 1 to QP 1
 * @sgid_index: index of our address that it is sent from
 * @to: the peer's GID
 * @mad: PRISM_SOFT_MAD_SIZE bytes
 *
 * Unreliable, like every datagram. Not to be called by the handler. Returns 0, or EINVAL for an address that does not
 * reach the peer's family.
 */
int prismdv_soft_gsi_send(struct ibv_context *ctx, unsigned sgid_index, const union ibv_gid *to, const void *mad);

#ifdef __cplusplus
}
#endif

#endif /* PRISM_SOFT_DEVICE_H */

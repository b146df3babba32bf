/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Owners of verbs objects, and set-up functions of the tools. Failures are thrown as Error. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <infiniband/prismdv.h>
#include <sys/socket.h>

#include "common/exchange.hpp"
#include "common/parameters.hpp"

namespace prism::perftest
{

template <auto Destroy>
struct Destroyer {
	template <typename Object>
	void operator()(Object *object) const
	{
		Destroy(object);
	}
};

using Context = std::unique_ptr<ibv_context, Destroyer<ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Destroyer<ibv_dealloc_pd>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Destroyer<ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Destroyer<ibv_destroy_qp>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Destroyer<ibv_dereg_mr>>;
using SharedReceiveQueue = std::unique_ptr<ibv_srq, Destroyer<ibv_destroy_srq>>;

/* ibv_free_dm() is an inline function that calls through the context: it cannot be a template argument everywhere. */
struct DeviceMemoryFree {
	void operator()(ibv_dm *memory) const { ibv_free_dm(memory); }
};
using DeviceMemory = std::unique_ptr<ibv_dm, DeviceMemoryFree>;

/** Zeroed, page-aligned memory. */
class Arena
{
public:
	explicit Arena(std::size_t bytes);
	Arena(const Arena &) = delete;
	Arena &operator=(const Arena &) = delete;
	~Arena();

	[[nodiscard]] std::uint8_t *data() const { return memory_; }
	[[nodiscard]] std::size_t size() const { return length_; }

private:
	std::uint8_t *memory_;
	std::size_t length_;
};

/** Throws Error if there is no device called @p name, or without a name none that speaks PRISM. Call before a peer
 * waits. */
void require_device(const std::string &name);

/**
 * Opens the device called @p name; without a name the one that has @p local, the address of the TCP connection, and if
 * there is none, the first that speaks PRISM.
 */
[[nodiscard]] Context open_device(
	const std::string &name, const sockaddr_storage &local, Progress progress, Carrier carrier);

/** A GID of the device and its index in the table. */
struct GidEntry {
	int index;
	Gid gid;
};

/** Returns the GID at @p index; without an index the one that equals @p local, else the first. */
[[nodiscard]] GidEntry choose_gid(
	ibv_context *context, std::uint8_t port, std::optional<int> index, const sockaddr_storage &local);

/** Returns the path MTU of the port in bytes, or @p wanted if that is not 0 (throws Error if the port cannot). */
[[nodiscard]] std::uint16_t port_mtu(ibv_context *context, std::uint8_t port, std::uint32_t wanted);

[[nodiscard]] prismdv_device_attr query_prism_device(ibv_context *context);

[[nodiscard]] MemoryRegion register_memory(ibv_pd *pd, const Arena &arena, int access);

/** Returns the MTU of @p bytes in verbs' encoding. */
[[nodiscard]] ibv_mtu encode_mtu(std::uint16_t bytes);

/** Parameters of a connection beside the peer's QP address. */
struct Path {
	std::uint8_t port;
	int gid_index;
	Gid peer_gid;
	std::uint16_t mtu;
	std::uint8_t responder_depth; /**< max_dest_rd_atomic */
	std::uint8_t initiator_depth; /**< max_rd_atomic */
	std::uint8_t timeout;
};

void init_qp(ibv_qp *qp, std::uint8_t port);

/** Changes @p qp to RTS. */
void connect_qp(ibv_qp *qp, std::uint32_t own_psn, const QueuePairAddress &peer, const Path &path);

/** Does the same, and declares the peer's capability to it. */
void connect_qp(ibv_qp *qp, std::uint32_t own_psn, const QueuePairAddress &peer, const CapabilityBytes &capability,
	const Path &path);

} // namespace prism::perftest

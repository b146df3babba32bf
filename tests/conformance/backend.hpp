/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interface of the walk to an implementation. Requests, regions and free lists are named as in the reference; a
 * back-end maps the numbers to its own keys and handles. There are four: the executor alone, two protocol engines
 * joined in memory, a kernel device that requests reach through verbs, and one that they reach as packets.
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference.hpp"

extern "C" {
#include "prism_wire.h"
}

namespace prism::conformance
{

using reference::Bytes;

struct ListState {
	std::uint64_t posted = 0;
	std::uint64_t popped = 0;
	std::uint64_t rejected = 0;
	std::uint64_t reclaimed = 0;
	std::uint64_t available = 0;
	bool operator==(const ListState &) const = default;
};

class Backend
{
public:
	virtual ~Backend() = default;

	[[nodiscard]] virtual const char *name() const = 0;
	/** Returns true if it can vary the access flags of the QP. */
	[[nodiscard]] virtual bool checks_qp_access() const { return false; }
	/** Returns true if it can change packets on their way. */
	[[nodiscard]] virtual bool mangles() const { return false; }
	/** Returns true if it can send any request. If not, malformed ones go to refuses(). */
	[[nodiscard]] virtual bool raw() const { return true; }

	/** Makes memory, regions and free lists as in @p world; lists may get more capacity. Called once. */
	virtual void build(reference::World &world) = 0;
	/** Moves both QPs from any state to RTS, with @p access for the peer. */
	virtual void reset(const reference::Rights &access) = 0;

	virtual void poke(std::uint64_t va, const Bytes &bytes) = 0;
	virtual void set_live(int region, bool live) = 0;
	virtual bool post(int list, const reference::Entry &entry) = 0;
	/** Posts a malformed request; returns true if that fails with EINVAL. */
	virtual bool refuses(const reference::Request &) { return false; }

	/** Posts all of @p requests at once and waits for every one; returns as many outcomes. */
	virtual std::vector<reference::Outcome> run(std::span<const reference::Request> requests) = 0;

	/** Returns the bytes of an arena. */
	[[nodiscard]] virtual std::span<const std::uint8_t> memory(std::size_t arena) const = 0;
	[[nodiscard]] virtual ListState list_state(int list) = 0;
	[[nodiscard]] virtual std::vector<reference::Rejected> take_rejected(int list) = 0;
	/** Returns the chain state, if it can be seen. */
	[[nodiscard]] virtual std::optional<bool> chain_ok() const { return {}; }
	/** Returns an invariant of its own that does not hold, or an empty string. */
	[[nodiscard]] virtual std::string complaint() { return {}; }
};

std::unique_ptr<Backend> make_executor_backend();
std::unique_ptr<Backend> make_engine_backend();
/** Two queue pairs of a kernel device. */
std::unique_ptr<Backend> make_device_backend(const std::string &device);
struct WirePath;
/** A queue pair of a kernel device, and packets that the back-end makes itself. */
std::unique_ptr<Backend> make_wire_backend(const std::string &device, const WirePath &path);

/** Names on the wire of a request's regions and list. */
struct WireNames {
	std::uint32_t rkey = 0;
	std::uint32_t aux_rkey = 0;
	std::uint32_t free_list = 0;
};

/** Returns @p request in core/'s form; @p operands (room for 4 * 32 bytes) gets the operands of a CAS. */
prism_request to_wire(const reference::Request &request, const WireNames &names, std::uint8_t *operands);

/** Changes a request packet (BTH to pad) as @p mangle says. */
void mangle_packet(std::vector<std::uint8_t> &packet, reference::Mangle mangle);

} // namespace prism::conformance

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common parts of the tests against a kernel device: objects of verbs that destroy themselves, connections, counters.
 */
#pragma once

#include <infiniband/prismdv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace prism::conformance
{

/** Throws std::system_error unless @p error is 0. */
void check(int error, const char *what);

/** Throws std::system_error with errno for a null pointer. */
void check_made(const void *object, const char *what);

template <typename T>
T *made(T *object, const char *what)
{
	check_made(object, what);
	return object;
}

/** A destroy call that fails ends the test: something still uses the object. */
struct Destroy {
	void operator()(ibv_context *context) const;
	void operator()(ibv_pd *pd) const;
	void operator()(ibv_mr *mr) const;
	void operator()(ibv_mw *mw) const;
	void operator()(ibv_cq *cq) const;
	void operator()(ibv_qp *qp) const;
	void operator()(ibv_srq *srq) const;
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

/** Pages of their own, so that nothing else lies in a region's pages. */
class Pages
{
public:
	/** @p offset: of data() in its first page */
	explicit Pages(std::size_t size, std::size_t offset = 0);
	~Pages();
	Pages(Pages &&other) noexcept;
	Pages(const Pages &) = delete;
	Pages &operator=(const Pages &) = delete;
	Pages &operator=(Pages &&) = delete;

	[[nodiscard]] std::uint8_t *data() const { return start_ + offset_; }
	[[nodiscard]] std::size_t size() const { return size_; }
	[[nodiscard]] std::uint64_t va() const { return reinterpret_cast<std::uint64_t>(data()); }
	/** Makes the pages read-only: a later write through our mapping raises a signal. */
	void protect() const;

private:
	std::uint8_t *start_;
	std::size_t size_, offset_, mapped_;
};

inline constexpr unsigned every_right =
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

/** Registered memory under addresses of the caller's choice. */
class MemoryRegion
{
public:
	MemoryRegion(ibv_pd *pd, std::size_t size, unsigned access = every_right, std::optional<std::uint64_t> va = {});

	[[nodiscard]] std::uint8_t *data() const { return pages_.data(); }
	[[nodiscard]] std::size_t size() const { return pages_.size(); }
	[[nodiscard]] std::uint64_t va(std::size_t offset = 0) const { return va_ + offset; }
	[[nodiscard]] std::uint32_t key() const { return mr_->lkey; }
	[[nodiscard]] ibv_mr *mr() const { return mr_.get(); }
	[[nodiscard]] const Pages &pages() const { return pages_; }
	[[nodiscard]] ibv_sge sge(std::size_t offset, std::size_t length) const
	{
		return {va(offset), static_cast<std::uint32_t>(length), key()};
	}
	[[nodiscard]] std::uint64_t word(std::size_t offset) const;
	void put(std::size_t offset, std::uint64_t value) const;
	void deregister() { mr_.reset(); }

private:
	Pages pages_;
	std::uint64_t va_;
	Owned<ibv_mr> mr_;
};

/** A device that speaks PRISM, opened by name. */
class Device
{
public:
	explicit Device(const std::string &name);

	[[nodiscard]] ibv_context *context() const { return context_.get(); }
	[[nodiscard]] ibv_pd *pd() const { return pd_.get(); }
	[[nodiscard]] const std::string &name() const { return name_; }
	/** Returns the position of a GID in the table; throws if it is not there. */
	[[nodiscard]] int index_of(const ibv_gid &gid) const;
	/** Returns a GID of the device that is an address with a prefix other than link-local, of the given family. */
	[[nodiscard]] ibv_gid some_gid(bool ipv6) const;
	/** Returns the counters as they are now; 0 for a name that the device does not have. */
	[[nodiscard]] std::vector<std::uint64_t> counters(const std::vector<std::string> &names) const;
	[[nodiscard]] std::uint64_t counter(const std::string &counter) const { return counters({counter})[0]; }
	[[nodiscard]] bool has_counter(const std::string &counter) const;
	/** Takes and acknowledges all asynchronous events; returns those of queue pairs. */
	std::vector<ibv_event_type> take_events() const;
	[[nodiscard]] const prismdv_capability &capability() const { return capability_; }

private:
	std::string name_;
	Owned<ibv_context> context_;
	Owned<ibv_pd> pd_;
	prismdv_capability capability_{};
	mutable std::chrono::nanoseconds counters_read_{}; /* ticks::now() then */
};

struct QpLimits {
	std::uint32_t send_wr = 64;
	std::uint32_t recv_wr = 16;
	std::uint32_t sge = 4;
	std::uint32_t inline_data = 128;
	bool prism = true;
	ibv_srq *srq = nullptr;
	ibv_qp_type type = IBV_QPT_RC;
};
Owned<ibv_cq> create_cq(const Device &device, int entries = 256);
Owned<ibv_qp> create_qp(const Device &device, ibv_pd *pd, ibv_cq *cq, const QpLimits &limits = {});
Owned<ibv_srq> create_srq(
	const Device &device, ibv_pd *pd, std::uint32_t entries, bool free_list, std::uint32_t *capacity = nullptr);
std::uint32_t number_of(ibv_srq *srq);
int post_buffer(ibv_srq *list, std::uint64_t id, const ibv_sge &sge);

/** Destination and options of a queue pair's connection. */
struct Path {
	ibv_gid source{}, destination{};
	std::uint32_t qpn = 0;
	std::uint32_t send_psn = 0, recv_psn = 0;
	std::uint32_t mtu = 1024;
	unsigned access = every_right;
	std::uint8_t rd_atomic = 16, dest_rd_atomic = 16;
	std::uint8_t timeout = 17; /* 0.5 s: nothing is repeated only because the machine is slow */
	std::uint8_t retry = 7;
};
ibv_mtu mtu_code(std::uint32_t bytes);
int set_state(ibv_qp *qp, ibv_qp_state state);
ibv_qp_state state_of(ibv_qp *qp);
/**
 * Moves the queue pair from any state to RTS, by way of RESET; declares that a PRISM queue pair's peer has all
 * features.
 */
void connect(const Device &device, ibv_qp *qp, const Path &path);
/** Connects two queue pairs of one device to each other. */
void connect_both(const Device &device, ibv_qp *a, ibv_qp *b, Path path);

using Clock = std::chrono::steady_clock;
inline constexpr std::chrono::seconds patience{10};

/** Polls until @p done or @p limit is over. */
bool wait_until(const std::function<bool()> &done, Clock::duration limit = patience);
/** The next completion, or none in time. */
std::optional<ibv_wc> next_completion(ibv_cq *cq, Clock::duration limit = patience);

} // namespace prism::conformance

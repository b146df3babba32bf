/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Connection set-up: both sides describe their queue pair and shared memory to each other, then connect.
 *
 * The description is a ConnectionRecord, and a Rendezvous carries it. TCP is the one here. The record and establish()
 * do not depend on it: another carrier (such as the private data of a connection manager) is another Rendezvous.
 */
#pragma once

#include <prism/queue_pair.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace prism
{

/** A free list that the peer may allocate from. */
struct FreeListInfo {
	std::uint32_t number = 0;      /**< for Chain::allocate() */
	std::uint32_t buffer_size = 0; /**< of each buffer, in bytes */
	RemoteRegion buffers;          /**< memory of the buffers */
};

/** A region that the peer may access. The two applications agree on the meaning of @p id. */
struct RegionInfo {
	std::uint32_t id = 0;
	RemoteRegion region;
};

/** All that one side tells the other. docs/libprism-ext.md specifies it byte by byte. */
struct PRISM_EXPORT ConnectionRecord {
	static constexpr std::uint16_t version = 1;
	static constexpr std::size_t max_free_lists = 64;
	static constexpr std::size_t max_regions = 64;
	static constexpr std::size_t max_private_data = 16384;
	static constexpr std::size_t header_size = 72;
	static constexpr std::size_t free_list_size = 32;
	static constexpr std::size_t region_size = 24;
	static constexpr std::size_t max_size =
		header_size + max_free_lists * free_list_size + max_regions * region_size + max_private_data;

	Endpoint endpoint;
	std::vector<FreeListInfo> free_lists;
	std::vector<RegionInfo> regions;
	std::vector<std::byte> private_data; /**< of the application */

	/** Returns the region with this id, or null. */
	[[nodiscard]] const RegionInfo *region(std::uint32_t id) const noexcept;

	/** Encodes the record. Errors: E2BIG (more lists, regions or private data than the limits above). */
	[[nodiscard]] Result<std::vector<std::byte>> serialize() const;

	/**
	 * Reads a record from a peer that is not trusted: every length, count and field is checked.
	 * Errors: EBADMSG (not a well-formed record), EPROTONOSUPPORT (another version).
	 */
	static Result<ConnectionRecord> parse(std::span<const std::byte> bytes);

	/** Returns the length of the whole record, as its first prefix_size bytes announce it; checked as by
	 * parse(). */
	static Result<std::size_t> announced_size(std::span<const std::byte> prefix);
	static constexpr std::size_t prefix_size = 12;
};

using Deadline = std::chrono::steady_clock::time_point;

/** Carries records between two sides that are about to connect. One thread at a time. */
class PRISM_EXPORT Rendezvous
{
public:
	virtual ~Rendezvous() = default;

	/** Sends @p mine and returns the peer's. Errors: ETIMEDOUT, ECONNRESET, EBADMSG, those of parse(). */
	virtual Result<ConnectionRecord> swap(const ConnectionRecord &mine, Deadline deadline) = 0;

	/** Returns when both sides have called it, so that no request reaches a queue pair that is not ready. */
	virtual Result<void> barrier(Deadline deadline) = 0;
};

/** A rendezvous over a TCP connection. It stays open: it may serve several queue pairs, and its closing tells the
 * peer that we are gone. */
class PRISM_EXPORT TcpRendezvous final : public Rendezvous
{
public:
	/** Connects to a listening peer; @p host is a name or an address. Retries refused connections until the
	 * timeout, which the look-up of the name is part of: a thread is left to a name server that is silent.
	 * Errors: ETIMEDOUT, EHOSTUNREACH (the name, or no way), those of connect(2). */
	static Result<TcpRendezvous> connect(
		const std::string &host, std::uint16_t port, std::chrono::milliseconds timeout);

	Result<ConnectionRecord> swap(const ConnectionRecord &mine, Deadline deadline) override;
	Result<void> barrier(Deadline deadline) override;

	/** Returns true if the peer has closed, or broken, the connection. Does not wait. */
	[[nodiscard]] bool peer_gone() const noexcept;

	/** Descriptor for poll(2), readable when the peer closes. Owned by this object. */
	[[nodiscard]] int fd() const noexcept { return socket_.get(); }

private:
	friend class TcpListener;

	/** A file descriptor that closes itself. */
	class Socket
	{
	public:
		Socket() = default;
		explicit Socket(int descriptor) noexcept : fd_(descriptor) {}
		Socket(Socket &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
		Socket &operator=(Socket &&other) noexcept
		{
			std::swap(fd_, other.fd_);
			return *this;
		}
		~Socket();
		[[nodiscard]] int get() const noexcept { return fd_; }

	private:
		int fd_ = -1;
	};

	explicit TcpRendezvous(Socket connected) : socket_(std::move(connected)) {}
	static int socket_of(int family) noexcept;
	static Result<Socket> connect_once(const std::string &host, std::uint16_t port, Deadline deadline);
	Result<void> send(std::span<const std::byte> bytes, Deadline deadline) const;
	Result<void> receive(std::span<std::byte> bytes, Deadline deadline) const;

	Socket socket_;
};

/** Listener of a server for TcpRendezvous::connect(). */
class PRISM_EXPORT TcpListener
{
public:
	/** Listens on @p address (empty: all) and @p port (0: any, see port()). */
	static Result<TcpListener> create(std::uint16_t port, const std::string &address = {});

	[[nodiscard]] std::uint16_t port() const noexcept { return bound_port_; }
	/** Descriptor for poll(2), readable when accept() will not wait. Owned by this object. */
	[[nodiscard]] int fd() const noexcept { return socket_.get(); }

	/** Accepts the next client. Errors: ETIMEDOUT. */
	Result<TcpRendezvous> accept(std::chrono::milliseconds timeout);

private:
	TcpListener(TcpRendezvous::Socket listening, std::uint16_t port)
		: socket_(std::move(listening)), bound_port_(port)
	{
	}

	TcpRendezvous::Socket socket_;
	std::uint16_t bound_port_;
};

/**
 * Connects @p qp: swaps records over @p rendezvous, changes the queue pair to RTS and waits for the peer at a barrier.
 * The endpoint in @p mine is filled in from @p qp. Returns the peer's record.
 */
PRISM_EXPORT Result<ConnectionRecord> establish(
	Rendezvous &rendezvous, QueuePair &qp, ConnectionRecord mine, std::chrono::milliseconds timeout);

} // namespace prism

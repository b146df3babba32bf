/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "link.hpp"
#include "rs/store/protocol.hpp"

namespace rs_sim
{

struct ClientOptions {
	prism::rs::ProtocolOptions protocol;
	std::uint32_t depth = 1; /* operations under way at once */
	std::uint32_t block_size = 512;
	std::uint32_t report_batch = 4; /* addresses in one report */
	soft::Time timeout = 0;         /* ns, of an operation */
	Flaw flaw = Flaw::none;
};

class Client;

/** Services of the simulation that a client needs. */
class ClientSurroundings
{
public:
	virtual ~ClientSurroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	/**
	 * Requests a connection of @p client to @p replica, which is told @p epoch; link_up() is called once it is
	 * made.
	 */
	virtual void want(Client &client, unsigned replica, std::uint64_t epoch) = 0;
	/** Called when @p client has closed a connection. */
	virtual void closed(Client &client, unsigned replica, std::uint32_t connection) = 0;
};

/** Registered memory of a client. */
class ClientMemory
{
public:
	ClientMemory(test::Node &node, std::size_t size);
	~ClientMemory() { node_.engine.memory.remove(key_); }
	ClientMemory(const ClientMemory &) = delete;
	ClientMemory &operator=(const ClientMemory &) = delete;

	[[nodiscard]] std::byte *data() noexcept { return reinterpret_cast<std::byte *>(lines_.data()); }
	[[nodiscard]] std::uint32_t lkey() const noexcept { return key_; }

private:
	struct alignas(64) Line {
		std::byte bytes[64];
	};

	test::Node &node_;
	std::vector<Line> lines_;
	std::uint32_t key_ = 0;
};

/** prism::rs::VolumeClient in virtual time: a session over simulated connections, and a Flaw's changes between them. */
class Client final : private prism::rs::SessionHost, private LinkHooks
{
public:
	using Ended = std::function<void(prism::apps::Operation &)>;

	/** @p ended: called with each operation that has ended. */
	Client(test::Node &node, ClientSurroundings &around, const ClientOptions &options, Ended ended);

	/** Requests the first connections. */
	void begin() { session_.begin(); }
	[[nodiscard]] prism::rs::VolumeSession &session() noexcept { return session_; }

	/** Runs @p operation on @p block. Returns false if the most operations are under way. */
	bool start(prism::apps::Operation &operation, std::uint64_t block);
	/** Handles completions, timers and requests of replicas. */
	void poll();
	/** Posts requests that were put off. */
	void ring() { session_.ring(); }
	[[nodiscard]] bool has_completions() const noexcept;
	/** Returns the moment at which poll() has something to do even if nothing happens; 0 if never. */
	[[nodiscard]] soft::Time next_timer() const noexcept;
	/** Returns a replica at which an install is under way; nothing if there is none. */
	[[nodiscard]] std::optional<unsigned> installing() noexcept;
	/** Returns the number of installs that replaced nothing. */
	[[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

	/* Connections */
	void link_up(unsigned replica, std::unique_ptr<Pair> pair, const Admission &admission);
	/** Tells the session that the connection to @p replica has ended. */
	void link_down(unsigned replica) { session_.link_down(replica); }
	/** Handles the replica's request to settle; calls @p settled when the client has. */
	void settle(unsigned replica, std::function<void()> settled) { links_[replica]->settle(std::move(settled)); }

private:
	/* SessionHost */
	[[nodiscard]] prism::rs::Time now() const noexcept override { return std::chrono::nanoseconds(around_.time()); }
	void want(unsigned replica, std::uint64_t epoch) noexcept override { around_.want(*this, replica, epoch); }
	void close(unsigned replica) noexcept override;

	/* LinkHooks */
	bool spares(const prism::Chain::Posting &posting) override;
	[[nodiscard]] bool forgets_buffer() const override { return missing_ && flaw_ == Flaw::keeps_misses; }

	void handle(const prism::Completion &completion);
	void hand_over();

	ClientSurroundings &around_;
	const std::uint32_t report_batch_;
	const Flaw flaw_;
	const bool is_repair_;
	const Ended ended_;
	ClientMemory memory_;
	std::vector<std::unique_ptr<Link>> links_; /* by replica; may be null */
	prism::rs::VolumeSession session_;
	std::vector<prism::Completion> spared_; /* of requests that spares() has kept */
	std::uint64_t misses_ = 0;
	bool missing_ = false; /* the buffer released now belongs to a miss */
};

} // namespace rs_sim

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
	std::uint32_t report_batch = 4; /* addresses of a report */
	soft::Time timeout = 0;         /* ns, of an operation */
	Flaw flaw = Flaw::none;
};

class Client;

/** What a client needs of the simulation around it. */
class ClientSurroundings
{
public:
	virtual ~ClientSurroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	/** @p client wants a connection to @p replica, which is told @p epoch: link_up() will be called once it is. */
	virtual void want(Client &client, unsigned replica, std::uint64_t epoch) = 0;
	/** @p client has closed a connection. */
	virtual void closed(Client &client, unsigned replica, std::uint32_t connection) = 0;
};

/** What carries the operations of one client: prism::rs::VolumeClient, in virtual time. */
class Client final : public prism::rs::Carrier
{
public:
	/** @p ended: is told of each lane whose operation has ended. */
	Client(test::Node &node, ClientSurroundings &around, const ClientOptions &options,
		std::function<void(prism::rs::Lane &)> ended);
	~Client() override;
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;

	/** Wants its first connections. */
	void begin();

	[[nodiscard]] prism::rs::Lane &lane(std::size_t number) noexcept { return lanes_[number]; }
	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }
	[[nodiscard]] unsigned replicas() const noexcept { return static_cast<unsigned>(replicas_.size()); }
	/** Runs @p operation on @p block in the idle @p lane. */
	void start(prism::rs::Lane &lane, prism::apps::Operation &operation, std::uint64_t block);

	/** Handles what has completed, whose time has come, and what replicas have asked. */
	void poll();
	/** Posts what was put off. */
	void ring();
	[[nodiscard]] bool has_completions() const noexcept;
	/** When poll() has something to do even if nothing happens; 0: never. */
	[[nodiscard]] soft::Time next_timer() const noexcept;
	/** Reports what is freed and not reported yet. */
	void flush();
	/** A replica at which an install is under way; nothing: there is none. */
	[[nodiscard]] std::optional<unsigned> installing() const noexcept;
	/** Installs that have not replaced anything. */
	[[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

	/* Connections */
	void link_up(unsigned replica, std::unique_ptr<Pair> pair, const Admission &admission);
	/** The connection to @p replica has ended, or is not wanted any more. */
	void link_down(unsigned replica);
	/** Null: there is none. */
	[[nodiscard]] Link *link(unsigned replica) noexcept { return replicas_[replica].link.get(); }
	/** The replica asks; @p settled is called when that is so. */
	void settle(unsigned replica, std::function<void()> settled);
	/** Of a repairer: all replicas but its own are told @p epoch. */
	void raise_epoch(std::uint64_t epoch);
	/** Whether @p replica is the one that this client repairs. */
	[[nodiscard]] bool repairs(unsigned replica) const noexcept { return options_.protocol.repairs == replica; }
	/** Of a repairer: the connection to its own replica has been there, and is no more. */
	[[nodiscard]] bool lost_its_replica() const noexcept { return lost_its_replica_; }

	/* Carrier */
	[[nodiscard]] prism::rs::Time now() const noexcept override { return std::chrono::nanoseconds(around_.time()); }
	[[nodiscard]] const prism::rs::ReplicaView *view(unsigned replica) const noexcept override;
	[[nodiscard]] std::uint64_t epoch() const noexcept override { return epoch_; }
	int post(prism::rs::Lane &lane, unsigned replica) noexcept override;
	void release(unsigned replica, std::uint64_t address) noexcept override;
	void wake(prism::rs::Lane &lane) noexcept override { to_wake_.push_back(&lane); }

private:
	struct alignas(64) Line {
		std::byte bytes[64];
	};
	struct Replica {
		std::unique_ptr<Link> link;
		std::vector<prism::Chain::Posting> put_off;
	};
	struct Spared {
		prism::rs::Lane *lane;
		unsigned replica;
	};

	void handle(unsigned replica, const prism::Completion &completion);
	void end_leg(prism::rs::Lane &lane, unsigned replica);
	void resume(prism::rs::Lane &lane);
	void finish(prism::rs::Lane &lane);
	void run_timers();
	void look_after_links();
	void end_spared();
	[[nodiscard]] bool spares(const prism::rs::Lane &lane, unsigned replica) const noexcept;
	[[nodiscard]] std::uint64_t oldest_request(unsigned replica) const noexcept;

	test::Node &node_;
	ClientSurroundings &around_;
	const ClientOptions options_;
	const std::function<void(prism::rs::Lane &)> ended_;
	prism::rs::Protocol protocol_;
	std::vector<Line> memory_;
	std::uint32_t key_ = 0;
	std::vector<prism::rs::Lane> lanes_;
	std::vector<std::uint64_t> numbers_; /* of requests under way, by lane and replica */
	std::vector<Replica> replicas_;
	std::vector<prism::rs::Lane *> to_wake_;
	std::vector<Spared> spared_; /* of Flaw::no_write_back: requests that are not posted */
	std::uint64_t epoch_ = 0;
	std::uint64_t requests_ = 0; /* posted so far */
	std::uint64_t misses_ = 0;
	bool lost_its_replica_ = false;
	bool missing_ = false; /* what is released now is of a miss */
};

} // namespace rs_sim

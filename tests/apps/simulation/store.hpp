/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "service/store_core.hpp"

namespace simulation
{

struct StoreOptions : DeviceOptions {
	std::vector<prism::apps::BufferClass> classes; /* of buffers, by ascending size */
	std::uint32_t max_connections = 16;
	prism::apps::RecoveryOptions recovery{std::chrono::seconds(10), std::chrono::milliseconds(1), 8};
	bool takes_all_reports = true; /* before a scan ends; controls leave it out */
};

struct StoreFigures {
	std::uint64_t reports = 0;
	std::uint64_t drained = 0;
	prism::apps::RecoveryStats recovery;

	/** Sums up; durations are left out. */
	void add(const StoreFigures &other) noexcept
	{
		reports += other.reports;
		drained += other.drained;
		recovery.scans += other.recovery.scans;
		recovery.put_off += other.recovery.put_off;
		recovery.recovered += other.recovery.recovered;
		recovery.cut_off += other.recovery.cut_off;
	}
};

/** The server of a store, on a simulated device: apps::OneSidedServer, without sockets and time of its own. */
class Store : protected prism::apps::StoreCore
{
public:
	~Store() override;

	/** A client's control connection has ended: that is how a server learns of its death. */
	void end_of(std::uint32_t connection);
	void hear_settled(std::uint32_t connection, std::uint64_t value) { recovery().settled(connection, value); }
	/** A client has heard what it was told, and is a client from now on. */
	using StoreCore::enter;
	/** A scan, as soon as none is under way. */
	void want_recovery() { recovery().want(); }

	/** One turn of OneSidedServer::serve(). */
	void serve();

	/** Nothing left to do but reports that may still come. */
	[[nodiscard]] bool idle() const noexcept { return recovery().idle(); }
	[[nodiscard]] bool has_reports() const noexcept { return device_.has_reports(); }
	[[nodiscard]] std::size_t open() const noexcept { return connections_.size(); }
	/** The bytes at @p va of the region; nullptr if they are not all inside. */
	[[nodiscard]] const std::byte *at(std::uint64_t va, std::uint64_t length) const noexcept
	{
		return device_.at(va, length);
	}
	[[nodiscard]] const std::deque<List> &lists() const noexcept { return device_.free_lists(); }
	[[nodiscard]] StoreFigures figures() const
	{
		return {device_.reports(), device_.drained(), recovery().stats()};
	}

	/** Checks, once all clients are gone, that every buffer is at one place; empties the lists. */
	void account();

protected:
	/** @p slot_bytes: of the slots, which begin the region. */
	Store(test::Node &node, Surroundings &around, const StoreOptions &options, std::uint64_t slot_bytes);

	/* What derived classes say of their slots, beside RecoveryHost's slots() and look_at(). */
	/** What slot @p index points at; 0: nothing. */
	[[nodiscard]] virtual std::uint64_t buffer_of(std::uint64_t index) const = 0;

	struct Place {
		std::uint32_t connection = 0; /* its number, never used again */
		std::uint64_t scratch = 0;    /* of 64 bytes */
	};
	/** Connects @p pair; the client is on its way until enter() if @p on_its_way. */
	Place connect(Pair &pair, bool on_its_way);
	/** Ends all connections but @p except: with their queue pairs nothing of theirs is executed any more. */
	void drop_clients(std::uint32_t except = 0);
	/** Ends connection @p number, likewise. */
	void drop_client(std::uint32_t number);
	/** The number that the next connection will have. */
	[[nodiscard]] std::uint32_t next_number() const { return next_place().value_or(ConnectionPlace{}).number; }
	bool run_on_self(const prism::Chain &chain) { return device_.run_on_self(chain); }

	static constexpr std::uint64_t base_va = Device::base_va;
	[[nodiscard]] std::byte *memory() noexcept { return device_.memory(); }
	[[nodiscard]] const std::byte *memory() const noexcept { return device_.memory(); }
	[[nodiscard]] std::uint32_t key() const noexcept { return device_.key(); }

	Surroundings &around_;

private:
	struct Connection {
		std::uint32_t number = 0;
		std::unique_ptr<test::Endpoint> endpoint;
		bool dead = false;
	};

	/* RecoveryHost, but for what StoreCore does */
	void ask_to_settle(std::uint32_t client, std::uint64_t value) override;
	void cut_off(std::uint32_t client) override { drop_client(client); }
	bool take_reports() override;
	void put_off(const std::string & /*why*/) override {}

	void destroy_disconnected();
	void drop(Connection &connection);
	Connection *find_connection(std::uint32_t number);

	const bool takes_all_reports_;
	Device device_;
	std::vector<Connection> connections_;
};

} // namespace simulation

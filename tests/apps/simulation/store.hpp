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
	bool takes_all_reports = true; /* before a scan ends; false in controls */
};

struct StoreFigures {
	std::uint64_t reports = 0;
	std::uint64_t drained = 0;
	prism::apps::RecoveryStats recovery;

	/** Adds the counters; durations are left out. */
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

/** Server of a store on a simulated device: apps::OneSidedServer without sockets and without its own clock. */
class Store : protected prism::apps::StoreCore
{
public:
	~Store() override;

	/** Tells the server that a client's control connection has ended; so it learns of the client's death. */
	void end_of(std::uint32_t connection);
	void hear_settled(std::uint32_t connection, std::uint64_t value) { recovery().settled(connection, value); }
	/** Called when a client has received its welcome: it counts as a client from now on. */
	using StoreCore::enter;
	/** Requests a scan, which begins as soon as none is under way. */
	void want_recovery() { recovery().want(); }

	/** Does one round of OneSidedServer::serve(). */
	void serve();

	/** True if nothing is left to do, except for reports that may still come. */
	[[nodiscard]] bool idle() const noexcept { return recovery().idle(); }
	[[nodiscard]] bool has_reports() const noexcept { return device_.has_reports(); }
	[[nodiscard]] std::size_t open() const noexcept { return connections_.size(); }
	/** Returns the bytes at @p va of the region; nullptr if not all are inside. */
	[[nodiscard]] const std::byte *at(std::uint64_t va, std::uint64_t length) const noexcept
	{
		return device_.at(va, length);
	}
	[[nodiscard]] const std::deque<List> &lists() const noexcept { return device_.free_lists(); }
	[[nodiscard]] StoreFigures figures() const
	{
		return {device_.reports(), device_.drained(), recovery().stats()};
	}

	/** Checks, once all clients have gone, that every buffer is in exactly one place; empties the lists. */
	void account();

protected:
	/** @p slot_bytes: size of the slots, at the start of the region. */
	Store(test::Node &node, Surroundings &around, const StoreOptions &options, std::uint64_t slot_bytes);

	/* Derived classes describe their slots by this function and by slots() and look_at() of RecoveryHost. */
	/** Returns the address that slot @p index points at; 0 if none. */
	[[nodiscard]] virtual std::uint64_t buffer_of(std::uint64_t index) const = 0;

	struct Place {
		std::uint32_t connection = 0; /* number of the connection, never used again */
		std::uint64_t scratch = 0;    /* address of 64 bytes */
	};
	/** Connects @p pair. With @p on_its_way, enter() makes it a client; else it is one at once. */
	Place connect(Pair &pair, bool on_its_way);
	/**
	 * Ends all connections except @p except. Destroys their queue pairs, so none of their requests is executed any
	 * more.
	 */
	void drop_clients(std::uint32_t except = 0);
	/** Ends connection @p number in the same way. */
	void drop_client(std::uint32_t number);
	/** Returns the number of the next connection. */
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

	/* RecoveryHost, except for StoreCore's part */
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

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inbox.hpp"
#include "list.hpp"
#include "pair.hpp"
#include "random.hpp"
#include "service/recovery.hpp"

namespace simulation
{

struct StoreOptions {
	struct Class {
		std::uint32_t buffer_size = 0;
		std::uint32_t count = 0;
	};
	std::vector<Class> classes; /* of buffers, by ascending size */
	std::uint32_t max_connections = 16;
	std::uint32_t mtu = 1024;
	soft::Time ack_timeout = 1'000'000; /* ns */
	prism::apps::RecoveryOptions recovery{std::chrono::seconds(10), std::chrono::milliseconds(1), 8};
	/* What controls leave out */
	bool grace = true;             /* of the device's lists */
	bool takes_all_reports = true; /* before a scan ends */
	bool collects = true;          /* lost buffers */
	bool minds_taken_back = true;  /* by the device, during a scan */
};

/** What a store needs of the simulation around it. */
class Surroundings
{
public:
	virtual ~Surroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	virtual prism::test::Random &random() = 0;
	/** Lets the clients and the network go on until @p done, at most a second: a server that waits. */
	virtual void go_on_until(const std::function<bool()> &done) = 0;
	/** Asks the client of a connection to settle; its answer comes back as Store::hear_settled(). */
	virtual void tell_to_settle(std::uint32_t connection, std::uint64_t value) = 0;
	/** The store has ended a connection. */
	virtual void tell_ended(std::uint32_t) {}
	virtual void find(const std::string &what) = 0;
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

/** What servers of every kind do beside the data path: apps::OneSidedServer, on a simulated device. */
class Store : protected prism::apps::RecoveryHost
{
public:
	~Store() override;
	Store(const Store &) = delete;
	Store &operator=(const Store &) = delete;

	/** A client's control connection has ended: that is how a server learns of its death. */
	void end_of(std::uint32_t connection);
	void hear_settled(std::uint32_t connection, std::uint64_t value);
	/** A client has heard what it was told, and is a client from now on. */
	void enter(std::uint32_t connection);
	/** A scan, as soon as none is under way. */
	void want_recovery() { recovery_.want(); }

	/** One turn of OneSidedServer::serve(). */
	void serve();

	/** Nothing left to do but reports that may still come. */
	[[nodiscard]] bool idle() const noexcept { return recovery_.idle(); }
	[[nodiscard]] bool has_reports() const noexcept { return !inbox_.empty(); }
	[[nodiscard]] std::size_t open() const noexcept { return connections_.size(); }
	/** The bytes at @p va of the region; nullptr if they are not all inside. */
	[[nodiscard]] const std::byte *at(std::uint64_t va, std::uint64_t length) const noexcept;
	[[nodiscard]] const std::deque<List> &lists() const noexcept { return lists_; }
	[[nodiscard]] StoreFigures figures() const { return {reports_, drained_, recovery_.stats()}; }

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
	[[nodiscard]] bool is_open(std::uint32_t connection) const;
	/** The number that the next connection will have. */
	[[nodiscard]] std::uint32_t next_number() const noexcept { return next_number_; }
	void spare(std::uint64_t address);
	bool run_on_self(const prism::Chain &chain);

	/** Addresses in requests: not those of the process, so that a run is the same wherever its memory lies. */
	static constexpr std::uint64_t base_va = 0x1000'0000;
	[[nodiscard]] std::byte *memory() noexcept { return memory_.front().bytes.data(); }
	[[nodiscard]] const std::byte *memory() const noexcept { return memory_.front().bytes.data(); }
	[[nodiscard]] std::uint32_t key() const noexcept { return key_; }

	Surroundings &around_;

private:
	struct alignas(64) Line {
		std::array<std::byte, 64> bytes{};
	};
	struct Connection {
		std::uint32_t number = 0;
		std::uint32_t scratch = 0;
		std::unique_ptr<test::Endpoint> endpoint;
		bool on_its_way = false;
		bool dead = false;
	};

	/* RecoveryHost */
	[[nodiscard]] bool can_ask_all() const override;
	prism::Result<void> note_handed_out() override;
	void ask_to_settle(std::uint32_t client, std::uint64_t value) override;
	void cut_off(std::uint32_t client) override { drop_client(client); }
	bool take_reports() override;
	std::optional<std::uint64_t> collect() override;
	void put_off(const std::string &) override {}

	static std::size_t lines(const StoreOptions &options, std::uint64_t slot_bytes);
	[[nodiscard]] std::uint32_t free_scratch() const;
	[[nodiscard]] test::ConnectOptions connect_options() const;
	std::size_t reclaim();
	void judge(const prism::FreeReport *report);
	void drain(List &list);
	bool wait_for_self(prism::Completion &completion);
	void destroy_disconnected();
	[[nodiscard]] std::chrono::nanoseconds now() const { return std::chrono::nanoseconds(around_.time()); }
	void drop(Connection &connection);
	Connection *find_connection(std::uint32_t number);

	test::Node &node_;
	const StoreOptions options_;
	const std::uint64_t scratch_offset_;
	std::vector<Line> memory_;
	std::uint32_t key_;
	std::deque<List> lists_;
	std::vector<std::uint64_t> taken_back_; /* counts of the lists when a scan began */
	Inbox inbox_;
	Pair self_;
	std::vector<std::uint64_t> word_; /* where answers to self_ go */
	std::uint32_t word_key_;
	std::vector<Connection> connections_;
	prism::apps::BufferRecovery recovery_;
	std::uint32_t next_number_ = 1;
	std::uint64_t reports_ = 0;
	std::uint64_t drained_ = 0;
};

} // namespace simulation

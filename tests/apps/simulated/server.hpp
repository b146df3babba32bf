/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <prism/reclaim.hpp>

#include "client.hpp"
#include "flaw.hpp"
#include "list.hpp"
#include "pair.hpp"
#include "random.hpp"
#include "service/recovery.hpp"
#include "store/table.hpp"

namespace kv_sim
{

struct ServerOptions {
	std::uint32_t buckets = 2;
	struct Class {
		std::uint32_t buffer_size = 0;
		std::uint32_t count = 0;
	};
	std::vector<Class> classes; /* by ascending size */
	std::uint32_t max_value_size = 0;
	std::uint32_t max_connections = 16;
	std::uint32_t mtu = 1024;
	soft::Time ack_timeout = 1'000'000; /* ns */
	std::uint64_t slots_a_step = 8;     /* of a scan */
	Flaw flaw = Flaw::none;
};

/** What a server needs of the simulation around it. */
class Surroundings
{
public:
	virtual ~Surroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	virtual prism::test::Random &random() = 0;
	/** Lets the clients and the network go on until @p done, at most a second: a server that waits. */
	virtual void go_on_until(const std::function<bool()> &done) = 0;
	/** Asks the client of a connection to settle; its answer comes back as Server::hear_settled(). */
	virtual void tell_to_settle(std::uint32_t connection, std::uint64_t value) = 0;
	virtual void find(const std::string &what) = 0;
};

struct ServerFigures {
	std::uint64_t reports = 0;
	std::uint64_t scans = 0;
	std::uint64_t put_off = 0;
	std::uint64_t drained = 0;
	std::uint64_t recovered = 0;
	std::uint64_t claims = 0;
};

/** The memory of a store and what its server does, as PrismServer has it, on a simulated device. */
class Server final : private prism::apps::RecoveryHost
{
public:
	Server(test::Node &node, Surroundings &around, const ServerOptions &options);
	~Server() override;
	Server(const Server &) = delete;
	Server &operator=(const Server &) = delete;

	/** Connects @p pair. */
	Admission admit(Pair &pair);
	/** A client's control connection has ended: that is how a server learns of its death. */
	void end_of(std::uint32_t connection);
	void hear_settled(std::uint32_t connection, std::uint64_t value);
	/** A scan, as soon as none is under way. */
	void want_recovery() { recovery_wanted_ = true; }

	/** One turn of PrismServer::serve(). */
	void serve();

	/** Nothing left to do but reports that may still come. */
	[[nodiscard]] bool idle() const noexcept { return !recovery_ && !recovery_wanted_; }
	[[nodiscard]] std::size_t open() const noexcept { return connections_.size(); }
	[[nodiscard]] const ServerFigures &figures() const noexcept { return figures_; }
	[[nodiscard]] const prism::kv::Table &table() const noexcept { return table_; }
	[[nodiscard]] const prism::kv::HashKey &secret() const noexcept { return secret_; }
	/** The bytes at @p va of the region; nullptr if they are not all inside. */
	[[nodiscard]] const std::byte *at(std::uint64_t va, std::uint64_t length) const noexcept;

	/** Checks, once all clients are gone, that every buffer is at one place; empties the lists. */
	void account();

private:
	struct Connection {
		std::uint32_t number = 0;
		std::uint32_t scratch = 0;
		std::unique_ptr<test::Endpoint> endpoint;
		std::uint64_t asked = 0;
		std::uint64_t settled = 0;
		bool dead = false;
	};

	/* RecoveryHost */
	int note_handed_out() override;
	void ask_to_settle() override;
	[[nodiscard]] bool settled() const override;
	[[nodiscard]] std::uint64_t slots() const override { return table_.geometry().slot_count(); }
	void look_at(std::uint64_t index) override;
	bool take_reports() override;
	std::optional<std::uint64_t> collect() override;

	[[nodiscard]] bool is_open(std::uint32_t connection) const;
	bool empty_claim(std::uint64_t index, const prism::kv::Slot &claim);

	[[nodiscard]] std::uint32_t free_scratch() const;
	[[nodiscard]] test::ConnectOptions connect_options() const;
	std::size_t reclaim(std::size_t most);
	void judge(const prism::FreeReport &report);
	void post_slot(std::uint64_t slot);
	void drain(List &list);
	bool wait_for_self(prism::Completion &completion);
	void bury_dead();
	void go_on_recovering();
	Connection *find_connection(std::uint32_t number);

	test::Node &node_;
	Surroundings &around_;
	const ServerOptions options_;
	std::vector<prism::kv::Slot> memory_;
	std::uint32_t key_;
	prism::kv::Table table_;
	prism::kv::HashKey secret_{};
	std::deque<List> lists_;
	std::vector<std::uint64_t> taken_back_; /* counts of the lists when a scan began */
	std::vector<prism::FreeReport::Bytes> slots_;
	std::uint32_t slots_key_;
	soft::SharedReceiveQueue reports_;
	soft::CompletionQueue report_cq_;
	Pair self_;
	std::vector<std::uint64_t> word_; /* where answers to self_ go */
	std::uint32_t word_key_;
	std::vector<Connection> connections_;
	std::optional<prism::apps::RecoveryScan> recovery_;
	std::shared_ptr<std::uint64_t> next_version_ = std::make_shared<std::uint64_t>(1);
	std::uint32_t next_number_ = 1;
	std::uint64_t next_settle_ = 1;
	bool recovery_wanted_ = false;
	ServerFigures figures_;
};

} // namespace kv_sim

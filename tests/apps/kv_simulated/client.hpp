/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <prism/reclaim.hpp>

#include "flaw.hpp"
#include "kv/store/protocol.hpp"
#include "kv/store/versions.hpp"
#include "simulation/pair.hpp"

namespace kv_sim
{

namespace soft = prism::soft;
namespace test = prism::test;
using simulation::Pair;

struct ClientOptions {
	std::uint32_t depth = 1;         /* operations under way at once */
	std::uint32_t report_batch = 30; /* addresses in one report */
	std::size_t hints = 8;           /* number of keys whose places it remembers */
	Flaw flaw = Flaw::none;
};

/** Data that a server gives to a client that connects. */
struct Admission {
	prism::kv::ServerView view;
	std::function<std::uint64_t(std::uint64_t)> lease; /* returns the first of so many versions */
};

/** Carrier of one connection's operations: lanes, reports and answers to scans, as in PrismClient. */
class Client final : public prism::kv::Carrier
{
public:
	using Task = prism::apps::Task<prism::apps::Outcome>;

	/**
	 * @p pair is connected to the server that gave @p admission. @p ended: called with each lane whose task has
	 * ended.
	 */
	Client(std::unique_ptr<Pair> pair, Admission admission, const ClientOptions &options,
		std::function<void(prism::kv::Lane &)> ended);
	~Client() override;
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;

	[[nodiscard]] prism::kv::Protocol &protocol() noexcept { return protocol_; }
	[[nodiscard]] std::uint32_t number() const noexcept { return view_.connection; }
	[[nodiscard]] const prism::kv::ServerView &server() const noexcept { return view_; }
	[[nodiscard]] std::size_t depth() const noexcept { return lanes_.size(); }
	prism::kv::Lane &lane(std::size_t number) noexcept { return lanes_[number]; }

	/** Runs the task that @p make makes for the idle @p lane, for @p operation. */
	void start(prism::kv::Lane &lane, prism::apps::Operation &operation,
		const std::function<Task(prism::kv::Lane &)> &make);

	/** Handles completions. */
	void poll();
	/** Returns true if poll() would find a completion. */
	[[nodiscard]] bool has_completions() const noexcept { return !pair_->endpoint.send_cq.empty(); }

	/** Handles the server's request to settle; calls @p settled when the client has. */
	void settle(std::function<void()> settled);

	/** Returns 0, or the errno that ended the connection. */
	[[nodiscard]] int broken() const noexcept { return broken_; }

	/* Carrier */
	int post(const prism::Chain &chain, std::uint64_t lane) noexcept override;
	void release(std::uint64_t address) noexcept override;
	bool buffers_may_come(prism::kv::Lane &lane, unsigned attempts) noexcept override;
	void flush() noexcept;
	std::uint64_t next_version() noexcept override;

private:
	struct Settling {
		std::function<void()> answer; /* empty: no answer is wanted */
		bool flushed = false;
		std::size_t classes = 0;  /* flushed so far */
		std::uint64_t before = 0; /* operations that began with this serial number or a smaller one */
	};

	void handle(const prism::Completion &completion);
	void finish(prism::kv::Lane &lane);
	void report(std::uint64_t address);
	int send(prism::FreeReport &batch, std::uint64_t wr_id, bool signaled);
	bool flush_all();
	void go_on_settling();

	std::unique_ptr<Pair> pair_;
	const prism::kv::ServerView view_;
	const std::function<std::uint64_t(std::uint64_t)> lease_;
	const ClientOptions options_;
	const std::function<void(prism::kv::Lane &)> ended_;
	prism::kv::Protocol protocol_;
	std::vector<prism::kv::Slot> memory_;
	std::uint32_t key_ = 0;
	std::vector<prism::kv::Lane> lanes_;
	std::vector<bool> claims_;               /* by lane: the chain under way claims a slot and reads the buckets */
	std::vector<prism::FreeReport> reports_; /* one for each size class */
	std::vector<std::uint64_t> waiting_;     /* addresses that the send queue had no room for */
	std::vector<std::uint64_t> again_;       /* for Flaw::double_report */
	prism::kv::LeasedVersions versions_;
	std::uint64_t serial_ = 0;
	std::uint32_t flushes_ = 0; /* under way */
	Settling settling_;
	int broken_ = 0;
};

} // namespace kv_sim

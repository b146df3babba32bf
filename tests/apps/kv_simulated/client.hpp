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
	std::uint32_t report_batch = 30; /* addresses of a report */
	std::size_t hints = 8;           /* of how many keys it remembers where they are */
	Flaw flaw = Flaw::none;
};

/** What a server tells a client that connects. */
struct Admission {
	prism::kv::ServerView view;
	std::function<std::uint64_t(std::uint64_t)> lease; /* the first of so many versions */
};

/** What carries the operations of one connection: lanes, reports and answers to scans, as PrismClient has them. */
class Client final : public prism::kv::Carrier
{
public:
	using Task = prism::apps::Task<prism::apps::Outcome>;

	/** @p pair is connected to the server that gave @p admission. @p ended: is told of each lane whose task ended.
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

	/** Runs what @p make makes of the idle @p lane, for @p operation. */
	void start(prism::kv::Lane &lane, prism::apps::Operation &operation,
		const std::function<Task(prism::kv::Lane &)> &make);

	/** Handles what has completed. */
	void poll();
	/** Whether poll() would find something. */
	[[nodiscard]] bool has_completions() const noexcept { return !pair_->endpoint.send_cq.empty(); }

	/** The server asks; @p settled is called when that is so. */
	void settle(std::function<void()> settled);

	/** 0, or the errno of what ended the connection. */
	[[nodiscard]] int broken() const noexcept { return broken_; }

	/* Carrier */
	int post(const prism::Chain &chain, std::uint64_t lane) noexcept override;
	void release(std::uint64_t address) noexcept override;
	bool buffers_may_come(prism::kv::Lane &lane, unsigned attempts) noexcept override;
	void flush() noexcept;
	std::uint64_t next_version() noexcept override;

private:
	struct Settling {
		std::function<void()> answer; /* empty: none is wanted */
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
	std::vector<bool> claims_;               /* of lanes: the chain under way claims a slot and reads the buckets */
	std::vector<prism::FreeReport> reports_; /* one a size class */
	std::vector<std::uint64_t> waiting_;     /* addresses that the send queue had no room for */
	std::vector<std::uint64_t> again_;       /* of Flaw::double_report */
	prism::kv::LeasedVersions versions_;
	std::uint64_t serial_ = 0;
	std::uint32_t flushes_ = 0; /* under way */
	Settling settling_;
	int broken_ = 0;
};

} // namespace kv_sim

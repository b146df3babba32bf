/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/prism.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/store_client.hpp"
#include "protocol.hpp"
#include "service/control.hpp"
#include "versions.hpp"

namespace prism::kv
{

struct PrismClientOptions {
	std::uint32_t depth = 1;                                     /**< operations under way at once; at most 4096 */
	std::chrono::milliseconds timeout = std::chrono::seconds(5); /**< of the set-up, and of a blocking call */
	/** Bytes of the longest value that this client wants to handle; the server's limit if that is less, or this 0.
	 */
	std::uint32_t max_value_size = 0;
	/** Of how many keys the client remembers where they are, at 4 bytes each: those that are not at home, a quarter
	 * of the keys of a table that is half full. 0: of none. */
	std::size_t hints = std::size_t{1} << 18;
};

struct PrismClientStats {
	std::uint64_t operations = 0;
	std::uint64_t direct = 0;      /**< of these, in one round trip */
	std::uint64_t round_trips = 0; /**< of all of them */
	std::uint64_t reported = 0;    /**< buffers given back */
};

/**
 * A client of one PRISM-KV server (docs/prism-kv.md): its operations are PRISM requests on the server's memory. One
 * thread at a time, which must call poll() now and then even with nothing under way: a server that looks for lost
 * buffers waits for an answer. Requests leave with a later poll(), several together. After an error of the connection
 * nothing can be started any more, and broken() says why.
 */
class PrismClient final : public apps::StoreClient, private Carrier
{
public:
	/**
	 * Errors: EINVAL (depth), EPROTONOSUPPORT (another kind of server, or its device does not speak PRISM), those
	 * of establish() and TcpRendezvous::connect().
	 */
	static Result<std::unique_ptr<PrismClient>> connect(const Context &context, const std::string &host,
		std::uint16_t port, const PrismClientOptions &options = {});
	~PrismClient() override;

	[[nodiscard]] std::size_t depth() const noexcept override { return lanes_.size(); }
	int start(apps::Operation &operation) noexcept override;
	std::size_t poll(std::span<apps::Operation *> completed) noexcept override;

	/** 0, or the errno of what ended the connection. */
	[[nodiscard]] int broken() const noexcept { return broken_; }
	[[nodiscard]] const ServerView &server() const noexcept { return view_; }
	[[nodiscard]] const PrismClientStats &stats() const noexcept { return stats_; }
	[[nodiscard]] const HintFigures &hint_figures() const noexcept { return protocol_.hint_figures(); }

	/* On a condition; these wait for the end. Nothing else may be under way. */

	/** GET with the version that the object had; number 0 if the key is absent. */
	apps::Outcome get_versioned(apps::Operation &operation, Version &version) noexcept;
	/** PUT if the object is still the one of @p expected, or, if that has number 0, the key still absent;
	 * not_found: it is not. */
	apps::Outcome put_if(apps::Operation &operation, const Version &expected) noexcept;
	/** ERASE on the same condition; not_found if @p expected has number 0. */
	apps::Outcome erase_if(apps::Operation &operation, const Version &expected) noexcept;

	/** The server's statistics as JSON. Errors: ETIMEDOUT, ECONNRESET. */
	Result<std::string> server_stats();
	/** Asks the server for a recovery scan; returns when it has begun. Errors: EBUSY (one is under way), ETIMEDOUT.
	 */
	Result<void> request_recovery();

private:
	struct Settling {
		bool wanted = false;
		std::size_t flushed = 0; /* classes */
		std::uint64_t value = 0;
		std::uint64_t before = 0; /* operations that began with this serial number or a smaller one */
	};

	PrismClient(Context context, ProtectionDomain pd, CompletionQueue cq, TcpRendezvous control, QueuePair qp,
		Buffer memory, ServerView view, const PrismClientOptions &options, std::size_t object_room);
	int make_reporters();
	void flush() noexcept;

	/* Carrier */
	int post(const Chain &chain, std::uint64_t lane) noexcept override;
	void release(std::uint64_t address) noexcept override;
	bool buffers_may_come(Lane &lane, unsigned attempts) noexcept override;
	std::uint64_t next_version() noexcept override;

	int check(const apps::Operation &operation) const noexcept;
	Lane *begin(apps::Operation &operation) noexcept;
	void go(Lane &lane) noexcept;
	void finish(Lane &lane) noexcept;
	void ring() noexcept;
	void ring_if_many() noexcept;
	void refuse_put_off() noexcept;
	void handle(const Completion &completion) noexcept;
	void report(std::uint64_t address) noexcept;
	void report_waiting() noexcept;
	void talk() noexcept;
	void hear(const apps::ControlMessage &message) noexcept;
	bool flush_all() noexcept;
	void settle() noexcept;
	void break_off(int error) noexcept;
	template <typename Make>
	apps::Outcome run(apps::Operation &operation, Make make) noexcept;
	Result<apps::ControlMessage> ask(const apps::ControlMessage &question);

	Context context_;
	ProtectionDomain pd_;
	CompletionQueue cq_;
	TcpRendezvous rendezvous_;
	apps::ControlChannel control_;
	QueuePair qp_;
	Buffer memory_;
	ServerView view_;
	Protocol protocol_;
	std::vector<FreeReporter> reporters_; /* one a size class */
	std::vector<std::uint64_t> waiting_;  /* addresses that the send queue had no room for */
	std::vector<Lane> lanes_;
	std::vector<Chain::Posting> put_off_; /* to a later poll */
	std::size_t under_way_ = 0;           /* lanes' requests that are posted */
	std::vector<std::uint32_t> idle_;
	std::vector<apps::Operation *> ended_;
	LeasedVersions versions_;
	Settling settling_;
	std::optional<apps::ControlMessage>
		answer_; /* to ask(); what follows it on the channel is not read before it is taken */
	std::uint64_t serial_ = 0;
	std::uint64_t polls_ = 0;
	std::uint32_t flushes_ = 0; /* under way */
	int broken_ = 0;
	std::chrono::milliseconds timeout_;
	PrismClientStats stats_;
};

} // namespace prism::kv

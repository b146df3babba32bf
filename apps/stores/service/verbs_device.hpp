/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/completion.hpp>
#include <prism/device.hpp>
#include <prism/free_list.hpp>
#include <prism/queue_pair.hpp>
#include <prism/reclaim.hpp>
#include <prism/result.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "service/log.hpp"
#include "service/store_core.hpp"

namespace prism
{
class Chain;
}

namespace prism::apps
{

/** The memory, free lists and queues of a store by libibverbs. */
class VerbsDevice final : public StoreDevice
{
public:
	/** Allocates and registers @p bytes. Errors: those of the objects that it makes. */
	static Result<std::unique_ptr<VerbsDevice>> create(const Context &context, std::uint64_t bytes, LogSink log);
	VerbsDevice(const VerbsDevice &) = delete;
	VerbsDevice &operator=(const VerbsDevice &) = delete;
	~VerbsDevice() override = default;

	[[nodiscard]] const Buffer &memory() const noexcept { return *memory_; }
	/** Makes the free lists of @p layout: once. Errors: those of FreeList::create(). */
	Result<void> make_lists(const RegionLayout &layout);
	[[nodiscard]] std::deque<FreeList> &free_lists() noexcept { return lists_; }
	[[nodiscard]] const std::deque<FreeList> &free_lists() const noexcept { return lists_; }

	/** Makes a queue pair for the client at @p peer. Its SENDs are reports. */
	Result<QueuePair> connect(const Endpoint &peer);
	/** Posts @p chain to a queue pair of the store's own and waits. */
	bool run_on_self(const Chain &chain);

	/* StoreDevice */
	[[nodiscard]] std::size_t lists() const noexcept override { return lists_.size(); }
	[[nodiscard]] std::uint32_t available(std::size_t list) const noexcept override
	{
		return lists_[list].available();
	}
	[[nodiscard]] std::uint64_t taken_back(std::size_t list) const noexcept override;
	Result<void> mark(std::size_t list) override;
	bool drain(std::size_t list) override;
	void refill(std::size_t list) override;
	void spare(std::uint64_t address) noexcept override;
	std::uint64_t collect(std::size_t list) override;
	int take_reports() override;

private:
	VerbsDevice(ProtectionDomain pd, Buffer memory, Reclaimer reclaimer, CompletionQueue cq, QueuePair self,
		LogSink log);

	ProtectionDomain pd_;
	std::shared_ptr<const Buffer> memory_;
	Reclaimer reclaimer_;
	CompletionQueue cq_; /* of the connections' sends: there are none */
	QueuePair self_;
	std::deque<FreeList> lists_;
	std::vector<LiveSet> live_; /* one a list */
	const LogSink log_;
};

} // namespace prism::apps

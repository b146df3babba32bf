/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/simulated/machines.hpp"

#include <algorithm>
#include <utility>

#include "bench/gam/simulated/lent_memory.hpp"
#include "gam/directory/directory.hpp"

namespace prism::gam::simulated
{

namespace
{

class DirectoryMachine final : public Machine
{
public:
	DirectoryMachine(const Shape &shape, Events &events, const Hardware &hardware, NodeId self, Find find)
		: Machine(events, hardware, self, std::move(find)), memory_(shape.blocks * block_size),
		  lines_(shape.lines * block_size), directory_(options(shape), *this)
	{
	}

	[[nodiscard]] Coherence &coherence() noexcept override { return directory_; }

private:
	[[nodiscard]] directory::Options options(const Shape &shape)
	{
		directory::Options options;
		options.self = self_;
		options.memory = memory_.span();
		options.lines = lines_.span();
		options.through_home = shape.kind == Kind::directory;
		return options;
	}

	AlignedBytes memory_;
	AlignedBytes lines_;
	Directory directory_;
};

/** Returns the bytes on the wire of a request and its answer, without the headers of all packets. */
std::size_t bytes_of(const Request &request) noexcept
{
	constexpr std::size_t address = 16, masks = 4;
	switch (request.kind) {
	case Request::Kind::cas:
		return address + masks * request.cas_length;
	case Request::Kind::allocate:
		return address + request.local.length;
	default:
		return address;
	}
}

/** A machine of the latch protocol. Its NIC executes a chain as a whole; the answers travel one behind the other. */
class LatchMachine final : public Machine, private latch::Homes
{
public:
	LatchMachine(const Shape &shape, Events &events, const Hardware &hardware, NodeId self, Find find)
		: Machine(events, hardware, self, std::move(find)), lent_({shape.blocks, spares(shape)}, self),
		  working_(shape.lines * latch::WorkingMemory::bytes_of_line), responders_(shape.nodes),
		  batches_(shape.nodes), latch_(options(), *this, *this)
	{
		lent_.region.lend(1, shape.blocks - 1);
	}

	[[nodiscard]] Coherence &coherence() noexcept override { return latch_; }

private:
	/** Buffers that the data of a message has room for. */
	static constexpr std::size_t batch_size = block_size / sizeof(std::uint64_t);

	/** Returns enough spare buffers for all batches, and for chains under way. */
	static std::uint64_t spares(const Shape &shape) noexcept
	{
		return shape.nodes * batch_size + shape.blocks / 8 + batch_size;
	}
	[[nodiscard]] latch::Options options()
	{
		latch::Options options;
		options.self = self_;
		options.memory = working_.working();
		options.region = &lent_.region;
		return options;
	}
	[[nodiscard]] LatchMachine &machine(NodeId node) const { return static_cast<LatchMachine &>(find_(node)); }

	[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
	{
		return &machine(home).lent_.described;
	}

	int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept override
	{
		ChainUnderWay posted(token, chain);
		const std::size_t count = posted.requests().size();
		Packets packets{0, count, count * Hardware::in_ns(hardware_.request)};
		for (const Request &request : posted.requests())
			packets.bytes += bytes_of(request);
		LatchMachine &target = machine(home);
		transmit(target, Machine::post(), packets, [this, &target, posted = std::move(posted)]() mutable {
			target.execute(*this, std::move(posted));
		});
		return 0;
	}

	/** Executes a chain as the home's NIC. */
	void execute(LatchMachine &from, ChainUnderWay chain)
	{
		const std::size_t count = chain.requests().size();
		Packets packets{0, count, count * Hardware::in_ns(hardware_.packet)};
		while (!chain.is_executed()) {
			chain.execute(lent_.device, responders_[from.self_]);
			packets.bytes += chain.answers().back().bytes.size();
		}
		transmit(from, events_.now(), packets, [&from, chain = std::move(chain)]() mutable {
			from.process(Hardware::in_ns(from.hardware_.completion), [&from, chain = std::move(chain)] {
				from.latch_.completed(chain.token(), chain.deliver());
			});
		});
	}

	void give_back(NodeId home, std::uint64_t address) noexcept override
	{
		batches_[home].push_back(address);
		if (batches_[home].size() == batch_size)
			report(home);
	}
	/** Reports buffers by a message, which the home's processor handles. */
	void report(NodeId home)
	{
		std::vector<std::uint64_t> buffers = std::exchange(batches_[home], {});
		LatchMachine &target = machine(home);
		const auto put = [&target, buffers = std::move(buffers)] {
			target.lent_.device.free.insert(target.lent_.device.free.end(), buffers.begin(), buffers.end());
		};
		if (home == self_)
			return put();
		transmit(target, Machine::post(), {Message::max_size, 1, Hardware::in_ns(hardware_.packet)},
			[&target, put] { target.process(Hardware::in_ns(target.hardware_.message), put); });
	}
	void on_tick() override
	{
		for (std::size_t home = 0; home < batches_.size(); home++) {
			if (!batches_[home].empty())
				report(static_cast<NodeId>(home));
		}
	}

	LentMemory lent_;
	AlignedBytes working_;
	std::vector<Responder> responders_;               /* one for each node's queue pair */
	std::vector<std::vector<std::uint64_t>> batches_; /* for each home */
	Latch latch_;
};

} // namespace

Machines::Machines(const Shape &shape, const Hardware &hardware) : hardware_(hardware)
{
	const auto find = [this](NodeId node) -> Machine & { return *machines_[node]; };
	for (std::size_t i = 0; i < shape.nodes; i++) {
		const auto self = static_cast<NodeId>(i);
		if (shape.kind == Kind::latch)
			machines_.push_back(std::make_unique<LatchMachine>(shape, events_, hardware_, self, find));
		else
			machines_.push_back(std::make_unique<DirectoryMachine>(shape, events_, hardware_, self, find));
	}
	for (const auto &machine : machines_)
		machine->begin();
}

Machines::~Machines() = default;

bool Machines::at_rest() const
{
	return std::all_of(
		machines_.begin(), machines_.end(), [](const auto &machine) { return machine->coherence().at_rest(); });
}

} // namespace prism::gam::simulated

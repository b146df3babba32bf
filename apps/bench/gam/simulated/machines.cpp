/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/simulated/machines.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "bench/gam/simulated/one_sided.hpp"
#include "gam/directory/directory.hpp"
#include "gam/one_sided/latch.hpp"

namespace prism::gam::simulated
{

namespace
{

/** Memory that is zeroed, and aligned as blocks are. */
class Memory
{
public:
	explicit Memory(std::size_t bytes) : all_(bytes + block_size)
	{
		const auto address = reinterpret_cast<std::uint64_t>(all_.data());
		bytes_ = std::span(all_).subspan((block_size - address % block_size) % block_size, bytes);
	}
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	[[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
	[[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(bytes_.data()); }

private:
	std::vector<std::byte> all_;
	std::span<std::byte> bytes_;
};

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
	[[nodiscard]] directory::Options options(const Shape &shape) const
	{
		directory::Options options;
		options.self = self_;
		options.memory = memory_.bytes();
		options.lines = lines_.bytes();
		options.through_home = shape.kind == Kind::directory;
		return options;
	}

	Memory memory_;
	Memory lines_;
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
		: Machine(events, hardware, self, std::move(find)), layout_{shape.blocks, spares(shape)},
		  memory_(layout_.bytes()), region_(memory_.bytes(), layout_), device_(memory_.bytes(), self + 1U),
		  working_(shape.lines * latch::WorkingMemory::bytes_of_line), responders_(shape.nodes),
		  batches_(shape.nodes), latch_(options(), *this, *this)
	{
		for (std::uint64_t i = 0; i < layout_.buffer_count(); i++)
			device_.free.push_back(memory_.address() + layout_.buffers() + i * block_size);
		region_.lend(1, shape.blocks - 1);
		told_ = {device_.region(), layout_, OneSidedMemory::free_list};
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
		options.memory = {working_.bytes(), working_.address(), 0};
		options.region = &region_;
		return options;
	}
	[[nodiscard]] LatchMachine &machine(NodeId node) const { return static_cast<LatchMachine &>(find_(node)); }

	[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
	{
		return &machine(home).told_;
	}

	int post(NodeId home, const Chain &chain, std::uint64_t token) noexcept override
	{
		std::vector<Request> requests = Recorder::requests_of(chain);
		Packets packets{0, requests.size(), requests.size() * Hardware::in_ns(hardware_.request)};
		for (const Request &request : requests)
			packets.bytes += bytes_of(request);
		LatchMachine &target = machine(home);
		transmit(target, Machine::post(), packets, [this, &target, token, requests = std::move(requests)] {
			target.execute(*this, requests, token);
		});
		return 0;
	}

	/** Executes a chain as the home's NIC. */
	void execute(LatchMachine &from, const std::vector<Request> &requests, std::uint64_t token)
	{
		std::vector<Answer> answers;
		Packets packets{0, requests.size(), requests.size() * Hardware::in_ns(hardware_.packet)};
		for (const Request &request : requests) {
			answers.push_back(device_.execute(request, responders_[from.self_]));
			packets.bytes += answers.back().bytes.size();
		}
		transmit(from, events_.now(), packets, [&from, answers = std::move(answers), token]() mutable {
			from.process(Hardware::in_ns(from.hardware_.completion),
				[&from, answers = std::move(answers), token] { from.complete(answers, token); });
		});
	}

	void complete(const std::vector<Answer> &answers, std::uint64_t token)
	{
		latch::Outcome outcome;
		for (const Answer &answer : answers) {
			outcome.failed |= answer.failed;
			answer.deliver();
		}
		outcome.status = answers.back().status;
		outcome.bytes = static_cast<std::uint32_t>(answers.back().bytes.size());
		latch_.completed(token, outcome);
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
			target.device_.free.insert(target.device_.free.end(), buffers.begin(), buffers.end());
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

	const latch::Layout layout_;
	Memory memory_;
	latch::Region region_;
	OneSidedMemory device_;
	Memory working_;
	latch::HomeMemory told_;
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

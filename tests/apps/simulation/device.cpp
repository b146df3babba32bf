/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "device.hpp"

#include <cerrno>

namespace simulation
{

namespace
{

constexpr std::uint32_t all_rights =
	soft::access_local_write | soft::access_remote_read | soft::access_remote_write | soft::access_remote_atomic;
/* ns; as in VerbsDevice */
constexpr soft::Time longest_drain = 1'000'000'000;

template <typename T>
std::uint32_t add_region(test::Node &node, std::vector<T> &memory, std::uint64_t va, std::uint32_t rights)
{
	return node.engine.memory.add_region(
		reinterpret_cast<std::uint8_t *>(memory.data()), va, memory.size() * sizeof(T), rights, domain);
}

} // namespace

Device::Device(
	test::Node &node, Surroundings &around, const prism::apps::RegionLayout &layout, const DeviceOptions &options)
	: node_(node), around_(around), options_(options), memory_((layout.bytes() + sizeof(Line) - 1) / sizeof(Line)),
	  key_(add_region(node, memory_, base_va, all_rights)), inbox_(node), self_(node, {}), word_(1),
	  word_key_(add_region(node, word_, reinterpret_cast<std::uintptr_t>(word_.data()), soft::access_local_write))
{
	for (const prism::apps::BufferClass &wanted : layout.lists())
		lists_.emplace_back(node_.engine, base_va + layout.buffers(lists_.size()), key_, wanted.buffer_size,
			wanted.count, options_.grace);
	self_.connect(self_.endpoint, connect_options());
}

const std::byte *Device::at(std::uint64_t va, std::uint64_t length) const noexcept
{
	const std::uint64_t size = memory_.size() * sizeof(Line);
	if (va < base_va || va - base_va > size || length > size - (va - base_va))
		return nullptr;
	return memory() + (va - base_va);
}

test::ConnectOptions Device::connect_options()
{
	test::ConnectOptions options;
	options.mtu = options_.mtu;
	options.ack_timeout = options_.ack_timeout;
	options.send_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	options.recv_psn = static_cast<std::uint32_t>(around_.random().bits()) & PRISM_PSN_MASK;
	return options;
}

std::unique_ptr<test::Endpoint> Device::connect(Pair &pair)
{
	auto endpoint = std::make_unique<test::Endpoint>(node_, test::EndpointOptions{});
	inbox_.serve(*endpoint);
	pair.connect(*endpoint, connect_options());
	return endpoint;
}

/**
 * Posts @p chain to the server's own queue pair and waits. Returns nothing if it does not end or ends with an error.
 */
std::optional<prism::Completion> Device::ask_self(const prism::Chain &chain)
{
	if (self_.post(chain, 0))
		return std::nullopt;
	prism::Completion completion;
	bool there = false;
	around_.go_on_until([&] { return there || (there = self_.poll(completion)); });
	if (there && !completion.failed())
		return completion;
	around_.find("the server's own requests do not end");
	return std::nullopt;
}

bool Device::run_on_self(const prism::Chain &chain)
{
	const std::optional<prism::Completion> completion = ask_self(chain);
	return completion && completion->ok();
}

/* Free lists ----------------------------------------------------------------------------------------------------- */

std::uint64_t Device::taken_back(std::size_t list) const noexcept
{
	return options_.minds_taken_back ? lists_[list].taken_back() : 0;
}

prism::Result<void> Device::mark(std::size_t list)
{
	lists_[list].refresh();
	if (!lists_[list].exact())
		return prism::make_error(EBUSY, "the device took buffers back");
	lists_[list].mark();
	return {};
}

/** Drains the list as FreeList::drain() does: one ALLOCATE after another, until nothing is left. */
bool Device::drain(std::size_t number)
{
	List &list = lists_[number];
	drained_++;
	const prism::LocalSlice answer{
		reinterpret_cast<std::uintptr_t>(word_.data()), sizeof(std::uint64_t), word_key_};
	const soft::Time deadline = around_.time() + longest_drain;
	while (around_.time() < deadline) {
		prism::Chain chain;
		chain.allocate(list.number(), std::span<const std::byte>{}).result(answer);
		word_[0] = 0;
		const std::optional<prism::Completion> taken = ask_self(chain);
		if (!taken)
			return false;
		if (taken->ok()) {
			list.taken_by_owner(word_[0]);
			continue;
		}
		/* Entries in their grace period are not available yet. */
		list.refresh();
		if (!list.available())
			return true;
	}
	return false;
}

void Device::spare(std::uint64_t address) noexcept
{
	for (List &list : lists_)
		list.spare(address);
}

std::uint64_t Device::collect(std::size_t list)
{
	return options_.collects ? lists_[list].collect() : 0;
}

/* Reports -------------------------------------------------------------------------------------------------------- */

int Device::take_reports()
{
	if (inbox_.empty())
		return 0;
	for (List &list : lists_)
		list.refresh();
	const std::size_t got = inbox_.take([this](const prism::FreeReport *report) { judge(report); });
	for (List &list : lists_)
		list.post_released();
	return static_cast<int>(got);
}

void Device::judge(const prism::FreeReport *report)
{
	if (!report) {
		around_.find("a report does not parse");
		return;
	}
	reports_++;
	for (List &list : lists_) {
		if (list.number() != report->free_list)
			continue;
		for (std::uint32_t i = 0; i < report->count; i++)
			list.release(report->addresses[i]);
		return;
	}
	around_.find("a report names a list that is not there");
}

} // namespace simulation

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replica.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/core.h>

namespace rs_sim
{

using prism::rs::Slot;
using prism::rs::Tag;

namespace
{

simulation::StoreOptions store_options(const ReplicaOptions &options)
{
	simulation::StoreOptions store = options;
	const auto buffers = static_cast<std::uint32_t>(options.blocks) + options.spare_buffers;
	store.classes = {{prism::rs::buffer_size(options.block_size), buffers}};
	store.grace = options.flaw != Flaw::no_grace;
	store.collects = options.flaw != Flaw::no_collect;
	return store;
}

} // namespace

Replica::Replica(test::Node &node, simulation::Surroundings &around, const ReplicaOptions &options, bool is_new)
	: Store(node, around, store_options(options), options.blocks * sizeof(Slot)), options_(options),
	  state_(is_new || options.flaw == Flaw::empty_serves, std::chrono::nanoseconds(options.repair_lease)),
	  turn_(std::chrono::nanoseconds(options.repair_lease))
{
}

Slot Replica::at_block(std::uint64_t block) const noexcept
{
	Slot slot;
	std::memcpy(&slot, memory() + block * sizeof(slot), sizeof(slot));
	return slot;
}

/* Connections ---------------------------------------------------------------------------------------------------- */

bool Replica::admits(const Request &request, std::uint32_t number)
{
	const prism::rs::EpochState::Answer answer =
		request.repairs ? state_.repair_connects(number, is_open(state_.repairer()), now())
				: state_.client_connects(request.epoch);
	if (answer.drops)
		drop_clients(serving() ? 0 : number);
	return !answer.error;
}

/** Admits a client under its future connection number; a refused client gets none. */
std::optional<Admission> Replica::admit(Pair &pair, const Request &request)
{
	if (!admits(request, next_number()))
		return std::nullopt;
	const Place place = connect(pair, true);
	Admission admission;
	admission.connection = place.connection;
	admission.view.slots = {base_va, options_.blocks * sizeof(Slot), key()};
	admission.view.scratch = {place.scratch, key()};
	const simulation::List &list = lists().front();
	admission.view.free_list = list.number();
	admission.view.buffers = {list.first(), std::uint64_t{list.size()} * list.buffers(), key()};
	admission.view.epoch = state_.epoch();
	admission.view.serving = serving() || options_.flaw == Flaw::early_reads;
	return admission;
}

int Replica::begin_epoch(std::uint32_t number, std::uint64_t epoch)
{
	const prism::rs::EpochState::Answer answer = state_.begin_epoch(number, epoch);
	if (answer.drops)
		drop_clients(number);
	return answer.error;
}

int Replica::begin_serving(std::uint32_t number, std::uint64_t epoch)
{
	if (const int error = state_.check_end(number, epoch))
		return error;
	state_.end_repair();
	drop_clients(number);
	return 0;
}

int Replica::hear(std::uint32_t number, const prism::apps::ControlMessage &message)
{
	if (message.kind == prism::rs::epoch_message)
		return begin_epoch(number, message.value);
	if (message.kind == prism::rs::serve_message)
		return begin_serving(number, message.value);
	if (message.kind == prism::rs::turn_ends_message) {
		turn_.give_back(message.value);
		return 0;
	}
	return serving() ? turn_.take(message.value, now()) : state_.repair_goes_on(number, now());
}

/* Buffers -------------------------------------------------------------------------------------------------------- */

void Replica::look_at(std::uint64_t index)
{
	if (const Slot slot = at_block(index); slot.block.ptr)
		spare(slot.block.ptr);
}

std::uint64_t Replica::buffers_in_use() const noexcept
{
	return lists().front().buffers() - lists().front().available();
}

void Replica::check_blocks()
{
	for (std::uint64_t block = 0; block < options_.blocks; block++) {
		const Slot slot = at_block(block);
		if (!slot.block.ptr && slot.tag == Tag{})
			continue;
		const std::size_t length = sizeof(Tag) + options_.block_size;
		const std::byte *const buffer = at(slot.block.ptr, length);
		if (!buffer || slot.block.bound != length || slot.block.tag) {
			around_.find(fmt::format("block {}: its slot leads nowhere", block));
			continue;
		}
		std::vector<std::uint64_t> words(options_.block_size / sizeof(std::uint64_t));
		std::memcpy(words.data(), buffer + sizeof(Tag), options_.block_size);
		if (std::memcmp(buffer, &slot.tag, sizeof(Tag)) != 0)
			around_.find(fmt::format("block {}: its slot and its buffer have different tags", block));
		if (std::any_of(words.begin(), words.end(), [&](std::uint64_t word) { return word != words[0]; }))
			around_.find(fmt::format("block {}: its buffer is parts of several", block));
	}
}

} // namespace rs_sim

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "checks.hpp"

#include <cstring>

#include "simulation/linearizable.hpp"

namespace rs_sim
{

using prism::rs::Slot;
using prism::rs::Tag;

namespace
{

/** Returns the value that a last GET of @p block at @p replicas would find. */
std::uint64_t newest(const std::vector<const Replica *> &replicas, std::uint64_t block)
{
	Tag tag;
	std::uint64_t value = prism::test::absent;
	for (const Replica *const replica : replicas) {
		const Slot slot = replica->at_block(block);
		if (slot.tag <= tag)
			continue;
		tag = slot.tag;
		std::memcpy(&value, replica->at(slot.block.ptr + sizeof(Tag), sizeof(value)), sizeof(value));
	}
	return value;
}

/** Records a last GET of each block, at a random quorum. */
void read_all(const Remains &remains)
{
	std::vector<const Replica *> serving;
	for (const Replica *const replica : remains.replicas) {
		if (replica->serving())
			serving.push_back(replica);
	}
	if (serving.size() <= remains.failures)
		return;
	for (std::uint64_t block = 0; block < remains.blocks; block++) {
		std::vector<const Replica *> quorum = serving;
		while (quorum.size() > remains.failures + 1)
			quorum.erase(quorum.begin() + static_cast<std::ptrdiff_t>(remains.random.below(quorum.size())));
		simulation::record_last_get(remains.history, remains.users, block, newest(quorum, block));
	}
}

} // namespace

void check(const Remains &remains)
{
	for (Replica *const replica : remains.replicas)
		replica->check_blocks();
	read_all(remains);
	simulation::check_linearizable(remains.history, "block", remains.find);
	for (Replica *const replica : remains.replicas)
		replica->account();
}

} // namespace rs_sim

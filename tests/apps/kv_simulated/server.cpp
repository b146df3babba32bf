/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server.hpp"

#include <utility>

#include "kv/store/introduction.hpp"

namespace kv_sim
{

using prism::kv::Slot;

namespace
{

constexpr std::uint32_t max_key_size = 8;

simulation::StoreOptions store_options(const ServerOptions &options)
{
	simulation::StoreOptions store = options;
	store.grace = options.flaw != Flaw::no_grace;
	store.takes_all_reports = options.flaw != Flaw::few_reports;
	store.collects = options.flaw != Flaw::no_collect;
	store.minds_taken_back = options.flaw != Flaw::collect_anyway;
	return store;
}

} // namespace

Server::Server(test::Node &node, Surroundings &around, const ServerOptions &options)
	: Store(node, around, store_options(options), prism::kv::Geometry(options.buckets).table_bytes()),
	  options_(options), table_(reinterpret_cast<Slot *>(memory()), prism::kv::Geometry(options.buckets))
{
	for (unsigned char &byte : secret_)
		byte = static_cast<unsigned char>(around_.random().bits());
}

Admission Server::admit(Pair &pair)
{
	const Place place = connect(pair, false);
	Admission admission;
	/* Shared, as a client may outlive its server. */
	admission.lease = [next = next_version_](std::uint64_t count) { return std::exchange(*next, *next + count); };
	prism::kv::ServerView &view = admission.view;
	view.secret = secret_;
	view.geometry = table_.geometry();
	view.table = {base_va, key()};
	view.scratch = {place.scratch, key()};
	for (const simulation::List &list : lists())
		view.classes.push_back({list.number(), list.size(),
			{list.first(), std::uint64_t{list.size()} * list.buffers(), key()}});
	view.connection = place.connection;
	view.max_key_size = max_key_size;
	view.max_value_size = options_.max_value_size;
	return admission;
}

bool Server::empty_claim(std::uint64_t index, const Slot &claim)
{
	prism::Chain chain;
	chain.cas({base_va + index * sizeof(Slot), key()}, prism::Cas::bytes(prism::CasMode::equal, claim, Slot{}));
	return run_on_self(chain);
}

void Server::look_at(std::uint64_t index)
{
	const Slot slot = table_.at(index);
	const bool stays = options_.flaw == Flaw::claims_stay || is_open(slot.object.bound);
	if (slot.is_claim() && !stays && empty_claim(index, slot))
		claims_++;
	if (slot.object.ptr)
		spare(slot.object.ptr);
}

} // namespace kv_sim

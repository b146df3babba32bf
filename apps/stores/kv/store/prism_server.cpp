/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_server.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sodium.h>

#include "base/saturating.hpp"
#include "introduction.hpp"
#include "kv/store/kind.hpp"
#include "service/size_class.hpp"

namespace prism::kv
{

namespace
{

constexpr std::size_t alignment = 64;
constexpr std::uint32_t most_connections = 4096;
constexpr std::uint32_t longest_key = 4096;

std::size_t aligned(std::size_t bytes)
{
	return (bytes + alignment - 1) / alignment * alignment;
}

Geometry geometry_for(std::uint64_t slots)
{
	const std::uint64_t buckets = (slots + Geometry::bucket_slots - 1) / Geometry::bucket_slots;
	return Geometry(static_cast<std::uint32_t>(std::max<std::uint64_t>(buckets, 2)));
}

/**
 * Returns a random first version: programs keep versions as numbers, and a restart must not give such a number to
 * another value. The low half, which tags slots, begins with 1.
 */
std::uint64_t random_first_version() noexcept
{
	return (std::uint64_t{randombytes_random()} >> 1 << 32) + 1;
}

} // namespace

ClassOptions PrismServerOptions::class_for(std::uint64_t objects, std::uint32_t key_size, std::uint32_t value_size)
{
	const std::size_t object = sizeof(ObjectHeader) + std::size_t{key_size} + value_size;
	constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max(); /* more than any machine has */
	const std::uint64_t all =
		apps::sum_of(objects, apps::sum_of(objects / 10, apps::spare_buffers(objects, aligned(object))));
	return {static_cast<std::uint32_t>(aligned(object)), static_cast<std::uint32_t>(std::min(all, most))};
}

Result<void> PrismServer::check(const PrismServerOptions &options)
{
	const auto wrong = [](const char *what) { return make_error(EINVAL, "cannot make a store", what); };
	if (options.max_key_size == 0 || options.max_key_size > longest_key)
		return wrong("the longest key (--key-size) has 1 to 4096 bytes");
	if (options.max_connections == 0 || options.max_connections > most_connections)
		return wrong("the connections (--connections) are 1 to 4096");
	if (!options.shard.is_valid())
		return wrong(
			"the shard (--shard) is a number from 0 and below that of --shards; the store's name (--name) "
			"has 31 graphic ASCII characters at most");
	if (options.slots > std::uint64_t{1} << 35)
		return wrong("the table has 2^35 slots at most (--slots, or half of --records)");
	const std::uint64_t largest =
		sizeof(ObjectHeader) + std::uint64_t{options.max_key_size} + options.max_value_size;
	if (largest > apps::longest_object)
		return wrong(
			"the longest key and value (--key-size, --value-size) have 1 MiB at most, with 16 bytes of an "
			"object");
	bool fits = false;
	for (const ClassOptions &size_class : options.classes) {
		if (size_class.buffer_size == 0 || size_class.buffer_size % alignment != 0 || size_class.count == 0)
			return wrong("a size class (--class) has buffers, of a multiple of 64 bytes");
		if (size_class.buffer_size > apps::longest_object)
			return wrong("a buffer (--class) has 1 MiB at most");
		fits |= size_class.buffer_size >= largest;
	}
	if (!fits || options.classes.size() > ConnectionRecord::max_free_lists)
		return wrong(
			"1 to 64 size classes (--class) are needed, one of which holds the longest key and value with "
			"16 bytes");
	return {};
}

Result<std::unique_ptr<PrismServer>> PrismServer::create(const Context &context, const PrismServerOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	Result<Parts> parts = make_parts(context, apps::Hello{prism_kind},
		{geometry_for(options.slots).table_bytes(), "table", options.classes,
			"lower the number of records (--records), the size of values (--size), or the slots (--slots) "
			"and "
			"buffers (--class)"},
		options);
	if (!parts)
		return parts.error();
	std::unique_ptr<PrismServer> server(new PrismServer(*std::move(parts), options));
	if (Result<void> made = server->make_lists(); !made)
		return made.error();
	return server;
}

PrismServer::PrismServer(Parts parts, const PrismServerOptions &options)
	: OneSidedServer(std::move(parts), options), options_(options),
	  table_(memory().as<Slot>(), geometry_for(options.slots)), secret_(random_hash_key()),
	  next_version_(random_first_version())
{
}

Result<void> PrismServer::introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine)
{
	apps::Hello hello{prism_kind};
	if (Result<apps::Hello> expected = hello.expect(theirs, "a client"); !expected)
		return expected.error();
	Result<Introduction> client = Introduction::parse(theirs, "a client");
	if (!client)
		return client.error();
	if (client->shard.shard != options_.shard.shard || client->shard.shards != options_.shard.shards)
		return make_error(EPROTONOSUPPORT,
			fmt::format("this is {}, not shard {} of {}", options_.shard.text(), client->shard.shard,
				client->shard.shards),
			"name all servers of the store, in the order of their numbers");
	hello.max_key_size = options_.max_key_size;
	hello.max_value_size = options_.max_value_size;
	mine.private_data = hello.serialize(
		Introduction{secret_, table_.geometry().bucket_count(), place.number, next_version_, options_.shard}
			.serialize());
	const RemoteRegion all = memory().remote();
	mine.regions = {{table_region, {all.address, table_.geometry().table_bytes(), all.rkey}},
		{scratch_region, place.scratch}};
	next_version_ += LeasedVersions::first_lease;
	return {};
}

int PrismServer::hear(std::uint32_t, const apps::ControlMessage &message, std::optional<apps::ControlMessage> &answer)
{
	if (message.kind != lease_message || !LeasedVersions::may_be(message.value))
		return EBADMSG;
	answer = {lease_message, next_version_};
	next_version_ += message.value;
	return 0;
}

void PrismServer::look_at(std::uint64_t index)
{
	const Slot slot = table_.at(index);
	if (slot.is_claim() && !is_open(slot.object.bound) && empty_claim(index, slot))
		claims_++;
	if (slot.object.ptr)
		spare(slot.object.ptr);
}

bool PrismServer::empty_claim(std::uint64_t index, const Slot &claim)
{
	const Cas cas = Cas::bytes(CasMode::equal, claim, Slot{});
	return run_on_self(Chain{}.cas(memory().remote().at(index * sizeof(Slot)), cas));
}

/** Returns the memory in bytes, as docs/prism-kv.md adds it up, with objects for half of the table. */
nlohmann::json PrismServer::memory_json() const
{
	std::uint64_t buffers = 0, bookkeeping = 0;
	for (const ClassOptions &size_class : options_.classes) {
		buffers += std::uint64_t{size_class.buffer_size} * size_class.count;
		bookkeeping += bookkeeping_bytes(size_class);
	}
	const std::uint64_t table = table_.geometry().table_bytes();
	const std::uint64_t objects = table_.geometry().slot_count() / 2;
	return {{"table", table}, {"buffers", buffers}, {"bookkeeping", bookkeeping},
		{"overhead_per_object", sizeof(ObjectHeader) + (table + bookkeeping + objects - 1) / objects}};
}

std::string PrismServer::stats_json() const
{
	const TableCount count = table_.count();
	nlohmann::json json;
	json["shard"] = {
		{"number", options_.shard.shard}, {"of", options_.shard.shards}, {"store", options_.shard.store}};
	json["table"] = {{"slots", table_.geometry().slot_count()}, {"members", count.members},
		{"at_home", count.at_home}, {"claims", count.claims}, {"stray", count.stray}};
	for (const FreeList &list : lists()) {
		const FreeListInfo info = list.info();
		json["classes"].push_back({{"buffer_size", info.buffer_size},
			{"buffers", info.buffers.length / info.buffer_size}, {"available", list.available()},
			{"released", list.stats().released}, {"recovered", list.stats().recovered},
			{"refused", list.stats().outside + list.stats().misaligned + list.stats().not_allocated}});
	}
	json["memory"] = memory_json();
	json["limits"] = {{"key", options_.max_key_size}, {"value", options_.max_value_size}};
	json["connections"] = {{"accepted", stats().connections}, {"open", stats().open}, {"refused", stats().refused}};
	json["recovery"] = {{"scans", recovery_stats().scans}, {"postponed", recovery_stats().put_off},
		{"cut_off", recovery_stats().cut_off}, {"buffers", recovery_stats().recovered}, {"claims", claims_}};
	return json.dump(2);
}

} // namespace prism::kv

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_shard.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sodium.h>

#include "service/size_class.hpp"
#include "tx/store/kind.hpp"
#include "tx/store/object.hpp"
#include "tx/transaction/shards.hpp"

namespace prism::tx
{

namespace
{

constexpr std::uint32_t alignment = 64;
constexpr std::uint32_t longest_key = 4096;
constexpr std::uint64_t most_cells = std::uint64_t{1} << 35;
constexpr unsigned shard_bits = 16;
/* Time that a client may take to resolve what a dead one has left before another is asked */
constexpr auto until_another = std::chrono::milliseconds(20);
/* Time that shard 0 reserves the number of a client that was cut off, if there are others to give */
constexpr auto kept_for_its_client = std::chrono::seconds(2);

std::uint64_t buffer_size(std::uint32_t records, std::uint64_t key_size, std::uint64_t value_size)
{
	const std::uint64_t bytes = object_header_size + records * (Record::header_size + key_size + value_size);
	return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t new_identity(std::uint16_t shard)
{
	std::uint64_t random = 0;
	while (!(random >> shard_bits))
		randombytes_buf(&random, sizeof(random));
	return random >> shard_bits << shard_bits | shard;
}

} // namespace

std::vector<apps::BufferClass> PrismShardOptions::classes_for(
	std::uint64_t keys, std::uint64_t cells, bool numbered, std::uint32_t key_size, std::uint32_t value_size)
{
	const auto class_of = [key_size, value_size](std::uint32_t records, double cells_of_it) -> apps::BufferClass {
		const auto live = static_cast<std::uint64_t>(cells_of_it);
		const auto size = static_cast<std::uint32_t>(buffer_size(records, key_size, value_size));
		return {size, static_cast<std::uint32_t>(live + live / 10 + apps::spare_buffers(live, size))};
	};
	if (numbered)
		return {class_of(1, static_cast<double>(keys))};
	/* Shares of cells with 1, 2, 3 to 4, 5 to 8 keys: Poisson */
	const double load = static_cast<double>(keys) / static_cast<double>(cells);
	std::vector<apps::BufferClass> classes;
	double share = std::exp(-load); /* of cells with this many keys */
	for (std::uint32_t records = 1, largest = 1; largest <= 8; largest *= 2) {
		double sum = 0;
		for (; records <= largest; records++) {
			share *= load / records;
			sum += share;
		}
		/* No object can hold keys that share a cell and need more than this. */
		if (largest > 1 && buffer_size(largest, key_size, value_size) > apps::longest_object)
			break;
		classes.push_back(class_of(largest, sum * static_cast<double>(cells)));
	}
	return classes;
}

Result<void> PrismShard::check(const PrismShardOptions &options)
{
	const auto wrong = [](const char *what) { return make_error(EINVAL, "cannot make a shard", what); };
	if (options.shards == 0 || options.shards > max_shards || options.shard >= options.shards)
		return wrong("shards are numbered from 0: --shard is below --shards, which is 4095 at most");
	if (options.cells == 0 || options.cells > most_cells)
		return wrong("a shard has 1 to 2^35 cells (--cells, or twice --keys)");
	if (options.lanes == 0 || options.max_connections == 0 ||
		std::uint64_t{options.lanes} * options.max_connections > std::uint64_t{1} << Writer::place_bits)
		return wrong("clients times their transactions at once (--connections, --lanes) are 1 to 2^20");
	if (options.max_key_size == 0 || options.max_key_size > longest_key)
		return wrong("keys (--key-size) have 1 to 4096 bytes");
	if (options.numbered && options.max_key_size < sizeof(std::uint64_t))
		return wrong("numbers of keys (--numbered, --key-size) have 8 bytes");
	const std::uint64_t largest = buffer_size(1, options.max_key_size, options.max_value_size);
	if (largest > apps::longest_object)
		return wrong("the longest key and value (--key-size, --value-size) have 1 MiB at most, with 32 bytes "
			     "of an object");
	bool fits = false;
	for (const apps::BufferClass &size_class : options.classes) {
		if (size_class.buffer_size == 0 || size_class.buffer_size % alignment || size_class.count == 0)
			return wrong("a size class (--class) has buffers, of a multiple of 64 bytes");
		if (size_class.buffer_size > apps::longest_object)
			return wrong("a buffer (--class) has 1 MiB at most");
		fits |= size_class.buffer_size >= largest;
	}
	if (!fits || options.classes.size() > ConnectionRecord::max_free_lists)
		return wrong("1 to 64 size classes (--class) are needed, one of which holds the longest key and value "
			     "with 32 bytes");
	return {};
}

Result<std::unique_ptr<PrismShard>> PrismShard::create(const Context &context, const PrismShardOptions &options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	if (options.shards > 1 && !options.secret)
		return make_error(EINVAL, "cannot make a shard",
			"the shards of a store need a secret by which they recognise each other (--secret FILE)");
	const ShardGeometry geometry{options.cells, options.max_connections, options.lanes};
	Result<Parts> parts = make_parts(context, apps::Hello{prism_kind},
		{geometry.bytes(), "cells and logs", options.classes,
			"lower the number of keys (--keys), the size of values (--value-size), the buffers (--class), "
			"or the "
			"clients (--clients) and their transactions at once (--lanes)"},
		options);
	if (!parts)
		return parts.error();
	std::unique_ptr<PrismShard> shard(new PrismShard(*std::move(parts), options, geometry));
	if (Result<void> made = shard->make_lists(); !made)
		return made.error();
	return shard;
}

PrismShard::PrismShard(Parts parts, const PrismShardOptions &options, const ShardGeometry &geometry)
	: OneSidedServer(std::move(parts), options), options_(options), geometry_(geometry),
	  store_secret_(options.secret ? *options.secret : StoreSecret::random()),
	  identity_(new_identity(options.shard)), store_(options.shard ? 0 : identity_),
	  clients_(options.max_connections), lives_(options.shard ? 0 : options.shards)
{
	randombytes_buf(secret_.data(), secret_.size());
}

/* Clients -------------------------------------------------------------------------------------------------------- */

bool PrismShard::is_free(std::uint32_t client) const
{
	const auto will_be = [this, client](const auto &entrant) {
		return entrant.second.client == client && is_open(entrant.first);
	};
	const std::uint32_t connection = clients_[client].connection;
	return (!connection || !is_open(connection)) && std::ranges::none_of(entrants_, will_be);
}

PrismShard::Client *PrismShard::client_of(std::uint32_t connection) noexcept
{
	const auto found = std::ranges::find(clients_, connection, &Client::connection);
	return found == clients_.end() ? nullptr : &*found;
}

/**
 * Gives the client, on shard 0, a number whose last client is gone. Clients that were cut off may come back for theirs:
 * so a recently left number is given to another client only if there is no other, and then the one that was left first.
 */
Result<void> PrismShard::number_client(Introduction &client, const Place &place)
{
	const Time long_ago = std::chrono::steady_clock::now() - kept_for_its_client;
	const Client *chosen = nullptr;
	for (const Client &one : clients_) {
		if (!is_free(static_cast<std::uint32_t>(&one - clients_.data())))
			continue;
		if (!chosen || one.left < chosen->left)
			chosen = &one;
		if (!one.left || *one.left < long_ago)
			break;
	}
	if (!chosen)
		return make_error(EMFILE, fmt::format("there are {} clients already", clients_.size()),
			"raise the number of connections of all shards");
	client.client = static_cast<std::uint32_t>(chosen - clients_.data());
	client.incarnation = place.number;
	client.store = store_;
	client.signature = store_secret_.ticket(store_, client.client, client.incarnation);
	return {};
}

/** Checks that shard 0 has signed the client's claims; otherwise nothing of them is believed. */
Result<void> PrismShard::check_ticket(const Introduction &client) const
{
	if (!client.store || !client.incarnation || client.client >= clients_.size())
		return make_error(EBADMSG, "the client does not say which number shard 0 has given it");
	if (!StoreSecret::same(client.signature, store_secret_.ticket(client.store, client.client, client.incarnation)))
		return make_error(EACCES, "the client has no ticket of a shard 0 with this shard's secret",
			"start all shards with the same --secret");
	if (store_ && store_ != client.store)
		return make_error(ESTALE,
			options_.shard ? "shard 0 has lost its memory: this shard is of a store of before"
				       : "shard 0 has lost its memory: the client is of a store of before",
			options_.shard ? "start all servers anew" : "connect anew");
	if (clients_[client.client].incarnation > client.incarnation)
		return make_error(ESTALE, "a later client has this number", "connect anew");
	return {};
}

Result<void> PrismShard::introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine)
{
	apps::Hello hello{prism_kind};
	if (Result<apps::Hello> expected = hello.expect(theirs, "a client"); !expected)
		return expected.error();
	Result<Introduction> client = Introduction::parse(theirs, "a client");
	if (!client)
		return client.error();
	if (client->shard != options_.shard || client->shards != options_.shards)
		return make_error(EPROTONOSUPPORT,
			fmt::format("this is shard {} of {}, not {} of {}", options_.shard, options_.shards,
				client->shard, client->shards),
			"name all servers, in the order of their numbers");
	std::erase_if(entrants_, [this](const auto &entrant) { return !is_open(entrant.first); });
	const bool is_new = !options_.shard && !client->store;
	if (Result<void> admitted = is_new ? number_client(*client, place) : check_ticket(*client); !admitted)
		return admitted;
	entrants_[place.number] = {client->client, client->incarnation, client->store};
	client->used = clients_[client->client].connection != 0;
	if (options_.shard)
		client->signature = store_secret_.proof_of_life(client->store, identity_);
	client->identity = identity_;
	client->geometry = geometry_;
	client->view.secret = secret_;
	client->view.numbered = options_.numbered;
	client->view.as_in_paper = options_.as_in_paper;
	hello.max_key_size = options_.max_key_size;
	hello.max_value_size = options_.max_value_size;
	hello.max_depth = options_.lanes;
	mine.private_data = hello.serialize(client->serialize());
	mine.regions = {{shard_region, memory().remote()}};
	return {};
}

/**
 * Enters a client. The previous owner of its number is dead for shard 0, so its connection ends here too: nothing from
 * it is executed any more. Its successor clears its logs. If a client has lost its connection and come back, another
 * client is asked to resolve what it had prepared.
 */
void PrismShard::entered(std::uint32_t number)
{
	const auto found = entrants_.find(number);
	if (found == entrants_.end())
		return;
	const Entrant entrant = found->second;
	entrants_.erase(found);
	Client &one = clients_[entrant.client];
	if (one.incarnation > entrant.incarnation || (store_ && store_ != entrant.store)) { /* superseded */
		drop_client(number);
		return;
	}
	drop_client(one.connection);
	if (one.incarnation == entrant.incarnation && !options_.as_in_paper)
		orphans_[entrant.client] = {};
	else
		orphans_.erase(entrant.client);
	ask_at_ = {};
	one = {number, entrant.incarnation, {}, 0};
	store_ = entrant.store;
}

/* The dead -------------------------------------------------------------------------------------------------------- */

namespace
{

/** Loads a word that the device may write at the same time. */
std::uint64_t word(const std::uint64_t &place) noexcept
{
	return std::atomic_ref(const_cast<std::uint64_t &>(place)).load(std::memory_order_acquire);
}

/** Loads a timestamp that was there as a whole: between two loads of one clock, only the writer can have changed. */
Timestamp load(const Timestamp &place) noexcept
{
	for (;;) {
		const std::uint64_t clock = word(place.clock);
		const std::uint64_t writer = word(place.writer);
		if (word(place.clock) == clock)
			return {writer, clock};
	}
}

} // namespace

/**
 * Returns true if the logs of @p client list a cell that it has prepared and not ended: a hint, while others work on
 * it.
 */
bool PrismShard::has_prepared(std::uint32_t client) const noexcept
{
	const std::uint32_t first = client * geometry_.lanes;
	for (std::uint32_t place = first; place < first + geometry_.lanes; place++) {
		for (const LogEntry &entry : log(place).entries) {
			const std::uint64_t number = word(entry.cell);
			const Timestamp who = load(entry.version.committed);
			if (number >= geometry_.cells || who == Timestamp{})
				continue;
			const Cell &cell = memory().as<Cell>()[number];
			if (load(cell.prepared.writer) == who && load(cell.version.committed) < who)
				return true;
		}
	}
	return false;
}

/**
 * Asks clients to resolve what one of the dead has left, one client after the other: some do not poll for a while. A
 * client that has answered is not asked again: if the work is not done then, the shard of the decision is gone. A
 * client that comes later may find that shard taken in.
 */
void PrismShard::look_around()
{
	if (orphans_.empty() || std::chrono::steady_clock::now() < ask_at_)
		return;
	std::vector<std::uint32_t> clients = present();
	if (clients.empty()) /* nobody to ask: the check of the logs can wait as well */
		return;
	std::ranges::sort(clients);
	/* The scan at their end took what they had prepared for something to be installed. */
	if (std::erase_if(orphans_, [this](const auto &orphan) { return !has_prepared(orphan.first); }))
		recovery().want();
	ask_at_ = std::chrono::steady_clock::now() + (orphans_.empty() ? Time::duration{} : until_another);
	for (const auto &[orphan, answered] : orphans_) {
		std::vector<std::uint32_t> left;
		std::ranges::set_difference(clients, answered, std::back_inserter(left));
		if (left.empty())
			continue;
		const auto next = std::ranges::upper_bound(left, asked_);
		asked_ = next == left.end() ? left.front() : *next;
		(void)tell(asked_, {orphans_message, orphan});
		return;
	}
}

void PrismShard::ended(std::uint32_t number)
{
	entrants_.erase(number);
	Client *const client = client_of(number);
	if (!client)
		return;
	client->left = std::chrono::steady_clock::now();
	if (options_.as_in_paper)
		return;
	orphans_[static_cast<std::uint32_t>(client - clients_.data())] = {};
	ask_at_ = {};
}

/**
 * Handles a client's message. On shard 0, a client tells which life of another shard it has met: a later life has lost
 * the memory of the first.
 */
int PrismShard::hear(
	std::uint32_t number, const apps::ControlMessage &message, std::optional<apps::ControlMessage> &answer)
{
	Client *const client = client_of(number);
	if (!client) /* a later connection has its number */
		return EBADMSG;
	if (message.kind == orphans_message) { /* the logs show whether it is done */
		const auto found = orphans_.find(static_cast<std::uint32_t>(message.value));
		if (found != orphans_.end() && found->second.insert(number).second)
			ask_at_ = {};
		return 0;
	}
	if (message.kind == proof_message) {
		client->proof = message.value;
		return 0;
	}
	const std::size_t shard = message.value & ((1U << shard_bits) - 1);
	const bool adopts = message.kind == adopt_message;
	if ((!adopts && message.kind != shard_message) || shard == 0 || shard >= lives_.size())
		return EBADMSG;
	answer = {message.kind, 0};
	if (!StoreSecret::same(client->proof, store_secret_.proof_of_life(store_, message.value))) {
		answer->value = EACCES;
		return 0;
	}
	if (adopts && lives_[shard] != message.value)
		OneSidedServer::log(
			apps::LogLevel::info, fmt::format("shard {} is taken in, without the keys that it had", shard));
	if (adopts || !lives_[shard])
		lives_[shard] = message.value;
	answer->value = lives_[shard] == message.value ? 0 : std::uint64_t{ESTALE};
	return 0;
}

/* Lost buffers --------------------------------------------------------------------------------------------------- */

/**
 * Returns the number of places that may hold a buffer. The logs' entries come first: a buffer moves from there into a
 * cell.
 */
std::uint64_t PrismShard::slots() const
{
	return std::uint64_t{geometry_.places()} * max_accesses + geometry_.cells;
}

const LogPlace &PrismShard::log(std::uint32_t place) const noexcept
{
	return *reinterpret_cast<const LogPlace *>(memory().data() + geometry_.place_offset(place));
}

/**
 * Returns true if nobody will install what an entry of @p client lists: the client is gone, and its transaction has
 * ended in the cell, or never prepared it.
 */
bool PrismShard::is_over(std::uint32_t client, const LogEntry &entry) const noexcept
{
	if (!is_free(client))
		return false;
	const std::uint64_t number = word(entry.cell);
	const Timestamp who = load(entry.version.committed);
	if (number >= geometry_.cells)
		return true;
	const Cell &cell = memory().as<Cell>()[number];
	return tx::is_over(who, load(cell.version.committed), load(cell.prepared.writer));
}

void PrismShard::look_at(std::uint64_t index)
{
	const std::uint64_t entries = std::uint64_t{geometry_.places()} * max_accesses;
	if (index >= entries) {
		if (const std::uint64_t address = word(memory().as<Cell>()[index - entries].version.object.ptr))
			spare(address);
		return;
	}
	const auto place = static_cast<std::uint32_t>(index / max_accesses);
	const LogEntry &entry = log(place).entries[index % max_accesses];
	const std::uint64_t address = word(entry.version.object.ptr);
	if (address && !is_over(place / geometry_.lanes, entry))
		spare(address);
}

std::string PrismShard::stats_json() const
{
	std::uint64_t written = 0, prepared = 0;
	for (std::uint64_t index = 0; index < geometry_.cells; index++) {
		const Cell &cell = memory().as<Cell>()[index];
		written += cell.version.object.ptr != 0;
		prepared += cell.prepared.writer != cell.version.committed;
	}
	nlohmann::json json;
	json["shard"] = {{"number", options_.shard}, {"of", options_.shards}};
	json["store"] = fmt::format("{:016x}", store_);
	json["commit"] = options_.as_in_paper ? "paper" : "protected";
	json["numbered"] = options_.numbered;
	json["cells"] = {{"number", geometry_.cells}, {"written", written}, {"prepared", prepared}};
	for (const FreeList &list : lists()) {
		const FreeListInfo info = list.info();
		json["classes"].push_back({{"buffer_size", info.buffer_size},
			{"buffers", info.buffers.length / info.buffer_size}, {"available", list.available()},
			{"released", list.stats().released}, {"recovered", list.stats().recovered},
			{"refused", list.stats().outside + list.stats().misaligned + list.stats().not_allocated}});
	}
	json["limits"] = {{"key", options_.max_key_size}, {"value", options_.max_value_size},
		{"cells_of_a_transaction", max_accesses}, {"transactions_of_a_client", options_.lanes}};
	json["connections"] = {{"accepted", stats().connections}, {"open", stats().open}, {"refused", stats().refused}};
	json["recovery"] = {{"scans", recovery_stats().scans}, {"postponed", recovery_stats().put_off},
		{"cut_off", recovery_stats().cut_off}, {"buffers", recovery_stats().recovered}};
	return json.dump(2);
}

} // namespace prism::tx

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replica.hpp"

#include <sys/random.h>

#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prism::rs
{

namespace
{

constexpr unsigned random_bits = 24;

std::unique_ptr<Founding> founding_of(const ReplicaOptions &options)
{
	if (options.beginning != Beginning::new_volume)
		return nullptr;
	std::uint64_t incarnation = 0;
	while (!incarnation)
		(void)!::getrandom(&incarnation, sizeof(incarnation), 0);
	return std::make_unique<Founding>(
		options.replica, static_cast<unsigned>(options.volume.replicas.size()), incarnation);
}

} // namespace

std::uint64_t next_epoch(std::uint64_t epoch)
{
	std::uint64_t random = 0;
	(void)!::getrandom(&random, sizeof(random), 0);
	const std::uint64_t low = random & ((std::uint64_t{1} << random_bits) - 1);
	return ((epoch >> random_bits) + 1) << random_bits | low;
}

Result<std::unique_ptr<Replica>> Replica::create(const Context &context, const ReplicaOptions &options)
{
	if (Result<void> checked = options.volume.check(); !checked)
		return checked.error();
	if (options.replica >= options.volume.replicas.size())
		return make_error(EINVAL, fmt::format("the volume has no replica {}", options.replica),
			fmt::format("its replicas are 0 to {}", options.volume.replicas.size() - 1));
	const std::uint64_t buffers = options.volume.blocks + options.spare_buffers;
	if (buffers > std::numeric_limits<std::uint32_t>::max())
		return make_error(
			EINVAL, "a replica has at most 2^32 buffers", "make a volume of fewer, larger blocks");
	ReplicaOptions mine = options;
	if (!mine.port)
		mine.port = options.volume.replicas[options.replica].port;
	const apps::BufferClass blocks{buffer_size(options.volume.block_size), static_cast<std::uint32_t>(buffers)};
	Result<Parts> parts = make_parts(context, hello_of(apps::StoreKind::rs),
		{options.volume.blocks * sizeof(Slot), "slots", {blocks},
			"make a volume of fewer blocks, or lower the spare buffers (--spare-buffers)"},
		mine);
	if (!parts)
		return parts.error();
	std::unique_ptr<Replica> replica(new Replica(*std::move(parts), mine));
	if (Result<void> made = replica->make_lists(); !made)
		return made.error();
	return replica;
}

Replica::Replica(Parts parts, const ReplicaOptions &options)
	: OneSidedServer(std::move(parts), options), volume_(options.volume), replica_(options.replica),
	  founding_(founding_of(options)), before_serving_(options.before_serving),
	  serving_(options.beginning == Beginning::founded), epoch_(serving_ ? first_epoch : 0)
{
}

/** Nobody has been let in before: there is no connection of another epoch. */
void Replica::serve_as_founder()
{
	epoch_ = first_epoch;
	serving_ = true;
	log(apps::LogLevel::info, fmt::format("replica {}: the volume is founded, serves", replica_));
}

/** Another replica asks whether the volume is new. Who has served, or has lost its memory, knows that it is not. */
Result<void> Replica::answer_founder(const Introduction &asker, Introduction &own) const
{
	const std::optional<Founders> founders =
		founding_ ? founding_->answer(asker.asker, asker.client) : std::nullopt;
	if (!founders && founding_)
		return make_error(EEXIST,
			fmt::format(
				"the volume is not new: another incarnation of replica {} has founded it", asker.asker),
			"start it without --new: what it had is gone, and the others repair it");
	if (!founders)
		return make_error(EEXIST,
			fmt::format("the volume is not new: replica {} was started without --new", replica_),
			"for a new volume start all replicas with --new");
	own.client = founding_->incarnation();
	own.founders = *founders;
	return {};
}

/**
 * Who has an epoch that this replica has not heard of brings it, and ends all connections of older ones with it. A
 * replica that has lost its memory has lost its epoch too, and cannot tell a newer one from an older: only its repair
 * can.
 */
Result<void> Replica::admit(const Introduction &client, std::uint32_t number)
{
	const bool repairs = client.purpose == Purpose::repair || client.purpose == Purpose::polite_repair;
	if (founding_ && !serving_)
		return make_error(ENODATA, "this replica is new and waits for all others of the volume to be there");
	if (repairs) {
		if (serving_)
			return make_error(EALREADY, "this replica has forgotten nothing: there is nothing to repair");
		if (client.purpose == Purpose::polite_repair && repairer_ && is_open(repairer_))
			return make_error(EBUSY, "this replica is being repaired already");
		drop_clients();
		epoch_ = 0;
		repairer_ = number;
		return {};
	}
	if (!epoch_)
		return make_error(ENOTRECOVERABLE, "this replica has lost its memory and waits to be repaired",
			fmt::format("prism-rs repair {}", replica_));
	if (serving_ && client.epoch > epoch_)
		begin_epoch(client.epoch);
	return {};
}

Result<void> Replica::introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine)
{
	Introduction own = Introduction::of(volume_, replica_);
	Result<Introduction> client = meet(theirs, apps::StoreKind::rs, own, "the client");
	if (!client)
		return client.error();
	const Result<void> admitted =
		client->purpose == Purpose::found ? answer_founder(*client, own) : admit(*client, place.number);
	if (!admitted)
		return admitted.error();
	own.epoch = epoch_;
	own.serving = serving_;
	mine.private_data = hello_of(apps::StoreKind::rs).serialize(own.serialize());
	const RemoteRegion all = memory().remote();
	mine.regions = {{slots_region, {all.address, volume_.blocks * sizeof(Slot), all.rkey}},
		{scratch_region, place.scratch}};
	return {};
}

int Replica::begin_epoch(std::uint64_t epoch)
{
	log(apps::LogLevel::info, fmt::format("replica {}: epoch {:x}", replica_, epoch));
	epoch_ = epoch;
	drop_clients(serving_ ? 0 : repairer_);
	return 0;
}

int Replica::begin_serving(std::uint64_t epoch)
{
	if (epoch != epoch_)
		return ESTALE;
	if (const Result<void> ready = before_serving_ ? before_serving_() : Result<void>(); !ready) {
		log(apps::LogLevel::error, ready.error().message);
		return ready.error().code;
	}
	log(apps::LogLevel::info, fmt::format("replica {}: repaired, serves", replica_));
	serving_ = true;
	drop_clients(repairer_);
	return 0;
}

int Replica::hear(
	std::uint32_t number, const apps::ControlMessage &message, std::optional<apps::ControlMessage> &answer)
{
	const bool epoch = message.kind == epoch_message;
	if (!epoch && message.kind != serve_message)
		return EBADMSG;
	int error = EPERM;
	if (number == repairer_ && !serving_)
		error = epoch ? begin_epoch(message.value) : begin_serving(message.value);
	answer = {message.kind, static_cast<std::uint64_t>(error)};
	return 0;
}

void Replica::look_at(std::uint64_t index)
{
	if (const Slot slot = at(index); slot.block.ptr)
		spare(slot.block.ptr);
}

std::string Replica::stats_json() const
{
	std::uint64_t written = 0;
	for (std::uint64_t block = 0; block < volume_.blocks; block++)
		written += at(block).block.ptr != 0;
	const FreeList &list = lists().front();
	const FreeListInfo info = list.info();
	const std::uint64_t buffers = info.buffers.length / info.buffer_size;
	nlohmann::json json;
	json["volume"] = fmt::format("{:016x}", volume_.volume);
	json["replica"] = replica_;
	json["serving"] = serving_.load();
	json["epoch"] = epoch_.load();
	json["blocks"] = {{"number", volume_.blocks}, {"size", volume_.block_size}, {"written", written}};
	json["buffers"] = {{"size", info.buffer_size}, {"number", buffers}, {"available", list.available()},
		{"released", list.stats().released}, {"recovered", list.stats().recovered},
		{"refused", list.stats().outside + list.stats().misaligned + list.stats().not_allocated}};
	json["connections"] = {{"accepted", stats().connections}, {"open", stats().open}, {"refused", stats().refused}};
	json["recovery"] = {{"scans", recovery_stats().scans}, {"postponed", recovery_stats().put_off},
		{"cut_off", recovery_stats().cut_off}, {"buffers", recovery_stats().recovered}};
	return json.dump(2);
}

} // namespace prism::rs

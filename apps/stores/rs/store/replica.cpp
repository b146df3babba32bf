/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "replica.hpp"
#include "rs/store/kind.hpp"

#include <cerrno>
#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace prism::rs
{

namespace
{

std::unique_ptr<Founding> founding_of(const ReplicaOptions &options)
{
	if (options.beginning != Beginning::new_volume)
		return nullptr;
	return std::make_unique<Founding>(
		options.replica, static_cast<unsigned>(options.volume.replicas.size()), random_number());
}

} // namespace

Result<std::unique_ptr<Replica>> Replica::create(const Context &context, const ReplicaOptions &options)
{
	if (Result<void> checked = options.volume.check(); !checked)
		return checked.error();
	if (options.replica >= options.volume.replicas.size())
		return make_error(EINVAL, fmt::format("the volume has no replica {} (--replica)", options.replica),
			fmt::format("its replicas are 0 to {}", options.volume.replicas.size() - 1));
	const std::uint64_t buffers = options.volume.blocks + options.spare_buffers;
	if (buffers > std::numeric_limits<std::uint32_t>::max())
		return make_error(EINVAL, "a replica has at most 2^32 buffers",
			"make a volume of fewer, larger blocks, or lower the spare buffers (--spare-buffers)");
	ReplicaOptions mine = options;
	if (!mine.port)
		mine.port = options.volume.replicas[options.replica].port;
	const apps::BufferClass blocks{buffer_size(options.volume.block_size), static_cast<std::uint32_t>(buffers)};
	Result<Parts> parts = make_parts(context, apps::Hello{prism_kind},
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
	  state_(options.beginning == Beginning::founded)
{
}

void Replica::serve_as_founder()
{
	state_.serve_as_founder();
	log(apps::LogLevel::info, fmt::format("replica {}: the volume is founded, serves", replica_));
}

/**
 * Answers another replica that asks if the volume is new. A replica that has served, or has lost its memory, knows that
 * it is not.
 */
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

Error Replica::refusal(int error) const
{
	switch (error) {
	case EALREADY:
		return make_error(error, "this replica has forgotten nothing: there is nothing to repair");
	case EBUSY:
		return make_error(error, "this replica is being repaired already");
	default:
		return make_error(error, "this replica has lost its memory and waits to be repaired",
			fmt::format("prism-rs repair {}", replica_));
	}
}

/** Admits a client. One that brings a newer epoch ends all connections of older ones. */
Result<void> Replica::admit(const Introduction &client, std::uint32_t number)
{
	if (founding_ && !serving())
		return make_error(ENODATA, "this replica is new and waits for all others of the volume to be there");
	const bool repairs = client.purpose == Purpose::repair;
	const EpochState::Answer answer =
		repairs ? state_.repair_connects(number, is_open(state_.repairer()), monotonic_time())
			: state_.client_connects(client.epoch);
	if (answer.error)
		return refusal(answer.error);
	if (!answer.drops)
		return {};
	if (!repairs)
		log(apps::LogLevel::info, fmt::format("replica {}: epoch {:x}", replica_, state_.epoch()));
	drop_others();
	return {};
}

Result<void> Replica::introduce(const ConnectionRecord &theirs, const Place &place, ConnectionRecord &mine)
{
	Introduction own = Introduction::of(volume_, replica_);
	Result<Introduction> client = meet_client(theirs, prism_kind, own,
		[this](apps::LogLevel level, const std::string &line) { log_client(level, line); });
	if (!client)
		return client.error();
	const Result<void> admitted =
		client->purpose == Purpose::found ? answer_founder(*client, own) : admit(*client, place.number);
	if (!admitted)
		return admitted.error();
	own.epoch = state_.epoch();
	own.serving = serving();
	mine.private_data = apps::Hello{prism_kind}.serialize(own.serialize());
	const RemoteRegion all = memory().remote();
	mine.regions = {{slots_region, {all.address, volume_.blocks * sizeof(Slot), all.rkey}},
		{scratch_region, place.scratch}};
	return {};
}

void Replica::drop_others()
{
	drop_clients(serving() ? 0 : state_.repairer());
}

int Replica::begin_epoch(std::uint32_t number, std::uint64_t epoch)
{
	const EpochState::Answer answer = state_.begin_epoch(number, epoch);
	if (answer.error)
		return answer.error;
	log(apps::LogLevel::info, fmt::format("replica {}: epoch {:x}", replica_, epoch));
	drop_others();
	return 0;
}

int Replica::begin_serving(std::uint32_t number, std::uint64_t epoch)
{
	if (const int error = state_.check_end(number, epoch))
		return error;
	if (const Result<void> ready = before_serving_ ? before_serving_() : Result<void>(); !ready) {
		log(apps::LogLevel::error, ready.error().message);
		return ready.error().code;
	}
	log(apps::LogLevel::info, fmt::format("replica {}: repaired, serves", replica_));
	state_.end_repair();
	drop_clients(state_.repairer());
	return 0;
}

int Replica::hear_of_repair(std::uint32_t number, const apps::ControlMessage &message)
{
	if (message.kind == epoch_message)
		return begin_epoch(number, message.value);
	if (message.kind == serve_message)
		return begin_serving(number, message.value);
	return serving() ? turn_.take(message.value, monotonic_time())
			 : state_.repair_goes_on(number, monotonic_time());
}

int Replica::hear(
	std::uint32_t number, const apps::ControlMessage &message, std::optional<apps::ControlMessage> &answer)
{
	if (message.kind == turn_ends_message) {
		turn_.give_back(message.value);
		return 0;
	}
	if (message.kind != epoch_message && message.kind != serve_message && message.kind != turn_message)
		return EBADMSG;
	answer = {message.kind, static_cast<std::uint64_t>(hear_of_repair(number, message))};
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
	json["serving"] = serving();
	json["epoch"] = state_.epoch();
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

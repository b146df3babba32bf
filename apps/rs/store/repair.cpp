/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "rs/store/epoch.hpp"
#include "rs/store/kind.hpp"

namespace prism::rs
{

namespace
{

using Clock = std::chrono::steady_clock;

/* How often another repair may begin a newer epoch meanwhile */
constexpr unsigned most_attempts = 8;

std::uint64_t random_bits()
{
	std::uint64_t random = 0;
	(void)!::getrandom(&random, sizeof(random), 0);
	return random;
}

class Repair
{
public:
	Repair(VolumeClient &client, const RepairOptions &options) : client_(client), options_(options) {}

	Result<void> run();

private:
	Result<void> wait_for_others();
	Result<void> begin_epoch();
	Result<void> copy();
	Result<void> tell(apps::ControlKind kind);
	[[nodiscard]] Error unreachable() const;
	[[nodiscard]] Error stopped() const;

	VolumeClient &client_;
	const RepairOptions &options_;
	std::uint64_t epoch_ = 0;
};

Error Repair::unreachable() const
{
	const ReplicaState state = client_.state_of(options_.replica);
	if (!state.connected)
		return make_error(EHOSTUNREACH, fmt::format("cannot reach replica {}", options_.replica), state.why);
	return make_error(EHOSTUNREACH,
		fmt::format("{} other replicas that serve are needed, {} are there", client_.volume().quorum(),
			client_.serving()),
		"prism-rs status tells how they are");
}

Error Repair::stopped() const
{
	return make_error(ECANCELED, fmt::format("the repair of replica {} was ended", options_.replica));
}

/** Until a quorum of the others, and the replica itself, are connected in the newest epoch. */
Result<void> Repair::wait_for_others()
{
	const Clock::time_point deadline = Clock::now() + options_.timeout;
	while (client_.serving() < client_.volume().quorum() || !client_.state_of(options_.replica).connected) {
		if (const ReplicaState state = client_.state_of(options_.replica); state.refused == EALREADY)
			return make_error(EALREADY, fmt::format("replica {} is not repaired", options_.replica),
				"it has forgotten nothing");
		else if (state.refused == EBUSY)
			return make_error(
				EBUSY, fmt::format("replica {} is repaired by somebody else", options_.replica));
		if (options_.stop.stop_requested())
			return stopped();
		if (Clock::now() > deadline)
			return unreachable();
		client_.poll({});
		std::this_thread::sleep_for(std::chrono::microseconds(100));
	}
	return {};
}

/** The others first: what the replica acknowledges in the new epoch must not count together with anything older. */
Result<void> Repair::begin_epoch()
{
	if (Result<void> there = wait_for_others(); !there)
		return there;
	const std::optional<std::uint64_t> next = next_epoch(client_.epoch(), random_bits());
	if (!next)
		return make_error(EOVERFLOW, "the volume has had all epochs that there are", "make a new volume");
	epoch_ = *next;
	client_.raise_epoch(epoch_);
	if (Result<void> there = wait_for_others(); !there)
		return there;
	if (client_.epoch() != epoch_)
		return {}; /* another repair: see run() */
	if (Result<void> told = tell(epoch_message); !told)
		return told;
	client_.repaired_has_epoch();
	return {};
}

Result<void> Repair::tell(apps::ControlKind kind)
{
	Result<apps::ControlMessage> answer = client_.ask(options_.replica, {kind, epoch_});
	if (!answer)
		return answer.error();
	if (answer->value)
		return make_error(static_cast<int>(answer->value),
			fmt::format("replica {} refuses to be repaired", options_.replica),
			"is another repair under way?");
	return {};
}

Result<void> Repair::copy()
{
	struct Copy {
		std::uint64_t block = 0;
		apps::Operation operation;
	};
	std::vector<Copy> copies(client_.depth());
	std::vector<apps::Operation *> ended(client_.depth()), idle;
	for (Copy &copy : copies) {
		copy.operation.context = &copy;
		idle.push_back(&copy.operation);
	}
	const std::uint64_t blocks = client_.volume().blocks;
	for (std::uint64_t next = 0, done = 0; done < blocks && client_.epoch() == epoch_;) {
		if (options_.stop.stop_requested())
			return stopped();
		for (; next < blocks && !idle.empty(); next++) {
			Copy &copy = *static_cast<Copy *>(idle.back()->context);
			idle.pop_back();
			copy.block = next;
			copy.operation.key = std::as_bytes(std::span(&copy.block, 1));
			if (const int error = client_.start(copy.operation))
				return make_error(error, fmt::format("cannot copy block {}", next));
		}
		const std::size_t count = client_.poll(ended);
		for (std::size_t i = 0; i < count; i++) {
			if (ended[i]->outcome != apps::Outcome::ok)
				return make_error(ended[i]->error,
					fmt::format(
						"cannot copy block {}", static_cast<Copy *>(ended[i]->context)->block),
					"prism-rs status tells how the replicas are");
			idle.push_back(ended[i]);
		}
		done += count;
		if (count && options_.progress)
			options_.progress(done);
	}
	while (idle.size() < copies.size()) { /* the epoch is over: what is under way ends, one way or the other */
		const std::size_t count = client_.poll(ended);
		idle.insert(idle.end(), ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(count));
	}
	return {};
}

/** If another repair begins a newer epoch meanwhile, what was copied may have been read too early: all over again. */
Result<void> Repair::run()
{
	for (unsigned attempt = 0; attempt < most_attempts; attempt++) {
		if (Result<void> begun = begin_epoch(); !begun)
			return begun;
		if (client_.epoch() != epoch_)
			continue;
		if (Result<void> copied = copy(); !copied)
			return copied;
		if (client_.epoch() == epoch_)
			return tell(serve_message);
	}
	return make_error(EAGAIN, "other repairs began again and again", "repair one replica at a time");
}

} // namespace

Result<void> repair(const Context &context, const Configuration &volume, const RepairOptions &options)
{
	if (options.replica >= volume.replicas.size())
		return make_error(EINVAL, fmt::format("the volume has no replica {}", options.replica));
	VolumeClientOptions client;
	client.depth = options.depth;
	client.timeout = options.timeout;
	client.setup_timeout = options.timeout;
	Result<std::unique_ptr<VolumeClient>> opened =
		VolumeClient::open(context, volume, repair_of(volume, options.replica, options.polite), client);
	if (!opened)
		return opened.error();
	return Repair(**opened, options).run();
}

} // namespace prism::rs

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "repair.hpp"

#include <cerrno>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"
#include "rs/store/epoch.hpp"
#include "rs/store/kind.hpp"
#include "rs/store/repair_protocol.hpp"

namespace prism::rs
{

namespace
{

using Clock = std::chrono::steady_clock;

/** A repair over the connections of a VolumeClient. */
class Repair final : private RepairClient
{
public:
	Repair(VolumeClient &client, const RepairOptions &options)
		: client_(client), options_(options), protocol_(rules(client, options), client.session(), *this),
		  copies_(client.depth()), ended_(client.depth())
	{
		for (Copy &copy : copies_) {
			copy.operation.context = &copy;
			idle_.push_back(&copy);
		}
	}

	Result<void> run();

private:
	struct Copy {
		std::uint64_t block = 0;
		apps::Operation operation;
	};

	static RepairRules rules(const VolumeClient &client, const RepairOptions &options);

	/* RepairClient */
	[[nodiscard]] std::optional<std::uint64_t> new_epoch() noexcept override
	{
		return next_epoch(client_.session().epoch(), random_number());
	}
	void tell(unsigned replica, const apps::ControlMessage &message) noexcept override
	{
		client_.tell(replica, message);
	}
	bool copy(std::uint64_t block) noexcept override;

	std::size_t take_copies();
	void hear();
	[[nodiscard]] Error failure() const;
	[[nodiscard]] Error unreachable() const;

	VolumeClient &client_;
	const RepairOptions &options_;
	RepairProtocol protocol_;
	std::vector<Copy> copies_;
	std::vector<Copy *> idle_;
	std::vector<apps::Operation *> ended_;
	std::uint64_t failed_block_ = 0;
};

RepairRules Repair::rules(const VolumeClient &client, const RepairOptions &options)
{
	RepairRules rules;
	rules.replica = options.replica;
	rules.replicas = static_cast<unsigned>(client.volume().replicas.size());
	rules.blocks = client.volume().blocks;
	while (!rules.client)
		rules.client = random_number();
	return rules;
}

bool Repair::copy(std::uint64_t block) noexcept
{
	if (idle_.empty())
		return false;
	Copy &copy = *idle_.back();
	copy.block = block;
	copy.operation.key = std::as_bytes(std::span(&copy.block, 1));
	if (client_.start(copy.operation))
		return false;
	idle_.pop_back();
	return true;
}

std::size_t Repair::take_copies()
{
	const std::size_t count = client_.poll(ended_);
	for (std::size_t i = 0; i < count; i++) {
		Copy &copy = *static_cast<Copy *>(ended_[i]->context);
		const bool good = copy.operation.outcome == apps::Outcome::ok;
		if (!good)
			failed_block_ = copy.block;
		idle_.push_back(&copy);
		protocol_.copied(good ? 0 : copy.operation.error);
	}
	if (count && options_.progress)
		options_.progress(protocol_.blocks_copied());
	return count;
}

void Repair::hear()
{
	for (unsigned replica = 0; replica < client_.volume().replicas.size(); replica++) {
		while (const std::optional<apps::ControlMessage> answer = client_.take_answer(replica))
			protocol_.hear(replica, *answer);
	}
	if (client_.session().lost_its_replica())
		protocol_.give_up(ECONNRESET);
	const ReplicaState state = client_.state_of(options_.replica);
	if (state.refused == EALREADY || state.refused == EBUSY)
		protocol_.give_up(state.refused);
}

Error Repair::unreachable() const
{
	const ReplicaState state = client_.state_of(options_.replica);
	if (!state.connected)
		return make_error(EHOSTUNREACH, fmt::format("cannot reach replica {}", options_.replica), state.why);
	return make_error(EHOSTUNREACH,
		fmt::format("{} other replicas that serve are needed, {} are there", client_.volume().quorum(),
			client_.session().serving()),
		"prism-rs status tells how they are");
}

Error Repair::failure() const
{
	const int error = protocol_.error();
	switch (error) {
	case EALREADY:
		return make_error(
			error, fmt::format("replica {} is not repaired", options_.replica), "it has forgotten nothing");
	case EBUSY:
	case EPERM:
		return make_error(EBUSY, fmt::format("replica {} is repaired by somebody else", options_.replica));
	case ECONNRESET:
		return make_error(error, fmt::format("the connection to replica {} has ended", options_.replica),
			"it has been restarted, or another repair has taken over");
	case EAGAIN:
		return make_error(error, "other repairs began again and again", "repair one replica at a time");
	case EOVERFLOW:
		return make_error(error, "the volume has had all epochs that there are", "make a new volume");
	default:
		return make_error(error, fmt::format("cannot copy block {}", failed_block_),
			"prism-rs status tells how the replicas are");
	}
}

Result<void> Repair::run()
{
	Clock::time_point deadline = Clock::now() + options_.timeout;
	while (!protocol_.over()) {
		if (options_.stop.stop_requested())
			return make_error(
				ECANCELED, fmt::format("the repair of replica {} was ended", options_.replica));
		const std::size_t copied = take_copies();
		hear();
		protocol_.poll();
		if (!protocol_.waits_for_replicas())
			deadline = Clock::now() + options_.timeout;
		else if (Clock::now() > deadline)
			return unreachable();
		if (!copied && protocol_.state() != RepairProtocol::State::copying)
			std::this_thread::sleep_for(std::chrono::microseconds(100));
	}
	if (protocol_.state() == RepairProtocol::State::failed)
		return failure();
	return {};
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
		VolumeClient::open(context, volume, repair_of(volume, options.replica), client);
	if (!opened)
		return opened.error();
	return Repair(**opened, options).run();
}

} // namespace prism::rs

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/membership.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/failure_text.hpp"
#include "gam/membership/master_desk.hpp"
#include "gam/membership/view_json.hpp"

namespace prism::gam
{

namespace
{

constexpr auto find_pause = std::chrono::milliseconds(10);
constexpr auto longest_leave = std::chrono::seconds(1);
constexpr unsigned renewals_a_lease = 8;

Error nonsense()
{
	return make_error(EBADMSG, "the master answers with what is no answer");
}

Error no_member()
{
	return make_error(ESTALE, "this node is no member", "join first, with a new membership");
}

Result<void> check_key(const std::string &key)
{
	if (key.empty() || key.size() > Membership::longest_key)
		return make_error(EINVAL, "a key of " + std::to_string(key.size()) + " bytes", "1 to 128 bytes");
	return {};
}

} // namespace

Time Membership::now() noexcept
{
	timespec time{};
	(void)clock_gettime(CLOCK_BOOTTIME, &time);
	return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Membership::Membership(std::unique_ptr<MasterChannel> channel) : channel_(std::move(channel)) {}

Membership::~Membership()
{
	thread_.request_stop();
	cancel();
}

/** Asks the master; waits no longer than @p longest for the threads that asked before, and for the answer. */
Result<nlohmann::json> Membership::ask(nlohmann::json question, Time longest)
{
	if (me_) {
		question["cluster"] = me_->cluster;
		question["node"] = me_->life.node;
		question["incarnation"] = me_->life.incarnation;
	}
	const Time end = now() + longest;
	const std::unique_lock guard(channel_lock_, longest);
	if (!guard)
		return make_error(ETIMEDOUT, "the master does not answer what this node has asked before");
	Result<nlohmann::json> answer = channel_->ask(question, end - now());
	if (!answer && over_)
		return no_member();
	return answer;
}

/* Sends a statement of this member. */
Result<void> Membership::tell(nlohmann::json message)
{
	if (!me_ || over_)
		return no_member();
	const Result<nlohmann::json> answer = ask(std::move(message));
	if (!answer)
		return answer.error();
	return {};
}

Result<void> Membership::take_lease(const nlohmann::json &answer, Time asked)
{
	std::uint64_t lease = 0;
	if (!take_number(answer, "lease", lease, std::chrono::nanoseconds(std::chrono::hours(1)).count()))
		return nonsense();
	until_ = (asked + Time(static_cast<Time::rep>(lease))).count();
	if (over_)
		until_ = 0; /* the membership was given up meanwhile */
	return {};
}

/** Takes the lease of an answer to what was asked at @p asked, and the view, if there is one. */
Result<void> Membership::take_renewal(const nlohmann::json &answer, Time asked)
{
	Result<void> taken = take_lease(answer, asked);
	if (taken)
		take_view(answer);
	return taken;
}

void Membership::take_view(const nlohmann::json &answer)
{
	const std::lock_guard guard(view_lock_);
	View view;
	if (!answer.contains("view") || !from_json(answer["view"], view) || view.epoch <= epoch_)
		return;
	listener_->changed(*me_, view);
	epoch_ = view.epoch; /* behind it: what found no memory is told again */
}

Result<Admission> Membership::join(const Newcomer &me, Listener &listener)
{
	if (me_)
		return make_error(EALREADY, "this membership has begun", "join with a new one");
	const Time asked = now();
	nlohmann::json question = {{"ask", "join"}, {"host", me.host}, {"port", me.port}, {"lent", me.lent},
		{"protocol", static_cast<unsigned>(me.protocol)}, {"block", me.block_bytes}};
	if (me.log) {
		question["log_cluster"] = me.log->cluster;
		question["log_node"] = me.log->last.node;
		question["log_incarnation"] = me.log->last.incarnation;
		question["log_durable"] = me.log->durable ? 1U : 0U;
	}
	const Result<nlohmann::json> answer = ask(std::move(question));
	if (!answer)
		return answer.error();
	Admission admitted;
	View view;
	std::uint64_t node = 0, lease = 0;
	if (!take_number(*answer, "node", node, max_nodes - 1) ||
		!take_number(*answer, "incarnation", admitted.life.incarnation) ||
		!take_number(*answer, "lease", lease, INT64_MAX) ||
		!take_number(*answer, "log_cluster", admitted.log_cluster) || !answer->contains("view") ||
		!from_json((*answer)["view"], view))
		return nonsense();
	if (Result<void> taken = take_lease(*answer, asked); !taken)
		return taken.error();
	admitted.life.node = static_cast<NodeId>(node);
	admitted.cluster = view.cluster;
	admitted.lease = Time(static_cast<Time::rep>(lease));
	me_ = admitted;
	listener_ = &listener;
	if (Result<void> entered = enter(); !entered) {
		me_.reset();
		return entered.error();
	}
	thread_ = std::jthread([this](const std::stop_token &stop) { run(stop); });
	return *me_;
}

/** Renews the lease for the first time, by which the others hear of this node. Its view has all that it connects to. */
Result<void> Membership::enter()
{
	const Time asked = now();
	const Result<nlohmann::json> answer = ask({{"ask", "renew"}, {"epoch", 0U}});
	if (!answer)
		return answer.error();
	if (!take_number(*answer, "incarnation", me_->life.incarnation))
		return nonsense();
	if (Result<void> taken = take_renewal(*answer, asked); !taken)
		return taken;
	return epoch_ ? Result<void>() : nonsense();
}

Result<void> Membership::serving()
{
	return tell({{"ask", "serving"}});
}

Result<void> Membership::leave()
{
	std::mutex lock;
	std::condition_variable_any never;
	const std::jthread limit([&](const std::stop_token &stop) {
		std::unique_lock guard(lock);
		never.wait_for(guard, stop, longest_leave, [] { return false; });
		if (!stop.stop_requested())
			cancel();
	});
	if (thread_.joinable()) {
		thread_.request_stop();
		thread_.join();
	}
	Result<void> left = tell({{"ask", "leave"}});
	over_ = true;
	until_ = 0;
	if (!left && left.error().code != ESTALE)
		return {};
	return left;
}

Result<void> Membership::swept(NodeId dead, std::uint64_t epoch)
{
	Result<void> told = tell({{"ask", "swept"}, {"dead", dead}, {"epoch", epoch}});
	if (!told && told.error().code != ESTALE && told.error().code != EINVAL) {
		const std::lock_guard guard(swept_lock_);
		std::uint64_t &newest = not_told_[dead];
		newest = std::max(newest, epoch);
	}
	return told;
}

void Membership::tell_swept()
{
	std::map<NodeId, std::uint64_t> left;
	{
		const std::lock_guard guard(swept_lock_);
		left.swap(not_told_);
	}
	for (const auto &[dead, epoch] : left)
		(void)swept(dead, epoch);
}

Result<void> Membership::give_up_node(NodeId dead)
{
	return tell({{"ask", "give_up"}, {"dead", dead}});
}

Result<void> Membership::expect(std::uint64_t nodes)
{
	const Time asked = now();
	const Result<nlohmann::json> answer = ask({{"ask", "expect"}, {"epoch", epoch_.load()}, {"nodes", nodes}});
	if (!answer)
		return answer.error();
	return take_renewal(*answer, asked);
}

Result<void> Membership::put(const std::string &key, const std::string &value)
{
	if (Result<void> usable = check_key(key); !usable)
		return usable;
	if (value.size() > longest_value)
		return make_error(EINVAL, "a value of " + std::to_string(value.size()) + " bytes", "at most 4096");
	return tell({{"ask", "put"}, {"key", to_hex(key)}, {"value", to_hex(value)}});
}

Result<std::optional<std::string>> Membership::find(const std::string &key, Time longest)
{
	if (!me_ || over_)
		return no_member();
	const Result<nlohmann::json> answer = ask({{"ask", "find"}, {"key", to_hex(key)}}, longest);
	if (!answer)
		return answer.error();
	std::string text;
	if (!answer->contains("value"))
		return std::optional<std::string>();
	if (!take_text(*answer, "value", text, 2 * longest_value))
		return nonsense();
	return from_hex(text);
}

Result<std::string> Membership::get(const std::string &key, std::chrono::milliseconds timeout)
{
	if (Result<void> usable = check_key(key); !usable)
		return usable.error();
	const Time end = now() + timeout;
	for (;;) {
		Result<std::optional<std::string>> found = find(key, std::max<Time>(end - now(), shortest_question));
		if (!found)
			return found.error();
		if (*found)
			return **std::move(found);
		if (now() >= end)
			return make_error(ETIMEDOUT, "nobody has put a value for '" + key + "'");
		std::this_thread::sleep_for(find_pause);
	}
}

void Membership::give_up(const Error &why)
{
	const std::lock_guard guard(end_lock_);
	if (over_.exchange(true))
		return;
	until_ = 0;
	cancel();
	listener_->expelled(why);
}

void Membership::renew()
{
	const Time asked = now();
	const Result<nlohmann::json> answer = ask({{"ask", "renew"}, {"epoch", epoch_.load()}});
	{
		const std::lock_guard guard(failure_lock_);
		failure_ = answer ? std::string() : answer.error().message;
	}
	if (answer) {
		(void)take_renewal(*answer, asked);
		tell_swept();
	} else if (answer.error().code == ESTALE) {
		give_up(answer.error());
	}
	/* Otherwise the master is unreachable: retried until it no longer knows this node. */
}

std::string Membership::renewal_failure()
{
	const std::lock_guard guard(failure_lock_);
	return failure_;
}

void Membership::run(const std::stop_token &stop)
{
	const Time pause = std::min(me_->lease / renewals_a_lease, channel_->longest_pause());
	std::unique_lock guard(sleep_lock_);
	while (!over_) {
		wake_.wait_for(guard, stop, pause, [] { return false; });
		if (stop.stop_requested())
			return;
		try {
			renew();
		} catch (const std::bad_alloc &) { /* as if the master were unreachable */
			const std::lock_guard failed(failure_lock_);
			failure_ = no_memory;
		}
	}
}

} // namespace prism::gam

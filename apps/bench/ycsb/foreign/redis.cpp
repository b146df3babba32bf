/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/foreign/redis.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <boost/circular_buffer.hpp>
#include <fmt/format.h>
#include <hiredis.h>

#include "bench/ycsb/foreign/address.hpp"
#include "bench/ycsb/foreign/chars.hpp"

namespace prism::ycsb
{

namespace
{

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

struct ContextFree {
	void operator()(redisContext *context) const noexcept { redisFree(context); }
};
using Context = std::unique_ptr<redisContext, ContextFree>;

struct ReplyFree {
	void operator()(redisReply *reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyFree>;

class RedisClient final : public apps::StoreClient
{
public:
	RedisClient(Context connected, std::size_t most) : context_(std::move(connected)), under_way_(most) {}

	[[nodiscard]] std::size_t depth() const noexcept override { return under_way_.capacity(); }
	int start(Operation &operation) noexcept override;
	std::size_t poll(std::span<Operation *> completed) noexcept override;

private:
	void exchange() noexcept;
	bool next_reply(Reply &reply) noexcept;
	void break_off() noexcept;

	Context context_;
	boost::circular_buffer<Operation *> under_way_; /* replies come in the order of the commands */
	int broken_ = 0;                                /* errno value */
};

std::string_view verb_of(OperationKind kind) noexcept
{
	switch (kind) {
	case OperationKind::get:
		return "GET";
	case OperationKind::put:
		return "SET";
	case OperationKind::erase:
		return "DEL";
	}
	return {};
}

/* Appends a command: hiredis encodes and copies its words. */
int append(redisContext *context, const Operation &operation) noexcept
{
	const std::string_view verb = verb_of(operation.kind);
	std::array<const char *, 3> words{verb.data(), chars(operation.key), chars(operation.value)};
	const std::array<std::size_t, 3> lengths{verb.size(), operation.key.size(), operation.value.size()};
	const int count = operation.kind == OperationKind::put ? 3 : 2;
	return redisAppendCommandArgv(context, count, words.data(), lengths.data());
}

void fail(Operation &operation, int error) noexcept
{
	operation.outcome = Outcome::failed;
	operation.error = error;
}

void take_error(Operation &operation, const redisReply &reply) noexcept
{
	const std::string_view text(reply.str, reply.len);
	if (operation.kind == OperationKind::put && text.starts_with("OOM"))
		operation.outcome = Outcome::full;
	else
		fail(operation, EPROTO);
}

void take_value(Operation &operation, const redisReply &reply) noexcept
{
	operation.outcome = Outcome::ok;
	operation.length = static_cast<std::uint32_t>(reply.len);
	std::memcpy(operation.result.data(), reply.str, std::min<std::size_t>(reply.len, operation.result.size()));
}

void take_reply(Operation &operation, const redisReply &reply) noexcept
{
	operation.round_trips = 1;
	if (reply.type == REDIS_REPLY_ERROR)
		take_error(operation, reply);
	else if (operation.kind == OperationKind::get && reply.type == REDIS_REPLY_STRING)
		take_value(operation, reply);
	else if (operation.kind == OperationKind::get && reply.type == REDIS_REPLY_NIL)
		operation.outcome = Outcome::not_found;
	else if (operation.kind == OperationKind::put && reply.type == REDIS_REPLY_STATUS)
		operation.outcome = Outcome::ok;
	else if (operation.kind == OperationKind::erase && reply.type == REDIS_REPLY_INTEGER)
		operation.outcome = reply.integer ? Outcome::ok : Outcome::not_found;
	else
		fail(operation, EPROTO);
}

int RedisClient::start(Operation &operation) noexcept
{
	if (operation.key.empty())
		return EINVAL;
	if (broken_)
		return broken_;
	if (under_way_.full())
		return EAGAIN;
	if (append(context_.get(), operation) != REDIS_OK)
		return ENOMEM;
	under_way_.push_back(&operation);
	return 0;
}

std::size_t RedisClient::poll(std::span<Operation *> completed) noexcept
{
	if (under_way_.empty())
		return 0;
	if (!broken_)
		exchange();
	std::size_t count = 0;
	while (count < completed.size() && !under_way_.empty()) {
		Operation &operation = *under_way_.front();
		Reply reply;
		if (!broken_ && !next_reply(reply))
			break;
		if (broken_) {
			operation.outcome = apps::outcome_of_loss(operation.kind);
			operation.error = broken_;
		} else {
			take_reply(operation, *reply);
		}
		under_way_.pop_front();
		completed[count++] = &operation;
	}
	return count;
}

void RedisClient::exchange() noexcept
{
	int all_written = 0;
	if (redisBufferWrite(context_.get(), &all_written) != REDIS_OK || redisBufferRead(context_.get()) != REDIS_OK)
		break_off();
}

/* Gets the next reply. Returns false if there is none, or if the connection broke. */
bool RedisClient::next_reply(Reply &reply) noexcept
{
	void *found = nullptr;
	if (redisGetReplyFromReader(context_.get(), &found) != REDIS_OK) {
		break_off();
		return true;
	}
	reply.reset(static_cast<redisReply *>(found));
	return reply != nullptr;
}

void RedisClient::break_off() noexcept
{
	broken_ = context_->err == REDIS_ERR_IO && errno ? errno : ECONNRESET;
}

timeval to_timeval(double seconds)
{
	const auto whole = static_cast<time_t>(seconds);
	return {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
}

Context open_context(const ForeignAddress &address, double timeout)
{
	if (address.is_unix())
		return Context(redisConnectUnixWithTimeout(address.unix_path.c_str(), to_timeval(timeout)));
	return Context(redisConnectWithTimeout(address.host.c_str(), address.port, to_timeval(timeout)));
}

/* Makes the connection non-blocking: hiredis connects in blocking mode, but from now on nothing may wait. */
Result<void> make_non_blocking(redisContext &context, bool tcp)
{
	const int on = 1;
	if (tcp && setsockopt(context.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		return make_error(errno, "TCP_NODELAY of the connection to Redis");
	const int flags = fcntl(context.fd, F_GETFL);
	if (flags < 0 || fcntl(context.fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return make_error(errno, "O_NONBLOCK of the connection to Redis");
	context.flags &= ~REDIS_BLOCK;
	return {};
}

} // namespace

Result<std::unique_ptr<apps::StoreClient>> connect_redis(const SystemOptions &options)
{
	const ForeignAddress address = parse_address(options);
	errno = 0;
	Context context = open_context(address, options.timeout);
	if (!context)
		return make_error(ENOMEM, "a connection to Redis");
	if (context->err)
		return make_error(errno ? errno : ECONNREFUSED,
			fmt::format("connecting to Redis at {}: {}", address.text(), context->errstr),
			"start redis-server there, or name another address");
	const Result<void> ready = make_non_blocking(*context, !address.is_unix());
	if (!ready)
		return ready.error();
	return std::unique_ptr<apps::StoreClient>(std::make_unique<RedisClient>(std::move(context), options.depth));
}

} // namespace prism::ycsb

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/ycsb/foreign/memcached.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/circular_buffer.hpp>
#include <fmt/format.h>
#include <libmemcached/memcached.h>

#include "bench/frame/workload.hpp"
#include "bench/ycsb/foreign/address.hpp"
#include "bench/ycsb/foreign/chars.hpp"

namespace prism::ycsb
{

namespace
{

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

struct HandleFree {
	void operator()(memcached_st *handle) const noexcept { memcached_free(handle); }
};
using Handle = std::unique_ptr<memcached_st, HandleFree>;

struct ResultFree {
	void operator()(memcached_result_st *result) const noexcept { memcached_result_free(result); }
};
using Fetched = std::unique_ptr<memcached_result_st, ResultFree>;

struct CFree {
	void operator()(char *memory) const noexcept { std::free(memory); }
};

void take_value(Operation &operation, const char *value, std::size_t length) noexcept
{
	operation.outcome = Outcome::ok;
	operation.length = static_cast<std::uint32_t>(length);
	const std::size_t copied = std::min(length, operation.result.size());
	if (copied)
		std::memcpy(operation.result.data(), value, copied);
}

class MemcachedClient final : public apps::StoreClient
{
public:
	MemcachedClient(Handle connected, std::size_t most);

	[[nodiscard]] std::size_t depth() const noexcept override { return ended_.capacity(); }
	int start(Operation &operation) noexcept override;
	std::size_t poll(std::span<Operation *> completed) noexcept override;

private:
	void do_batch() noexcept;
	void put_all() noexcept;
	void get_all() noexcept;
	void get_one(Operation &operation) noexcept;
	void fetch_all() noexcept;
	void erase_all() noexcept;
	void settle(Operation &operation, memcached_return_t code) noexcept;

	Handle handle_;
	memcached_result_st fetch_space_{}; /* ours: libmemcached frees its own after each multi-GET */
	Fetched fetched_;
	std::size_t under_way_ = 0;
	std::vector<Operation *> puts_; /* started, not done; room for depth() each */
	std::vector<Operation *> gets_;
	std::vector<Operation *> erases_;
	std::vector<const char *> keys_;
	std::vector<std::size_t> key_sizes_;
	boost::circular_buffer<Operation *> ended_;
};

MemcachedClient::MemcachedClient(Handle connected, std::size_t most)
	: handle_(std::move(connected)), fetched_(memcached_result_create(handle_.get(), &fetch_space_)), ended_(most)
{
	for (auto *list : {&puts_, &gets_, &erases_})
		list->reserve(most);
	keys_.reserve(most);
	key_sizes_.reserve(most);
}

int MemcachedClient::start(Operation &operation) noexcept
{
	if (operation.key.empty() || operation.key.size() > bench::largest_key)
		return EINVAL;
	if (under_way_ == depth())
		return EAGAIN;
	switch (operation.kind) {
	case OperationKind::get:
		gets_.push_back(&operation);
		break;
	case OperationKind::put:
		puts_.push_back(&operation);
		break;
	case OperationKind::erase:
		erases_.push_back(&operation);
		break;
	}
	under_way_++;
	return 0;
}

std::size_t MemcachedClient::poll(std::span<Operation *> completed) noexcept
{
	if (ended_.empty() && under_way_)
		do_batch();
	const std::size_t count = std::min(completed.size(), ended_.size());
	std::copy_n(ended_.begin(), count, completed.begin());
	ended_.erase_begin(count);
	under_way_ -= count;
	return count;
}

void MemcachedClient::do_batch() noexcept
{
	put_all();
	get_all();
	erase_all();
	for (auto *list : {&puts_, &gets_, &erases_}) {
		for (Operation *operation : *list) {
			operation->round_trips = 1;
			ended_.push_back(operation);
		}
		list->clear();
	}
}

void MemcachedClient::put_all() noexcept
{
	for (Operation *operation : puts_) {
		const memcached_return_t code = memcached_set(handle_.get(), chars(operation->key),
			operation->key.size(), chars(operation->value), operation->value.size(), 0, 0);
		settle(*operation, code);
	}
}

void MemcachedClient::get_all() noexcept
{
	if (gets_.size() == 1) {
		get_one(*gets_.front());
		return;
	}
	if (gets_.empty())
		return;
	keys_.clear();
	key_sizes_.clear();
	for (const Operation *operation : gets_) {
		keys_.push_back(chars(operation->key));
		key_sizes_.push_back(operation->key.size());
	}
	const memcached_return_t sent = memcached_mget(handle_.get(), keys_.data(), key_sizes_.data(), keys_.size());
	if (sent == MEMCACHED_SUCCESS) {
		fetch_all();
		return;
	}
	for (Operation *operation : gets_)
		settle(*operation, sent);
}

void MemcachedClient::get_one(Operation &operation) noexcept
{
	std::size_t length = 0;
	std::uint32_t flags = 0;
	memcached_return_t code = MEMCACHED_FAILURE;
	const std::unique_ptr<char, CFree> value(
		memcached_get(handle_.get(), chars(operation.key), operation.key.size(), &length, &flags, &code));
	if (code == MEMCACHED_SUCCESS)
		take_value(operation, value.get(), length);
	else
		settle(operation, code);
}

/* Fetches all values. They come in the order of the keys; absent keys have none. */
void MemcachedClient::fetch_all() noexcept
{
	auto next = gets_.begin();
	memcached_return_t code = MEMCACHED_SUCCESS;
	while (memcached_fetch_result(handle_.get(), fetched_.get(), &code)) {
		const std::string_view key(
			memcached_result_key_value(fetched_.get()), memcached_result_key_length(fetched_.get()));
		while (next != gets_.end() && std::string_view(chars((*next)->key), (*next)->key.size()) != key)
			(*next++)->outcome = Outcome::not_found;
		if (next == gets_.end())
			break;
		take_value(**next++, memcached_result_value(fetched_.get()), memcached_result_length(fetched_.get()));
	}
	if (code == MEMCACHED_SUCCESS || code == MEMCACHED_END)
		code = MEMCACHED_NOTFOUND;
	std::for_each(next, gets_.end(), [&](Operation *operation) { settle(*operation, code); });
}

void MemcachedClient::erase_all() noexcept
{
	for (Operation *operation : erases_)
		settle(*operation, memcached_delete(handle_.get(), chars(operation->key), operation->key.size(), 0));
}

int error_of(memcached_st *handle, memcached_return_t code) noexcept
{
	const int error = memcached_last_error_errno(handle);
	if (error)
		return error;
	switch (code) {
	case MEMCACHED_TIMEOUT:
		return ETIMEDOUT;
	case MEMCACHED_E2BIG:
		return EMSGSIZE;
	case MEMCACHED_CONNECTION_FAILURE:
	case MEMCACHED_SERVER_MARKED_DEAD:
	case MEMCACHED_SERVER_TEMPORARILY_DISABLED:
		return ECONNREFUSED;
	default:
		return EIO;
	}
}

void MemcachedClient::settle(Operation &operation, memcached_return_t code) noexcept
{
	switch (code) {
	case MEMCACHED_SUCCESS:
	case MEMCACHED_STORED:
	case MEMCACHED_DELETED:
		operation.outcome = Outcome::ok;
		return;
	case MEMCACHED_NOTFOUND:
		operation.outcome = Outcome::not_found;
		return;
	case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
		operation.outcome = Outcome::full;
		return;
	default:
		operation.outcome = apps::outcome_of_loss(operation.kind);
		operation.error = error_of(handle_.get(), code);
	}
}

memcached_return_t configure(memcached_st *handle, const SystemOptions &options)
{
	const auto milliseconds = static_cast<std::uint64_t>(options.timeout * 1e3);
	const std::pair<memcached_behavior_t, std::uint64_t> settings[] = {
		{MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1},
		{MEMCACHED_BEHAVIOR_TCP_NODELAY, 1},
		{MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, milliseconds},
		{MEMCACHED_BEHAVIOR_POLL_TIMEOUT, milliseconds},
	};
	for (const auto &[behavior, value] : settings) {
		const memcached_return_t code = memcached_behavior_set(handle, behavior, value);
		if (code != MEMCACHED_SUCCESS)
			return code;
	}
	return MEMCACHED_SUCCESS;
}

memcached_return_t add_server(memcached_st *handle, const ForeignAddress &address)
{
	if (address.is_unix())
		return memcached_server_add_unix_socket(handle, address.unix_path.c_str());
	return memcached_server_add(handle, address.host.c_str(), address.port);
}

} // namespace

Result<std::unique_ptr<apps::StoreClient>> connect_memcached(const SystemOptions &options)
{
	const ForeignAddress address = parse_address(options);
	Handle handle(memcached_create(nullptr));
	if (!handle)
		return make_error(ENOMEM, "a handle of libmemcached");
	memcached_return_t code = configure(handle.get(), options);
	if (code == MEMCACHED_SUCCESS)
		code = add_server(handle.get(), address);
	if (code == MEMCACHED_SUCCESS)
		code = memcached_version(handle.get()); /* connects */
	if (code != MEMCACHED_SUCCESS)
		return make_error(error_of(handle.get(), code),
			fmt::format("connecting to memcached at {}: {}", address.text(),
				memcached_strerror(handle.get(), code)),
			"start memcached there, or name another address");
	return std::unique_ptr<apps::StoreClient>(std::make_unique<MemcachedClient>(std::move(handle), options.depth));
}

} // namespace prism::ycsb

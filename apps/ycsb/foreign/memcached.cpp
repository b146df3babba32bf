/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "ycsb/foreign/memcached.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/circular_buffer.hpp>
#include <fmt/format.h>
#include <libmemcached/memcached.h>

#include "bench/workload.hpp"
#include "ycsb/foreign/address.hpp"
#include "ycsb/foreign/chars.hpp"

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

	[[nodiscard]] std::size_t depth() const noexcept override { return ended.capacity(); }
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

	Handle handle;
	memcached_result_st fetch_space{}; /* ours: libmemcached frees its own after each multi-GET */
	Fetched fetched;
	std::size_t under_way = 0;
	std::vector<Operation *> puts; /* started, not done; room for depth() each */
	std::vector<Operation *> gets;
	std::vector<Operation *> erases;
	std::vector<const char *> keys;
	std::vector<std::size_t> key_sizes;
	boost::circular_buffer<Operation *> ended;
};

MemcachedClient::MemcachedClient(Handle connected, std::size_t most)
	: handle(std::move(connected)), fetched(memcached_result_create(handle.get(), &fetch_space)), ended(most)
{
	for (auto *list : {&puts, &gets, &erases})
		list->reserve(most);
	keys.reserve(most);
	key_sizes.reserve(most);
}

int MemcachedClient::start(Operation &operation) noexcept
{
	if (operation.key.empty() || operation.key.size() > bench::largest_key)
		return EINVAL;
	if (under_way == depth())
		return EAGAIN;
	auto &list = operation.kind == OperationKind::get ? gets : operation.kind == OperationKind::put ? puts : erases;
	list.push_back(&operation);
	under_way++;
	return 0;
}

std::size_t MemcachedClient::poll(std::span<Operation *> completed) noexcept
{
	if (ended.empty() && under_way)
		do_batch();
	const std::size_t count = std::min(completed.size(), ended.size());
	std::copy_n(ended.begin(), count, completed.begin());
	ended.erase_begin(count);
	under_way -= count;
	return count;
}

void MemcachedClient::do_batch() noexcept
{
	put_all();
	get_all();
	erase_all();
	for (auto *list : {&puts, &gets, &erases}) {
		for (Operation *operation : *list) {
			operation->round_trips = 1;
			ended.push_back(operation);
		}
		list->clear();
	}
}

void MemcachedClient::put_all() noexcept
{
	for (Operation *operation : puts) {
		const memcached_return_t code = memcached_set(handle.get(), chars(operation->key),
			operation->key.size(), chars(operation->value), operation->value.size(), 0, 0);
		settle(*operation, code);
	}
}

void MemcachedClient::get_all() noexcept
{
	if (gets.size() == 1) {
		get_one(*gets.front());
		return;
	}
	if (gets.empty())
		return;
	keys.clear();
	key_sizes.clear();
	for (const Operation *operation : gets) {
		keys.push_back(chars(operation->key));
		key_sizes.push_back(operation->key.size());
	}
	const memcached_return_t sent = memcached_mget(handle.get(), keys.data(), key_sizes.data(), keys.size());
	if (sent == MEMCACHED_SUCCESS) {
		fetch_all();
		return;
	}
	for (Operation *operation : gets)
		settle(*operation, sent);
}

void MemcachedClient::get_one(Operation &operation) noexcept
{
	std::size_t length = 0;
	std::uint32_t flags = 0;
	memcached_return_t code = MEMCACHED_FAILURE;
	const std::unique_ptr<char, CFree> value(
		memcached_get(handle.get(), chars(operation.key), operation.key.size(), &length, &flags, &code));
	if (code == MEMCACHED_SUCCESS)
		take_value(operation, value.get(), length);
	else
		settle(operation, code);
}

/* Values come in the order of the keys; there is nothing for a key that is not there. */
void MemcachedClient::fetch_all() noexcept
{
	auto next = gets.begin();
	memcached_return_t code = MEMCACHED_SUCCESS;
	while (memcached_fetch_result(handle.get(), fetched.get(), &code)) {
		const std::string_view key(
			memcached_result_key_value(fetched.get()), memcached_result_key_length(fetched.get()));
		while (next != gets.end() && std::string_view(chars((*next)->key), (*next)->key.size()) != key)
			(*next++)->outcome = Outcome::not_found;
		if (next == gets.end())
			break;
		take_value(**next++, memcached_result_value(fetched.get()), memcached_result_length(fetched.get()));
	}
	if (code == MEMCACHED_SUCCESS || code == MEMCACHED_END)
		code = MEMCACHED_NOTFOUND;
	std::for_each(next, gets.end(), [&](Operation *operation) { settle(*operation, code); });
}

void MemcachedClient::erase_all() noexcept
{
	for (Operation *operation : erases)
		settle(*operation, memcached_delete(handle.get(), chars(operation->key), operation->key.size(), 0));
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
		operation.error = error_of(handle.get(), code);
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

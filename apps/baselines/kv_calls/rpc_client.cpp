/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/rpc_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prism::kv
{

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;

RpcClient::RpcClient(std::unique_ptr<rpc::ClientLink> connected)
	: connection_(std::move(connected)), operations_(connection_->depth()), users_(connection_->depth()),
	  abandoned_(connection_->depth()), ended_(connection_->depth()), ended_operations_(connection_->depth())
{
	free_slots_.reserve(connection_->depth());
	for (std::uint32_t slot = connection_->depth(); slot-- > 0;)
		free_slots_.push_back(slot);
}

Result<rpc::SlotSizes> RpcClient::measure(const apps::Hello &server, std::size_t read)
{
	rpc::SlotSizes sizes;
	sizes.request = rpc::message_header_size + std::size_t{server.max_key_size} + server.max_value_size;
	sizes.response = rpc::message_header_size + std::size_t{server.max_value_size};
	sizes.read = read;
	if (server.max_key_size == 0 || sizes.request > rpc::max_message_size)
		return make_error(EBADMSG, "announces limits that no message can keep");
	return sizes;
}

int RpcClient::start(Operation &operation) noexcept
{
	const bool is_put = operation.kind == OperationKind::put;
	if (operation.key.empty() || operation.key.size() > limits().max_key_size ||
		(is_put && operation.value.size() > limits().max_value_size))
		return EINVAL;
	if (free_slots_.empty())
		return EAGAIN;
	const std::uint32_t slot = free_slots_.back();
	free_slots_.pop_back();
	operation.outcome = Outcome::ok;
	operation.error = 0;
	operation.length = 0;
	operation.round_trips = 0;
	operations_[slot] = &operation;
	users_[slot] = 1;
	begin(slot);
	return 0;
}

void RpcClient::call(std::uint32_t slot) noexcept
{
	Operation &operation = *operations_[slot];
	operation.round_trips++;
	const bool is_put = operation.kind == OperationKind::put;
	const Request request{
		operation.kind, 0, operation.key, is_put ? operation.value : std::span<const std::byte>{}};
	request.serialize(connection_->request(slot).data());
	connection_->call(slot, request.size());
}

void RpcClient::finish(std::uint32_t slot, Outcome outcome) noexcept
{
	operations_[slot]->outcome = outcome;
	const std::uint64_t at = ended_end_++ % ended_.size();
	ended_[at] = slot;
	ended_operations_[at] = std::exchange(operations_[slot], nullptr);
}

void RpcClient::finish_get(std::uint32_t slot, std::span<const std::byte> value) noexcept
{
	Operation &operation = *operations_[slot];
	operation.length = static_cast<std::uint32_t>(value.size());
	if (const std::size_t room = std::min(value.size(), operation.result.size()))
		std::memcpy(operation.result.data(), value.data(), room);
	finish(slot, Outcome::ok);
}

void RpcClient::on_response(std::uint32_t slot, std::span<const std::byte> message) noexcept
{
	Response response;
	const char *const wrong = response.parse(message, limits().max_value_size);
	const OperationKind kind = operations_[slot]->kind;
	const bool possible = !wrong && response.kind == kind &&
			      (response.outcome == Outcome::ok ||
				      (response.outcome == Outcome::full) == (kind == OperationKind::put));
	if (!possible)
		connection_->break_off(EBADMSG);
	else if (kind == OperationKind::get && response.outcome == Outcome::ok)
		finish_get(slot, message.subspan(rpc::message_header_size));
	else
		finish(slot, response.outcome);
}

void RpcClient::let_go(std::uint32_t slot) noexcept
{
	if (--users_[slot] == 0)
		free_slots_.push_back(slot);
}

void RpcClient::on_expired(std::uint32_t slot) noexcept
{
	abandoned_[slot] = 1;
	users_[slot]++;
	operations_[slot]->error = ETIMEDOUT;
	finish(slot, apps::outcome_of_loss(operations_[slot]->kind));
}

void RpcClient::on_released(std::uint32_t slot) noexcept
{
	abandoned_[slot] = 0;
	let_go(slot);
}

void RpcClient::fail_all() noexcept
{
	for (std::uint32_t slot = 0; slot < operations_.size(); slot++) {
		if (abandoned_[slot])
			on_released(slot);
		if (!operations_[slot])
			continue;
		operations_[slot]->error = connection_->broken();
		finish(slot, apps::outcome_of_loss(operations_[slot]->kind));
	}
}

std::size_t RpcClient::poll(std::span<Operation *> completed) noexcept
{
	connection_->poll(*this);
	if (connection_->broken())
		fail_all();
	std::size_t count = 0;
	for (; count < completed.size() && ended_begin_ != ended_end_; count++, ended_begin_++) {
		const std::uint64_t at = ended_begin_ % ended_.size();
		completed[count] = ended_operations_[at];
		let_go(ended_[at]);
	}
	return count;
}

} // namespace prism::kv

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server/departed.hpp"

#include "rpc/protocol/header.hpp"

#include <algorithm>
#include <utility>

namespace prism::rpc
{

namespace
{

constexpr std::uint32_t slot_of(std::uint64_t id) noexcept
{
	return static_cast<std::uint32_t>(id);
}

} // namespace

void KeptResponses::add(std::span<const std::byte> response)
{
	MessageHeader header;
	if (header.parse_response(response) || slot_of(header.id) >= slots_)
		return;
	Response &kept = responses_[slot_of(header.id)];
	bytes_ += response.size() - kept.bytes.size();
	kept.id = header.id;
	kept.bytes.assign(response.begin(), response.end());
}

std::span<const std::byte> KeptResponses::find(std::uint64_t id) noexcept
{
	const auto found = responses_.find(slot_of(id));
	if (found == responses_.end())
		return {};
	if (found->second.id == id)
		return found->second.bytes;
	bytes_ -= found->second.bytes.size();
	responses_.erase(found);
	return {};
}

void Departed::keep(const ClientId &client, KeptResponses responses, Clock::time_point now)
{
	(void)take(client);
	bytes_ += responses.bytes();
	clients_[client] = {std::move(responses), now};
	while (bytes_ > most_bytes)
		forget_oldest();
}

KeptResponses Departed::take(const ClientId &client)
{
	const auto found = clients_.find(client);
	if (found == clients_.end())
		return KeptResponses();
	KeptResponses responses = std::move(found->second.responses);
	bytes_ -= responses.bytes();
	clients_.erase(found);
	return responses;
}

void Departed::forget_oldest()
{
	const auto oldest = std::min_element(clients_.begin(), clients_.end(),
		[](const auto &one, const auto &other) { return one.second.left < other.second.left; });
	bytes_ -= oldest->second.responses.bytes();
	clients_.erase(oldest);
}

void Departed::forget(Clock::time_point now)
{
	while (!clients_.empty()) {
		const auto oldest = std::min_element(clients_.begin(), clients_.end(),
			[](const auto &one, const auto &other) { return one.second.left < other.second.left; });
		if (now - oldest->second.left < patience)
			return;
		forget_oldest();
	}
}

} // namespace prism::rpc

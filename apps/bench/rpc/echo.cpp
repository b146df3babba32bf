/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/echo.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/wire.hpp"

namespace prism::echo
{

namespace
{

constexpr std::size_t time_offset = rpc::message_header_size;
constexpr std::size_t nonce_offset = rpc::message_header_size + 8;
static_assert(request_head == nonce_offset + 8);

/* A payload is a piece of these bytes; the nonce selects its beginning. Making one costs no more than a copy. */
constexpr std::size_t places = 1024;
constexpr std::uint64_t response_salt = 0x9e3779b97f4a7c15;

std::array<std::byte, longest_payload + places> make_noise()
{
	std::array<std::byte, longest_payload + places> noise;
	std::mt19937_64 random(1);
	std::generate(noise.begin(), noise.end(), [&random] { return static_cast<std::byte>(random() >> 56); });
	return noise;
}

const std::byte *noise_of(std::uint64_t nonce) noexcept
{
	static const auto noise = make_noise();
	return &noise[(nonce * response_salt >> 32) % places];
}

/* Returns the number of the payload's first bytes that are the nonce itself: as many as there is room for. */
std::size_t nonce_in(std::size_t payload) noexcept
{
	return std::min(payload, sizeof(std::uint64_t));
}

void fill(std::uint64_t nonce, std::span<std::byte> to) noexcept
{
	const std::size_t first = nonce_in(to.size());
	std::memcpy(to.data(), &nonce, first);
	std::memcpy(to.data() + first, noise_of(nonce), to.size() - first);
}

bool is(std::uint64_t nonce, std::span<const std::byte> payload) noexcept
{
	const std::size_t first = nonce_in(payload.size());
	return std::memcmp(payload.data(), &nonce, first) == 0 &&
	       std::memcmp(payload.data() + first, noise_of(nonce), payload.size() - first) == 0;
}

} // namespace

void fill_request(std::uint64_t nonce, std::span<std::byte> to) noexcept
{
	fill(nonce, to);
}

bool is_request(std::uint64_t nonce, std::span<const std::byte> payload) noexcept
{
	return is(nonce, payload);
}

void fill_response(std::uint64_t nonce, std::span<std::byte> to) noexcept
{
	fill(nonce ^ response_salt, to);
}

bool is_response(std::uint64_t nonce, std::span<const std::byte> payload) noexcept
{
	return is(nonce ^ response_salt, payload);
}

void Request::serialize(std::byte *to) const noexcept
{
	rpc::MessageHeader header;
	header.call = static_cast<std::uint8_t>(call);
	header.size = wanted;
	header.serialize_request(to);
	apps::store(to + time_offset, time);
	apps::store(to + time_offset + sizeof(time), std::uint32_t{0});
	apps::store(to + nonce_offset, nonce);
}

const char *Request::parse(std::span<const std::byte> message, std::uint32_t limit) noexcept
{
	rpc::MessageHeader header;
	if (const char *wrong = header.parse_request(message))
		return wrong;
	if (message.size() < request_head || message.size() - request_head > limit)
		return "a request of a length that is not possible";
	call = static_cast<Call>(header.call);
	wanted = header.size;
	time = apps::load<std::uint32_t>(&message[time_offset]);
	nonce = apps::load<std::uint64_t>(&message[nonce_offset]);
	id = header.id;
	if (call == Call::figures)
		return message.size() == request_head ? nullptr : "a question for figures with a payload";
	if (call != Call::echo)
		return "a call of an unknown kind";
	if (wanted > limit)
		return "a response longer than the server's limit";
	if (time > longest_time)
		return "a server's time of more than a second";
	return is_request(nonce, message.subspan(request_head)) ? nullptr : "a payload of another request";
}

const std::array<std::pair<const char *, std::uint64_t Figures::*>, 8> Figures::numbers{{
	{"calls", &Figures::calls},
	{"cpu_user_ns", &Figures::user},
	{"cpu_system_ns", &Figures::system},
	{"resident", &Figures::resident},
	{"peak", &Figures::peak},
	{"allocated", &Figures::allocated},
	{"touched", &Figures::touched},
	{"planned", &Figures::planned},
}};

void Figures::serialize(std::byte *to) const noexcept
{
	for (const auto &[name, member] : numbers) {
		apps::store(to, this->*member);
		to += sizeof(std::uint64_t);
	}
	for (const auto &[name, member] : bench::Traffic::counters) {
		apps::store(to, traffic.*member);
		to += sizeof(std::uint64_t);
	}
}

Figures Figures::parse(const std::byte *from) noexcept
{
	Figures figures;
	for (const auto &[name, member] : numbers) {
		figures.*member = apps::load<std::uint64_t>(from);
		from += sizeof(std::uint64_t);
	}
	for (const auto &[name, member] : bench::Traffic::counters) {
		figures.traffic.*member = apps::load<std::uint64_t>(from);
		from += sizeof(std::uint64_t);
	}
	return figures;
}

nlohmann::json Figures::to_json() const
{
	nlohmann::json object = {{"traffic", traffic.to_json()}};
	for (const auto &[name, member] : numbers)
		object[name] = this->*member;
	return object;
}

} // namespace prism::echo

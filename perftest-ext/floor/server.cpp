/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <array>
#include <cstring>
#include <stdexcept>

#include "echo.hpp"

namespace prism::floor
{

namespace
{

/* An empty look at the socket costs 0.15 us, one at the TCP connection more: so check the latter once in a thousand. */
constexpr unsigned looks_between_checks = 1024;

/* Returns true if the client is done. */
bool is_done(const Descriptor &control)
{
	const Peer client = state_of_peer(control);
	if (client == Peer::gone)
		throw std::runtime_error("the client has ended before the run was over; see what it printed");
	return client == Peer::done;
}

void answer(TrainWriter &out, const Request &request, std::uint32_t mtu)
{
	/* A stray datagram must not cause an answer above one train. */
	if (request.answer_size < min_packet_size || request.answer_size > max_train_bytes)
		return;
	Answer header{request.unit, request.epoch, 0};
	for (std::uint32_t left = request.answer_size; left > 0; header.packet++) {
		const std::uint32_t size = std::min(left, mtu);
		if (size >= sizeof(header))
			std::memcpy(out.add(size), &header, sizeof(header));
		left -= size;
	}
}

void serve_singles(EchoSocket &socket, const Descriptor &control, const Parameters &parameters)
{
	std::array<std::uint8_t, 65536> packet{};
	for (unsigned idle = 0;;) {
		const std::size_t size = socket.receive(packet);
		/* Request and answer begin alike; only the last word differs, and is 0 in a single packet. */
		if (size == parameters.request_size) {
			const std::uint32_t first = 0;
			std::memcpy(packet.data() + offsetof(Answer, packet), &first, sizeof(first));
			(void)socket.send({packet.data(), parameters.answer_size});
		} else if (++idle % looks_between_checks == 0 && is_done(control)) {
			return;
		}
	}
}

void serve_trains(EchoSocket &socket, const Descriptor &control, const Parameters &parameters)
{
	TrainWriter out(socket);
	for (unsigned idle = 0;;) {
		const EchoSocket::Train train = socket.receive_train();
		for (std::size_t at = 0; at + sizeof(Request) <= train.data.size(); at += train.segment) {
			Request request;
			std::memcpy(&request, train.data.data() + at, sizeof(request));
			answer(out, request, parameters.mtu);
		}
		out.flush();
		if (train.data.empty() && ++idle % looks_between_checks == 0 && is_done(control))
			return;
	}
}

} // namespace

void serve(EchoSocket &socket, const Descriptor &control, const Parameters &parameters)
{
	if (!parameters.bandwidth && parameters.single())
		return serve_singles(socket, control, parameters);
	socket.enable_trains();
	serve_trains(socket, control, parameters);
}

} // namespace prism::floor

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <span>

#include "common/socket.hpp"

namespace prism::floor
{

enum class Peer {
	runs,
	done,
	gone
};

/** Returns whether the other side runs, has said that it is done, or has ended without a word. */
Peer state_of_peer(const Descriptor &control);

constexpr std::size_t max_train_bytes = 65000;
constexpr std::size_t max_train_packets = 64;

/** A connected UDP socket that sends and receives trains, and never blocks. */
class EchoSocket
{
public:
	/** Binds to the local address of @p control and connects to the peer's; the ports are exchanged over @p
	 * control. */
	explicit EchoSocket(const Descriptor &control);

	/** Receives trains as a whole. Without this each packet comes by itself, which is cheaper for one packet at
	 * a time. */
	void enable_trains();

	/** Returns the bytes of the kernel's receive buffer. */
	[[nodiscard]] std::size_t receive_room() const;

	/** Sends one packet. False if it was lost. */
	bool send(std::span<const std::uint8_t> packet)
	{
		return ::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT) >= 0;
	}

	/** Receives one packet into @p packet. 0 if none is there. */
	std::size_t receive(std::span<std::uint8_t> packet)
	{
		const ssize_t size = ::recv(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
		return size < 0 ? 0 : static_cast<std::size_t>(size);
	}

	/** Sends @p data as packets of @p segment bytes, the last one perhaps shorter. False if it was lost. */
	bool send_train(std::span<const std::uint8_t> data, std::size_t segment);

	struct Train {
		std::span<const std::uint8_t> data; /**< valid until the next call */
		std::size_t segment;
	};

	/** Returns empty data if nothing is there. */
	Train receive_train();

private:
	static constexpr std::size_t buffer_size = 65536;

	Descriptor fd_;
	std::unique_ptr<std::uint8_t[]> buffer_ = std::make_unique<std::uint8_t[]>(buffer_size);
};

/** Gathers packets into trains, and sends each when it is full. */
class TrainWriter
{
public:
	explicit TrainWriter(EchoSocket &to) : socket_(to) {}

	/** Returns room for a packet of @p size bytes that belongs to the stream. Its contents after the header do not
	 * matter.
	 */
	std::uint8_t *add(std::size_t size);
	void flush();

private:
	EchoSocket &socket_;
	std::unique_ptr<std::uint8_t[]> data_ = std::make_unique<std::uint8_t[]>(max_train_bytes);
	std::size_t segment_ = 0;
	std::size_t packets_ = 0;
	std::size_t bytes_ = 0;
};

} // namespace prism::floor

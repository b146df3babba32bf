/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace prism::floor
{

/** Owns a file descriptor. */
class Descriptor
{
public:
	explicit Descriptor(int descriptor = -1) : fd_(descriptor) {}
	Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Descriptor &operator=(Descriptor &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}

	[[nodiscard]] int get() const { return fd_; }

private:
	int fd_;
};

/** Waits for one client on @p port, or connects to @p host. Throws std::runtime_error with a text for the user. */
Descriptor accept_client(std::uint16_t port);
Descriptor connect_to(const std::string &host, std::uint16_t port);

/** All of @p bytes, or std::runtime_error. */
void send_all(const Descriptor &control, std::span<const std::byte> bytes);
void receive_all(const Descriptor &control, std::span<std::byte> bytes);

/** Whether the other side has closed its end. */
bool hung_up(const Descriptor &control);

constexpr std::size_t max_train_bytes = 65000;
constexpr std::size_t max_train_packets = 64;

/** A connected UDP socket that sends and receives trains, and never blocks. */
class EchoSocket
{
public:
	/** On the local address of @p control, connected to the peer's; the ports cross @p control. */
	explicit EchoSocket(const Descriptor &control);

	/** Trains come in as such; without, each packet by itself, which is cheaper for one packet at a time. */
	void enable_trains();

	/** Room of the kernel for packets that arrived, in bytes. */
	[[nodiscard]] std::size_t receive_room() const;

	/** One packet. False if it was lost. */
	bool send(std::span<const std::uint8_t> packet)
	{
		return ::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT) >= 0;
	}

	/** One packet, into @p packet. 0 if none is there. */
	std::size_t receive(std::span<std::uint8_t> packet)
	{
		const ssize_t size = ::recv(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
		return size < 0 ? 0 : static_cast<std::size_t>(size);
	}

	/** @p data as packets of @p segment bytes, the last one perhaps shorter. False if it was lost. */
	bool send_train(std::span<const std::uint8_t> data, std::size_t segment);

	struct Train {
		std::span<const std::uint8_t> data; /**< valid until the next call */
		std::size_t segment;
	};

	/** Empty data if nothing is there. */
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

	/** Room for a packet of @p size bytes that belongs to the stream. Its contents beyond the header do not matter.
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

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages between a server and its clients beside the data path, over the TCP connection that the rendezvous has left
 * open: 16 bytes each, kind 4, reserved 4, value 8, in network order. An answer to stats is followed by as many bytes
 * of JSON as its value says.
 */
#pragma once

#include "service/application.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prism::apps
{

/**
 * Messages of servers of every kind and their clients. Each Application has a range of numbers for messages of its own.
 */
enum class ControlKind : std::uint32_t {
	settle = 2,  /**< server: end what you have begun, report all freed buffers, then answer settled */
	settled = 3, /**< client: has the value of settle */
	stats = 4,   /**< client: asks for statistics */
	recover = 5, /**< client: begin a recovery scan; server: value is 0, or an errno if it does not */
	stop = 6, /**< server: it ends soon: begin nothing more, end what you have begun, then close the connection */
};

/** Returns the message @p number, below 0x80, of @p application. */
constexpr ControlKind message_of(Application application, std::uint32_t number) noexcept
{
	return static_cast<ControlKind>(static_cast<std::uint32_t>(application) + number);
}

/** Likewise for a message that the server sends unasked: for ServerLink::take_question(). */
constexpr ControlKind question_of(Application application, std::uint32_t number) noexcept
{
	return message_of(application, 0x80 + number);
}

/** Returns true if @p kind is one of question_of(). */
constexpr bool is_question(ControlKind kind) noexcept
{
	constexpr std::uint32_t first_of_applications = 0x100;
	return static_cast<std::uint32_t>(kind) >= first_of_applications && (static_cast<std::uint32_t>(kind) & 0x80);
}

struct ControlMessage {
	static constexpr std::size_t size = 16;

	ControlKind kind = ControlKind::stats;
	std::uint64_t value = 0;
};

/** One end of the conversation, on a socket that someone else owns. Not thread-safe. */
class ControlChannel
{
public:
	explicit ControlChannel(int socket) noexcept : fd_(socket) {}

	/** Sends at once. Returns 0, or an errno: then the channel is useless (EAGAIN: the peer does not read). */
	int send(const ControlMessage &message, const std::string &text = {}) noexcept;

	/**
	 * Takes a message that has come. Returns 1 with @p message set, 0 if there is none yet, or a negative errno:
	 * the channel has ended (-ECONNRESET: closed by the peer).
	 */
	int receive(ControlMessage &message) noexcept;

	/** Waits up to @p milliseconds for something to receive. Returns false if nothing came. */
	[[nodiscard]] bool wait(int milliseconds) const noexcept;

	/**
	 * Receives the text after a stats message: @p length bytes. Escapes control characters except new lines, so
	 * that programs can print it. @p milliseconds: for all of it. Returns 0 or errno.
	 */
	int receive_text(std::size_t length, std::string &text, int milliseconds) noexcept;

private:
	int fd_;
	std::array<std::byte, ControlMessage::size> partial_{};
	std::size_t filled_ = 0;
};

} // namespace prism::apps

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "kv_calls/request_handler.hpp"

namespace prism::kv
{

namespace
{

/** A session of a store that keeps nothing for a connection. */
class Session final : public RequestSession
{
public:
	Session(RequestHandler &store, const rpc::Limits &limits) : RequestSession(limits), store_(store) {}

private:
	const char *execute(const Request &request, std::span<std::byte> value, Response &response) noexcept override
	{
		response.outcome = store_.handle(request, value, response.value_size);
		return nullptr;
	}

	RequestHandler &store_;
};

} // namespace

const char *RequestSession::handle(
	std::span<const std::byte> message, std::span<std::byte> answer, std::uint32_t &size) noexcept
{
	Request request;
	if (const char *wrong = request.parse(message, limits_.max_key_size, limits_.max_value_size))
		return wrong;
	Response response;
	response.kind = request.kind;
	response.id = request.id;
	if (const char *wrong =
			execute(request, answer.subspan(rpc::message_header_size, limits_.max_value_size), response))
		return wrong;
	response.serialize_header(answer.data());
	size = static_cast<std::uint32_t>(rpc::message_header_size + response.value_size);
	return nullptr;
}

std::unique_ptr<rpc::CallSession> RequestHandler::open(const rpc::Limits &limits, const rpc::SessionPlace &)
{
	return std::make_unique<Session>(*this, limits);
}

} // namespace prism::kv

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <mutex>
#include <string>

#include "service/log.hpp"

namespace prism::test
{

/** Log of servers, with lines about their connections for example. Any thread. */
class ServerLog
{
public:
	apps::LogSink sink()
	{
		return [this](apps::LogLevel, const std::string &line) {
			const std::lock_guard guard(lock_);
			lines_ += line + '\n';
		};
	}
	bool has(const std::string &text)
	{
		const std::lock_guard guard(lock_);
		return lines_.find(text) != std::string::npos;
	}
	std::string text()
	{
		const std::lock_guard guard(lock_);
		return lines_;
	}

private:
	std::mutex lock_;
	std::string lines_;
};

} // namespace prism::test

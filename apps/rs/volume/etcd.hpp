/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <string>

namespace prism::rs
{

/** A key in etcd, by the JSON gateway of its v3 API (etcd 3.4 and later). */
class EtcdKey
{
public:
	/** Whether @p location is meant to be one: it begins with etcd://. */
	static bool is(const std::string &location);

	/** Reads etcd://HOST:PORT/KEY; the port is 2379 if it is not given. Errors: EINVAL. */
	static Result<EtcdKey> parse(const std::string &location);

	/** Its value. Errors: ENOENT, ECONNREFUSED, ETIMEDOUT, EPROTO (an answer that cannot be). */
	[[nodiscard]] Result<std::string> get() const;

	/** Gives it @p value, if it is not there yet, in one transaction. Errors: EEXIST, as above. */
	[[nodiscard]] Result<void> create(const std::string &value) const;

private:
	EtcdKey(std::string server_url, std::string name) : url_(std::move(server_url)), key_(std::move(name)) {}

	std::string url_; /* http://HOST:PORT */
	std::string key_;
};

} // namespace prism::rs

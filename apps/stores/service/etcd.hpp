/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace prism::apps
{

/** A key in etcd, by the JSON gateway of its v3 API (etcd 3.4 and later). */
class EtcdKey
{
public:
	/** Whether @p location is meant to be one: it begins with etcd://. */
	static bool is(const std::string &location);

	/**
	 * Reads etcd://HOST:PORT/KEY; the port is 2379 if it is not given. @p patience: with each answer. Errors:
	 * EINVAL.
	 */
	static Result<EtcdKey> parse(
		const std::string &location, std::chrono::milliseconds patience = std::chrono::seconds(5));

	/** The key of the same server with @p more behind this one's name. */
	[[nodiscard]] EtcdKey beside(const std::string &more) const
	{
		EtcdKey other = *this;
		other.key_ += more;
		return other;
	}

	/** Whatever is asked when @p cancelled is set ends within a second, with EPROTO. It outlives this object. */
	void cancel_by(const std::atomic<bool> &cancelled) noexcept { cancelled_ = &cancelled; }

	/** Its value. Errors: ENOENT, ECONNREFUSED, ETIMEDOUT, EPROTO (an answer that cannot be). */
	[[nodiscard]] Result<std::string> get() const;

	/** Gives it @p value, if it is not there yet, in one transaction. Errors: EEXIST, as above. */
	[[nodiscard]] Result<void> create(const std::string &value) const;

	/** Gives it @p value, whether it is there or not. Errors: as above. */
	[[nodiscard]] Result<void> put(const std::string &value) const;

	/** A value, and which one of those that the key has had. */
	struct Revision {
		std::uint64_t number = 0; /**< 0: it is not there */
		std::string value;
	};
	/** Its value, if it is there. Errors: as above, without ENOENT. */
	[[nodiscard]] Result<Revision> read() const;
	/**
	 * Gives it @p value, if its revision is @p number, in one transaction. False: it is another. Errors: as above;
	 * then it is not known whether it has the value.
	 */
	[[nodiscard]] Result<bool> replace(std::uint64_t number, const std::string &value) const;

private:
	[[nodiscard]] Result<nlohmann::json> ask(const char *path, const nlohmann::json &question) const;
	EtcdKey(std::string server_url, std::string name, std::chrono::milliseconds patience)
		: url_(std::move(server_url)), key_(std::move(name)), patience_(patience)
	{
	}

	std::string url_; /* http://HOST:PORT */
	std::string key_;
	std::chrono::milliseconds patience_;
	const std::atomic<bool> *cancelled_ = nullptr;
};

} // namespace prism::apps

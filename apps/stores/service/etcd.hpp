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
	/** Returns true if @p location names such a key: it begins with etcd://. */
	static bool is(const std::string &location);
	/** Returns what is wrong with @p location if it should name one; empty if nothing is. For options. */
	static std::string check(const std::string &location);

	/**
	 * Parses etcd://HOST:PORT/KEY; the default port is 2379. @p patience: time to wait for each answer. Errors:
	 * EINVAL.
	 */
	static Result<EtcdKey> parse(
		const std::string &location, std::chrono::milliseconds patience = std::chrono::seconds(5));

	/** Returns the key of the same server with @p more after this one's name. */
	[[nodiscard]] EtcdKey beside(const std::string &more) const
	{
		EtcdKey other = *this;
		other.key_ += more;
		return other;
	}

	/** Sets the time to wait for each answer, in place of parse()'s. */
	void set_patience(std::chrono::milliseconds patience) noexcept { patience_ = patience; }

	/**
	 * Sets the flag of cancellation: each request under way while @p cancelled is set ends within a second, with
	 * EPROTO. @p cancelled must outlive this object.
	 */
	void cancel_by(const std::atomic<bool> &cancelled) noexcept { cancelled_ = &cancelled; }

	/** Returns the value. Errors: ENOENT, ECONNREFUSED, ETIMEDOUT, EPROTO (an impossible answer). */
	[[nodiscard]] Result<std::string> get() const;

	/** Creates the key with @p value, if it is not there yet, in one transaction. Errors: EEXIST, as above. */
	[[nodiscard]] Result<void> create(const std::string &value) const;

	/** Sets the key to @p value, even if it is there. Errors: as above. */
	[[nodiscard]] Result<void> put(const std::string &value) const;

	/** A value, with its number among those that the key has had. */
	struct Revision {
		std::uint64_t number = 0; /**< 0: it is not there */
		std::string value;
	};
	/** Returns the value, if it is there. Errors: as above, without ENOENT. */
	[[nodiscard]] Result<Revision> read() const;
	/**
	 * Sets the key to @p value, if its revision is @p number, in one transaction. Returns the new revision, or 0 if
	 * it is another. Errors: as above; then it is not known if the key has the value.
	 */
	[[nodiscard]] Result<std::uint64_t> replace(std::uint64_t number, const std::string &value) const
	{
		return replace_while(*this, number, value);
	}
	/** Does the same if the revision of @p other, a key of the same server, is @p number. */
	[[nodiscard]] Result<std::uint64_t> replace_while(
		const EtcdKey &other, std::uint64_t number, const std::string &value) const;
	/**
	 * Has the server forget the values that the revision @p number and earlier ones of all its keys have replaced.
	 * Errors: as above; EPROTO also if it has forgotten them already.
	 */
	[[nodiscard]] Result<void> compact(std::uint64_t number) const;

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

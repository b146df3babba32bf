/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "etcd.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include <curl/curl.h>
#include <nlohmann/json.hpp>
#include <sodium.h>

#include "base/printable.hpp"

namespace prism::apps
{

namespace
{

constexpr std::string_view scheme = "etcd://";
constexpr std::string_view default_port = ":2379";
constexpr std::size_t longest_answer = 4 << 20;

std::string base64(const std::string &bytes)
{
	std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
	sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(),
		sodium_base64_VARIANT_ORIGINAL);
	text.pop_back(); /* the terminating zero */
	return text;
}

bool from_base64(const std::string &text, std::string &bytes)
{
	bytes.resize(text.size());
	std::size_t length = 0;
	if (sodium_base642bin(reinterpret_cast<unsigned char *>(bytes.data()), bytes.size(), text.data(), text.size(),
		    nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL))
		return false;
	bytes.resize(length);
	return true;
}

std::size_t take(char *data, std::size_t size, std::size_t count, void *to)
{
	std::string &answer = *static_cast<std::string *>(to);
	if (answer.size() + size * count > longest_answer)
		return 0;
	answer.append(data, size * count);
	return size * count;
}

int errno_of(CURLcode code)
{
	if (code == CURLE_COULDNT_CONNECT)
		return ECONNREFUSED;
	if (code == CURLE_OPERATION_TIMEDOUT)
		return ETIMEDOUT;
	return code == CURLE_COULDNT_RESOLVE_HOST ? ENOENT : EPROTO;
}

int ends(void *cancelled, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*to_send*/, curl_off_t /*sent*/)
{
	return static_cast<const std::atomic<bool> *>(cancelled)->load() ? 1 : 0;
}

/* Returns the text @p name of @p object, or an empty text. */
std::string text_of(const nlohmann::json &object, const char *name)
{
	const auto found = object.is_object() ? object.find(name) : object.end();
	return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/* Returns a number of 64 bits, which the gateway writes as text; 0: there is none. */
std::uint64_t number_of(const nlohmann::json &object, const char *name)
{
	const std::string text = text_of(object, name);
	std::uint64_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() ? number : 0;
}

/* Returns the reason that @p parsed, which was @p answer, gives for an error. */
std::string reason_of(const nlohmann::json &parsed, const std::string &answer)
{
	const std::string reason = text_of(parsed, "error");
	return printable((reason.empty() ? answer : reason).substr(0, 200));
}

} // namespace

/** Returns etcd's answer to @p question. */
Result<nlohmann::json> EtcdKey::ask(const char *path, const nlohmann::json &question) const
{
	struct Clean {
		void operator()(CURL *curl) const noexcept { curl_easy_cleanup(curl); }
	};
	/* Initialized by one thread, before others make handles. */
	static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
	const std::unique_ptr<CURL, Clean> curl(ready == CURLE_OK ? curl_easy_init() : nullptr);
	if (!curl)
		return make_error(ENOMEM, "cannot talk to etcd");
	const std::string where = url_ + path, body = question.dump();
	std::string answer;
	curl_easy_setopt(curl.get(), CURLOPT_URL, where.c_str());
	curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
	/* To curl, 0 means for ever. */
	curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(patience_.count())));
	curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
	/* Leaves curl's thread to a name server that is silent, instead of waiting for it after that time. */
	curl_easy_setopt(curl.get(), CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
	if (cancelled_) {
		curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, ends);
		curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, cancelled_);
	}
	const CURLcode code = curl_easy_perform(curl.get());
	if (code != CURLE_OK)
		return make_error(errno_of(code), "etcd at " + url_ + " does not answer", curl_easy_strerror(code));
	nlohmann::json parsed = nlohmann::json::parse(answer, nullptr, false);
	if (!parsed.is_object() || parsed.contains("error"))
		return make_error(EPROTO, "etcd at " + url_ + " answers with an error", reason_of(parsed, answer));
	return parsed;
}

bool EtcdKey::is(const std::string &location)
{
	return location.starts_with(scheme);
}

std::string EtcdKey::check(const std::string &location)
{
	if (!is(location))
		return {};
	const Result<EtcdKey> parsed = parse(location, {});
	return parsed ? std::string() : parsed.error().message;
}

Result<EtcdKey> EtcdKey::parse(const std::string &location, std::chrono::milliseconds patience)
{
	const std::size_t slash = location.find('/', scheme.size());
	if (!is(location) || slash == std::string::npos || slash == scheme.size() || slash + 1 == location.size())
		return make_error(EINVAL, "'" + location + "' is no key in etcd", "write etcd://HOST:PORT/KEY");
	std::string server = location.substr(scheme.size(), slash - scheme.size());
	if (server.find(':', server.rfind(']') == std::string::npos ? 0 : server.rfind(']')) == std::string::npos)
		server += default_port;
	return EtcdKey("http://" + server, location.substr(slash + 1), patience);
}

Result<std::string> EtcdKey::get() const
{
	Result<Revision> found = read();
	if (!found)
		return found.error();
	if (!found->number)
		return make_error(ENOENT, "etcd at " + url_ + " has no key '" + key_ + "'");
	return std::move(found->value);
}

Result<EtcdKey::Revision> EtcdKey::read() const
{
	Result<nlohmann::json> answer = ask("/v3/kv/range", {{"key", base64(key_)}});
	if (!answer)
		return answer.error();
	const nlohmann::json found = answer->value("kvs", nlohmann::json::array());
	Revision read;
	if (!found.is_array() || found.empty())
		return read;
	read.number = number_of(found[0], "mod_revision");
	if (!read.number || !from_base64(text_of(found[0], "value"), read.value))
		return make_error(EPROTO, "etcd at " + url_ + " answers with what is no value");
	return read;
}

Result<std::uint64_t> EtcdKey::replace_while(const EtcdKey &other, std::uint64_t number, const std::string &value) const
{
	const nlohmann::json question = {{"compare", {{{"key", base64(other.key_)}, {"target", "MOD"},
							     {"mod_revision", std::to_string(number)}}}},
		{"success", {{{"request_put", {{"key", base64(key_)}, {"value", base64(value)}}}}}}};
	const Result<nlohmann::json> answer = ask("/v3/kv/txn", question);
	if (!answer)
		return answer.error();
	const auto succeeded = answer->find("succeeded");
	if (succeeded == answer->end() || !succeeded->is_boolean() || !succeeded->get<bool>())
		return std::uint64_t{0};
	const std::uint64_t revision = number_of(answer->value("header", nlohmann::json::object()), "revision");
	if (!revision)
		return make_error(EPROTO, "etcd at " + url_ + " answers without a revision");
	return revision;
}

Result<void> EtcdKey::create(const std::string &value) const
{
	const Result<std::uint64_t> created = replace(0, value);
	if (!created)
		return created.error();
	if (!*created)
		return make_error(EEXIST, "etcd at " + url_ + " has a key '" + key_ + "' already");
	return {};
}

Result<void> EtcdKey::compact(std::uint64_t number) const
{
	const Result<nlohmann::json> answer = ask("/v3/kv/compaction", {{"revision", std::to_string(number)}});
	if (!answer)
		return answer.error();
	return {};
}

Result<void> EtcdKey::put(const std::string &value) const
{
	const Result<nlohmann::json> answer = ask("/v3/kv/put", {{"key", base64(key_)}, {"value", base64(value)}});
	if (!answer)
		return answer.error();
	return {};
}

} // namespace prism::apps

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "history_client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "../support/recorded_operation.hpp"
#include "kv/store/prism_client.hpp"
#include "simulation/value.hpp"

namespace kv_test
{

namespace
{

using namespace prism;
using namespace prism::kv;
using apps::OperationKind;
using test::HistoryWriter;
using test::Kind;

/* Values differ in size, so that an object changes its size class now and then. */
constexpr std::size_t max_value = 400;

class HistoryClient
{
public:
	HistoryClient(const HistoryClientOptions &options, std::unique_ptr<PrismClient> client, HistoryWriter writer)
		: options_(options), client_(std::move(client)), writer_(std::move(writer)), random_(options.number),
		  jobs_(options.depth)
	{
	}

	Result<void> run();

private:
	struct Job {
		apps::Operation operation;
		std::uint64_t key = 0;
		std::array<std::uint64_t, max_value / 8> value{}, result{};
		HistoryWriter::Handle record = HistoryWriter::none;
	};

	bool start(Job &job);
	void end(const Job &job);
	void check_value(const Job &job);
	bool conditionally();
	void prepare(Job &job);

	const HistoryClientOptions options_;
	std::unique_ptr<PrismClient> client_;
	HistoryWriter writer_;
	std::mt19937_64 random_;
	std::vector<Job> jobs_;
	std::uint64_t values_ = 0;
	bool damaged_ = false; /* a GET returned a value that nobody has stored */
};

/** Chooses a key, and a value that no other PUT has. */
void HistoryClient::prepare(Job &job)
{
	job.key = random_() % options_.keys;
	const std::size_t words = 1 + random_() % job.value.size();
	const std::span value = std::span(job.value).first(words);
	simulation::fill_value(simulation::name_of_value(options_.number, ++values_, words), value);
	job.operation.key = std::as_bytes(std::span(&job.key, 1));
	job.operation.value = std::as_bytes(value);
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	job.operation.context = &job;
}

bool HistoryClient::start(Job &job)
{
	prepare(job);
	job.operation.kind = test::any_kind(random_);
	job.record = writer_.begin(test::record_of(job.operation, options_.number));
	return client_->start(job.operation) == 0;
}

/** Checks all bytes of the value that a GET returned. */
void HistoryClient::check_value(const Job &job)
{
	const std::span<const std::byte> room = std::as_bytes(std::span(job.result));
	damaged_ |= job.operation.length > room.size() || !simulation::is_whole(room.first(job.operation.length));
}

/** Records the end. A failed operation may have happened: it stays without an end. */
void HistoryClient::end(const Job &job)
{
	switch (job.operation.outcome) {
	case apps::Outcome::ok:
		if (job.operation.kind == OperationKind::get)
			check_value(job);
		writer_.end(job.record, test::Outcome::ok, job.result.front());
		break;
	case apps::Outcome::not_found:
		writer_.end(job.record, test::Outcome::not_found);
		break;
	case apps::Outcome::full:
		writer_.end(job.record, test::Outcome::no_effect);
		break;
	case apps::Outcome::failed:
	case apps::Outcome::unknown:
		break;
	}
}

/** Does a GET and an operation that depends on it, with nothing else under way. */
bool HistoryClient::conditionally()
{
	Job &job = jobs_.front();
	prepare(job);
	job.operation.kind = OperationKind::get;
	test::Operation record = test::record_of(job.operation, options_.number);
	job.record = writer_.begin(record);
	Version version;
	client_->get_versioned(job.operation, version);
	end(job);
	if (has_failed(job.operation.outcome))
		return options_.survives;
	const bool erases = version.number && random_() % 4 == 0;
	record.kind = erases ? Kind::conditional_erase : Kind::conditional_put;
	job.operation.kind = erases ? OperationKind::erase : OperationKind::put;
	record.expected = version.number ? job.result.front() : test::absent;
	record.value = erases ? test::absent : job.value.front();
	job.record = writer_.begin(record);
	const apps::Outcome outcome =
		erases ? client_->erase_if(job.operation, version) : client_->put_if(job.operation, version);
	if (outcome == apps::Outcome::not_found) /* another version, or none */
		writer_.end(job.record, test::Outcome::mismatch);
	else
		end(job);
	return options_.survives || !has_failed(outcome);
}

Result<void> HistoryClient::run()
{
	std::uint64_t begun = 0, ended = 0;
	bool good = true;
	for (Job &job : jobs_) {
		good &= start(job);
		begun++;
	}
	std::array<apps::Operation *, 16> completed;
	while (good && !damaged_ && ended < begun) {
		const std::size_t count = client_->poll(completed);
		for (std::size_t i = 0; i < count; i++) {
			Job &job = *static_cast<Job *>(completed[i]->context);
			end(job);
			ended++;
			good &= options_.survives || !has_failed(job.operation.outcome);
			if (good && options_.depth == 1 && random_() % 4 == 0)
				good = conditionally();
			if (good && begun < options_.operations) {
				good = start(job);
				begun++;
			}
		}
	}
	if (damaged_)
		return make_error(EILSEQ, "a value is not what anybody has stored");
	if (!good)
		return make_error(client_->broken() ? client_->broken() : EPROTO, "an operation failed");
	return {};
}

} // namespace

Result<void> run_history_client(const HistoryClientOptions &options)
{
	Result<Context> context = Context::open("prism_lo", Progress::caller);
	if (!context)
		return context.error();
	PrismClientOptions client;
	client.depth = options.depth;
	if (options.survives)
		client.patience = std::chrono::seconds(30);
	auto connected = PrismClient::connect(*context, "127.0.0.1", options.port, client);
	/* The set-up may be cut as well. */
	for (unsigned attempt = 0; !connected && options.survives && attempt < 100; attempt++)
		connected = PrismClient::connect(*context, "127.0.0.1", options.port, client);
	if (!connected)
		return connected.error();
	auto writer = HistoryWriter::create(options.file, 4 * options.operations);
	if (!writer)
		return writer.error();
	return HistoryClient(options, *std::move(connected), *std::move(writer)).run();
}

} // namespace kv_test

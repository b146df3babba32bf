/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/node_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "base/random.hpp"
#include "gam/membership/newest_entries.hpp"

namespace prism::gam
{

namespace
{

constexpr std::size_t least_segment = 4096;
constexpr unsigned untold_shift = 32;

bool has_failed(const Segment &segment)
{
	return static_cast<std::uint32_t>(segment.word(failed_at)) != 0;
}

} // namespace

std::array<std::byte, 16> boot_of_machine() noexcept
{
	std::array<std::byte, 16> boot{};
	std::array<char, 36> text{};
	const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
	if (file.get() < 0 || ::read(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		return boot; /* no run: data that was not committed is not trusted */
	std::size_t nibble = 0;
	for (const char c : text) {
		if (c == '-' || nibble == 2 * boot.size())
			continue;
		const auto value = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
		boot[nibble / 2] |= static_cast<std::byte>(nibble % 2 ? value : value << 4);
		nibble++;
	}
	return boot;
}

/* A segment that existed when the log was opened. */
struct NodeLog::Old {
	std::filesystem::path path;
	std::uint64_t number;
	Segment segment;
	std::optional<SegmentHead> head; /* nothing: damaged */

	/* Most entries that fit into the file */
	[[nodiscard]] std::uint64_t room() const { return segment.bytes().size() / Entry::header_size; }
	[[nodiscard]] bool is_blank() const
	{
		const auto bytes = segment.bytes().first(std::min(segment.bytes().size(), SegmentHead::size));
		return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{}; });
	}
};

Result<std::unique_ptr<NodeLog>> NodeLog::open(LogOptions options)
{
	auto folder = LogFolder::open(options.folder);
	if (!folder)
		return folder.error();
	return open(std::move(options), *std::move(folder));
}

Result<std::unique_ptr<NodeLog>> NodeLog::open(LogOptions options, LogFolder folder)
{
	options.folder = folder.path();
	options.segment_bytes = std::max(options.segment_bytes, least_segment);
	std::unique_ptr<NodeLog> log(new NodeLog(std::move(options), std::move(folder)));
	if (auto loaded = log->load(); !loaded)
		return loaded.error();
	return log;
}

std::filesystem::path NodeLog::path_of(std::uint64_t number, const char *ending) const
{
	std::array<char, 17> name;
	(void)std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(number));
	return options_.folder / (std::string(name.data()) + ending);
}

/* Loading ------------------------------------------------------------------------------------------------------- */

Result<void> NodeLog::load()
{
	auto olds = find_segments();
	if (!olds)
		return olds.error();
	head_.number = olds->empty() ? 0 : olds->back().number;
	recall_gaps(*olds);
	recall_words(*olds);
	const auto known =
		std::find_if(olds->begin(), olds->end(), [](const Old &old) { return old.head.has_value(); });
	began_ = known == olds->end() ? options_.incarnation : known->head->began;
	if (auto taken = take(*olds); !taken)
		return taken.error();
	if (missing_.size() > 1 && std::any_of(missing_.begin() + 1, missing_.end(), [this](const Missing &found) {
		    return found.first == missing_.front().first;
	    }))
		missing_.erase(missing_.begin()); /* it can still be found */
	if (auto settled = settle(*olds); !settled)
		return settled;
	written_ = committed_ = next_ - 1;
	if (const int error = begin_segment(false); error)
		error_ = error;
	return {};
}

Result<std::vector<NodeLog::Old>> NodeLog::find_segments()
{
	std::vector<Old> olds;
	std::error_code code;
	for (std::filesystem::directory_iterator at(options_.folder, code), end; !code && at != end;
		at.increment(code)) {
		const auto path = at->path();
		const auto number = number_of(path);
		if (!number)
			continue;
		if (path.extension() != ".log") {
			std::filesystem::remove(path, code);
			continue;
		}
		auto segment = Segment::open(path);
		if (!segment)
			return segment.error();
		auto head = SegmentHead::parse(std::as_const(*segment).bytes());
		if (head && (head->cluster != options_.cluster || head->node != options_.node))
			return make_error(EINVAL, path.string() + " is of another cluster or node",
				"give this one a folder of its own");
		if (head && head->number != *number)
			head.reset();
		olds.push_back({path, *number, std::move(*segment), head});
	}
	if (code)
		return failed(code, options_.folder);
	std::sort(olds.begin(), olds.end(), [](const Old &a, const Old &b) { return a.number < b.number; });
	return olds;
}

/*
 * Returns the sequence up to which entries certainly existed: in the same run of the machine all complete ones; after a
 * power failure the committed ones, which are all that an earlier life has left to a later one.
 */
std::uint64_t NodeLog::trusted(const std::vector<Old> &olds) const
{
	std::uint64_t trusted = 0;
	const SegmentHead *before = nullptr;
	for (const Old &old : olds) {
		if (!old.head)
			continue;
		std::uint64_t said = old.segment.word(committed_at);
		if (old.head->boot == options_.boot && options_.boot != decltype(options_.boot){})
			said = std::max(said, old.segment.word(written_at));
		/* The words have no checksum. */
		said = std::min(said, old.head->first + old.room());
		if (before && before->incarnation != old.head->incarnation)
			said = std::max(said, old.head->first - 1);
		trusted = std::max(trusted, said);
		before = &*old.head;
	}
	return trusted;
}

Result<void> NodeLog::take(std::vector<Old> &olds)
{
	const std::uint64_t trusted = this->trusted(olds);
	bool begun = false;
	for (std::size_t i = 0; i < olds.size(); i++) {
		Old &old = olds[i];
		if (old.head && !begun)
			kept_ = next_ = std::min(kept_ ? kept_ : old.head->first, old.head->first);
		begun = begun || old.head;
		if (old.is_blank() && next_ > trusted)
			return remove_from(olds, i); /* a power failure has kept only the name */
		if (!old.head || old.head->first < next_) {
			missing_.push_back({old.number, 0, next_, 0});
			closed_.push_back({old.path, next_, next_, true});
			continue;
		}
		if (old.head->first > next_)
			missing_.push_back({old.number, 0, next_, old.head->first});
		const auto after = std::find_if(olds.begin() + static_cast<std::ptrdiff_t>(i) + 1, olds.end(),
			[](const Old &other) { return other.head.has_value(); });
		const std::uint64_t last = after == olds.end() ? trusted : after->head->first - 1;
		const Scanned scanned =
			gam::scan(std::as_const(old.segment).bytes(), *old.head, std::min(last, trusted));
		missing_.insert(missing_.end(), scanned.missing.begin(), scanned.missing.end());
		next_ = scanned.next;
		if (has_failed(old.segment))
			missing_.push_back({old.number, scanned.end, next_, 0, true});
		if (i + 1 == olds.size() || (scanned.next <= last && last > trusted))
			return cut(olds, i, scanned);
		closed_.push_back({old.path, old.head->first, scanned.next, false});
	}
	for (const Old &old : olds)
		next_ += old.head ? 0 : old.room(); /* so that no number is used twice */
	return {};
}

/* Reads from the heads the gaps of segments that compaction has removed. */
void NodeLog::recall_gaps(const std::vector<Old> &olds)
{
	for (const Old &old : olds) {
		if (old.head && old.head->gap && (missing_.empty() || missing_.back().first < old.head->gap))
			missing_.assign(1, {old.number, 0, old.head->gap, 0, old.head->failed});
	}
}

/* Reads what the newest head says: where the log begins, and what was lost and not told. */
void NodeLog::recall_words(const std::vector<Old> &olds)
{
	for (const Old &old : olds) {
		if (!old.head)
			continue;
		kept_ = old.segment.word(kept_at);
		untold_ = static_cast<std::uint32_t>(old.segment.word(failed_at) >> untold_shift);
	}
}

/* Records all gaps in the head of a new segment, as earlier segments may be removed. */
void NodeLog::note_gaps(SegmentHead &head) const
{
	head.failed = !missing_.empty();
	for (const Missing &missing : missing_) {
		head.gap = std::max(head.gap, missing.first);
		head.failed = head.failed && missing.failed;
	}
}

/* Removes the segments from @p first on: after an end caused by a power failure, nothing was promised to anybody. */
Result<void> NodeLog::remove_from(std::vector<Old> &olds, std::size_t first)
{
	std::error_code code;
	for (; olds.size() > first; olds.pop_back()) {
		if (!std::filesystem::remove(olds.back().path, code))
			return failed(code, olds.back().path);
	}
	return {};
}

/* Cuts off what follows the last entry of segment @p at: it was never complete, nor were later segments. */
Result<void> NodeLog::cut(std::vector<Old> &olds, std::size_t at, const Scanned &scanned)
{
	if (auto removed = remove_from(olds, at + 1); !removed)
		return removed;
	Old &old = olds[at];
	if (scanned.end == SegmentHead::size && scanned.missing.empty() && !has_failed(old.segment))
		return remove_from(olds, at);
	std::error_code code;
	if (scanned.missing.empty())
		std::filesystem::resize_file(old.path, scanned.end, code);
	if (code)
		return failed(code, old.path);
	closed_.push_back({old.path, old.head->first, scanned.next, false});
	return {};
}

/* Makes sure that all that this life builds upon is on the disk. */
Result<void> NodeLog::settle(std::vector<Old> &olds)
{
	int error = 0;
	for (Old &old : olds)
		error = error ? error : old.segment.sync();
	error = error ? error : sync_folder(options_.folder);
	if (error)
		return make_error(error, options_.folder.string());
	return {};
}

/* Appending ----------------------------------------------------------------------------------------------------- */

/* Begins a segment, under lock_. Compaction may use one more than the limit, as it frees more than that. */
int NodeLog::begin_segment(bool compacting)
{
	if (closed_.size() + (current_ ? 1 : 0) >= options_.most_segments + (compacting ? 1 : 0))
		return ENOSPC;
	SegmentHead head{options_.cluster, options_.incarnation, options_.node, head_.number + 1, next_, options_.boot,
		random_number()};
	head.began = began_;
	note_gaps(head);
	const auto made = path_of(head.number, ".new");
	std::shared_ptr<Segment> segment = std::move(spare_);
	if (!segment) {
		auto created = Segment::create(made, options_.segment_bytes);
		if (!created)
			return created.error().code;
		segment = std::make_shared<Segment>(std::move(*created));
	}
	step();
	head.serialize(segment->bytes().data());
	segment->set_word(kept_at, kept_);
	segment->set_word(failed_at, std::uint64_t{untold_} << untold_shift);
	segment->set_word(written_at, next_ - 1);
	segment->set_word(committed_at, committed());
	step();
	const auto path = path_of(head.number, ".log");
	if (::rename(made.c_str(), path.c_str()))
		return errno;
	step();
	if (current_) {
		closed_.push_back({path_of(head_.number, ".log"), head_.first, next_, false});
		uncommitted_.push_back(std::move(current_));
	}
	current_ = std::move(segment);
	head_ = head;
	is_gap_untold_ = false;
	seed_ = head.seed();
	end_ = SegmentHead::size;
	return 0;
}

int NodeLog::prepare() noexcept
{
	std::unique_lock guard(lock_);
	if (spare_ || error())
		return 0;
	const std::uint64_t number = head_.number + 1;
	guard.unlock();
	/* Another thread may make the same file: then that one has this name when it is renamed. */
	auto created = Segment::create(path_of(number, ".next"), options_.segment_bytes);
	if (!created)
		return created.error().code;
	guard.lock();
	if (spare_ || head_.number + 1 != number) {
		(void)::unlink(path_of(number, ".next").c_str());
		return 0;
	}
	if (::rename(path_of(number, ".next").c_str(), path_of(number, ".new").c_str()))
		return errno;
	spare_ = std::make_unique<Segment>(std::move(*created));
	return 0;
}

int NodeLog::append(const Entry &entry) noexcept
{
	const std::scoped_lock guard(lock_);
	if (error())
		return EROFS;
	Entry own = entry;
	own.order = next_;
	const int error = append_locked(own, false);
	return error ? fail(error) : 0;
}

int NodeLog::append_locked(Entry entry, bool compacting) noexcept
{
	if (!current_ || current_->bytes().size() - end_ < entry.size()) {
		if (const int error = begin_segment(compacting); error)
			return error;
	}
	entry.sequence = next_;
	step();
	entry.serialize(&current_->bytes()[end_], seed_);
	step();
	current_->set_word(written_at, next_);
	end_ += entry.size();
	written_.store(next_++, std::memory_order_release);
	return 0;
}

/* Records under lock_ that the log has a gap at its end, and returns error(). */
int NodeLog::fail(int cause) noexcept
{
	error_.store(cause, std::memory_order_relaxed);
	set_failed_word();
	return error();
}

void NodeLog::set_failed_word() noexcept
{
	if (current_)
		current_->set_word(
			failed_at, std::uint64_t{untold_} << untold_shift | static_cast<std::uint32_t>(cause()));
}

void NodeLog::note_loss() noexcept
{
	const std::scoped_lock guard(lock_);
	untold_++;
	set_failed_word();
}

std::uint64_t NodeLog::untold() const noexcept
{
	const std::scoped_lock guard(lock_);
	return untold_;
}

void NodeLog::told() noexcept
{
	const std::scoped_lock guard(lock_);
	untold_ = 0;
	set_failed_word();
}

/* Other nodes would not take the log's failure for the cause of an access's end if it could be any. */
int NodeLog::error() const noexcept
{
	const int cause = this->cause();
	if (cause == EFBIG)
		return ENOSPC;
	return cause == 0 || cause == ENOSPC || cause == EROFS ? cause : EIO;
}

int NodeLog::commit() noexcept
{
	const std::scoped_lock committing(committing_);
	std::unique_lock guard(lock_);
	if (error())
		return error();
	const std::uint64_t until = next_ - 1;
	auto segments = uncommitted_;
	segments.push_back(current_);
	guard.unlock();

	int error = 0;
	for (const auto &segment : segments) {
		step();
		error = error ? error : segment->sync();
	}
	if (!error && (segments.size() > 1 || committed() < head_.first))
		error = sync_folder(options_.folder);
	step();

	guard.lock();
	if (error)
		return fail(error);
	uncommitted_.erase(
		uncommitted_.begin(), uncommitted_.begin() + static_cast<std::ptrdiff_t>(segments.size()) - 1);
	current_->set_word(committed_at, until);
	committed_.store(until, std::memory_order_release);
	return 0;
}

/* Reading and compaction ---------------------------------------------------------------------------------------- */

/* A segment may be damaged or gone since it was opened: that is a gap, as it would be in the next life. */
Result<void> NodeLog::scan_closed(const Closed &closed, const VisitEntry &visit)
{
	if (closed.damaged)
		return {};
	auto segment = Segment::open(closed.path);
	if (!segment && segment.error().code != ENOENT)
		return segment.error();
	const auto bytes = segment ? std::as_const(*segment).bytes() : std::span<const std::byte>();
	const auto head = SegmentHead::parse(bytes);
	const std::uint64_t number = number_of(closed.path).value_or(0);
	if (!head || head->number != number || head->first != closed.first) {
		if (closed.first < closed.next)
			miss(closed.path, {number, 0, closed.first, closed.next});
		return {};
	}
	for (const Missing &gap : gam::scan(bytes, *head, closed.next - 1, visit).missing)
		miss(closed.path, gap);
	return {};
}

/* Records that entries in @p path cannot be read, unless it is known. */
void NodeLog::miss(const std::filesystem::path &path, const Missing &gap)
{
	const std::scoped_lock guard(lock_);
	if (std::any_of(
		    missing_.begin(), missing_.end(), [&](const Missing &known) { return known.first == gap.first; }))
		return;
	missing_.push_back(gap);
	is_gap_untold_ = true;
	trouble_ = path.string() +
		   " is damaged or gone: the values of which only it tells are lost when this node ends; "
		   "write them again before, and find who changes files of the log";
}

std::vector<Missing> NodeLog::missing() const
{
	const std::scoped_lock guard(lock_);
	return missing_;
}

std::string NodeLog::trouble() const
{
	const std::scoped_lock guard(lock_);
	return trouble_;
}

Result<void> NodeLog::scan(const VisitEntry &visit)
{
	const std::scoped_lock maintenance(maintenance_);
	return scan_all(visit);
}

/* Scans all segments, under maintenance_. */
Result<void> NodeLog::scan_all(const VisitEntry &visit)
{
	std::unique_lock guard(lock_);
	const auto closed = closed_;
	const auto current = current_;
	const auto head = head_;
	const auto end = end_;
	guard.unlock();
	for (const Closed &segment : closed) {
		if (auto scanned = scan_closed(segment, visit); !scanned)
			return scanned;
	}
	if (current)
		(void)gam::scan(std::as_const(*current).bytes().first(end), head, 0, visit);
	return {};
}

Result<std::size_t> NodeLog::compact()
{
	const std::scoped_lock maintenance(maintenance_);
	std::unique_lock guard(lock_);
	if (error())
		return make_error(error(), "compacting " + options_.folder.string());
	const auto closed = closed_;
	guard.unlock();
	Result<std::size_t> copied = copy_newest(closed);
	guard.lock();
	/* Without room there is an error soon; others last. */
	if (!copied && copied.error().code != ENOSPC && !error())
		trouble_ = "the log grows, as it cannot be compacted: " + copied.error().message;
	return copied;
}

Result<std::size_t> NodeLog::copy_newest(const std::vector<Closed> &from)
{
	Newest newest;
	if (auto scanned = scan_all([&](const Entry &entry) { newest.add(entry); }); !scanned)
		return scanned.error();
	std::size_t copied = 0;
	for (const Closed &segment : from) {
		int error = 0;
		auto scanned = scan_closed(segment, [&](const Entry &entry) {
			if (error || !newest.has(entry))
				return;
			const std::scoped_lock guard(lock_);
			error = append_locked(entry, true);
			copied += entry.size();
		});
		if (!scanned)
			return scanned.error();
		if (!error)
			error = tell_gaps();
		if (!error) { /* else what the segment has is still needed */
			note_kept(segment.next);
			error = commit();
		}
		if (error)
			return make_error(error, "compacting " + options_.folder.string());
		if (auto removed = remove(segment); !removed)
			return removed.error();
	}
	return copied;
}

/* Begins a segment, whose head has all gaps, unless the newest head has: nothing else may tell of them soon. */
int NodeLog::tell_gaps()
{
	const std::scoped_lock guard(lock_);
	return is_gap_untold_ ? begin_segment(true) : 0;
}

/* Records that the log begins with sequence @p first: before the segment before it is removed, for good if committed.
 */
void NodeLog::note_kept(std::uint64_t first) noexcept
{
	const std::scoped_lock guard(lock_);
	kept_ = first;
	if (current_)
		current_->set_word(kept_at, kept_);
}

Result<void> NodeLog::remove(const Closed &closed)
{
	const std::scoped_lock guard(lock_);
	step();
	if (::unlink(closed.path.c_str()) && errno != ENOENT)
		return make_error(errno, closed.path.string());
	step();
	std::erase_if(closed_, [&](const Closed &other) { return other.path == closed.path; });
	return {};
}

std::size_t NodeLog::segments() const
{
	const std::scoped_lock guard(lock_);
	return closed_.size() + (current_ ? 1 : 0);
}

} // namespace prism::gam

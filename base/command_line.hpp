/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parser for the programs' command lines. CLI11 does the work, and names and texts are CLI11's, but this header does
 * not include CLI11, which takes seconds to compile: only command_line.cpp does.
 *
 * A command line belongs to one thread. Errors in the declaration of options, such as two of one name, are thrown as
 * exceptions of CLI11; errors in the user's line are returned by parse().
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI
{
class App;
class Option;
class Validator;
} // namespace CLI

namespace prism::cli
{

/** Reason to end the program before it runs: help, version or an error of usage. */
struct EarlyExit {
	int code = 0; /**< 0: help or version */
	std::string text;

	/** Prints the text, to the standard output, or to the standard error for an error. Returns the code; 1
	 * instead of 0 if printing fails. */
	[[nodiscard]] int print() const;
};

/** Makes an error of usage, which ends @p program with 2: "PROGRAM: TEXT", and a hint at its help. */
[[nodiscard]] EarlyExit usage_error(std::string_view program, std::string_view text);

/* Messages -------------------------------------------------------------------------------------------------------- */

/**
 * Prints @p text on the standard error, as "PROGRAM: TEXT". Escapes control characters, which may be a peer's, except
 * for new lines. A failure to print is ignored: the exit code tells as well. Any thread.
 */
void complain(std::string_view text);

/* The end of a program ------------------------------------------------------------------------------------------- */

/**
 * Makes a lost reader of an output (SIGPIPE) and a file that may not grow (SIGXFSZ) errors of the writing call, which
 * do not end the program: for servers and others that must end in order.
 */
void outlive_outputs() noexcept;

/**
 * Prints @p text on the standard output, for programs that block SIGINT and SIGTERM. While the output takes nothing, as
 * its reader stands still, such a signal ends the process. finish_output() reports failures.
 */
void print_or_end(std::string_view text);

/** Exit code of a program that has failed, and that has changed something, or may have. */
inline constexpr int changed = 6;

/** Tells that the program has changed something for good: a later failure does not end it with 1, but with 6. */
void note_change() noexcept;

/**
 * Returns the exit code for main() when the program has printed everything: @p code. If the standard output did not
 * take all of it, because a disk is full or a reader is gone, reports that, and turns 0 into 1. After note_change(),
 * that failure, and a code of 1, become 6, and a message says why: a script that tries again would change it twice.
 */
[[nodiscard]] int finish_output(int code = 0);

/** Runs a program that prints: returns finish_output() of the result of @p body; of 1 if that throws a
 * std::system_error, as fmt does when the output takes nothing. */
[[nodiscard]] int run_program(const std::function<int()> &body);

/* Checks of values ------------------------------------------------------------------------------------------------- */

/** One of the checks below, which are cheap to copy. */
class Check
{
protected:
	explicit Check(std::shared_ptr<const CLI::Validator> validator) : validator_(std::move(validator)) {}

private:
	friend class Option;
	std::shared_ptr<const CLI::Validator> validator_;
};

/** A number, from @p least to @p most; help shows its type. */
struct Range : Check {
	Range(int least, int most);
	Range(std::uint32_t least, std::uint32_t most);
	Range(std::uint64_t least, std::uint64_t most);
	Range(double least, double most);
};

/** A number of seconds: from 0 to 1,000,000. */
struct Seconds : Check {
	Seconds();
};

/** A number above 0. */
struct PositiveNumber : Check {
	PositiveNumber();
};

/** A number, 0 or above. */
struct NonNegativeNumber : Check {
	NonNegativeNumber();
};

/** A file that exists and is no folder. */
struct ExistingFile : Check {
	ExistingFile();
};

/** A value that is not empty; an unset shell variable leaves an empty one. */
struct NotEmpty : Check {
	NotEmpty();
};

/** A folder that exists. */
struct ExistingDirectory : Check {
	ExistingDirectory();
};

struct IgnoreCase {
};
inline constexpr IgnoreCase ignore_case;

/** One of the given values. */
struct IsMember : Check {
	IsMember(std::initializer_list<int> numbers);
	IsMember(std::initializer_list<const char *> words);
	IsMember(std::initializer_list<const char *> words, IgnoreCase /*unused*/);
	explicit IsMember(const std::vector<std::string> &words);

	/** Accepts the keys of a map. */
	template <typename Map>
	explicit IsMember(const Map &map) requires requires
	{
		map.begin()->first;
	} : IsMember(keys_of(map)) {}

private:
	template <typename Map>
	static std::vector<std::string> keys_of(const Map &map)
	{
		std::vector<std::string> keys;
		for (const auto &[key, value] : map)
			keys.push_back(key);
		return keys;
	}
};

/* Options ---------------------------------------------------------------------------------------------------------- */

/** An option of a command, which owns it: this is a handle, valid as long as the command line is there. */
class Option
{
public:
	/** Requires each of its values to pass @p check. */
	Option check(const Check &check) const;
	/** Does the same with a check of one's own: given a value, it returns the problem, or nothing. */
	Option check(const std::function<std::string(const std::string &)> &problem) const;
	/** Makes the option mandatory. */
	Option required() const;
	/** Makes both of them together an error. */
	Option excludes(const Option &other) const;
	/** Makes help show the present value of the variable. */
	Option capture_default_str() const;
	/** Lets a word hold several values, with this between them. */
	Option delimiter(char between) const;

private:
	friend class Command;
	explicit Option(CLI::Option *option) : option_(option) {}

	CLI::Option *option_;
};

/** A word for a value. */
template <typename Enum>
struct Choice {
	std::string word;
	Enum value;
};

/**
 * A command line or a subcommand of one: a handle, valid as long as the command line exists. Options write their
 * variables during parsing; these must exist until then.
 */
class Command
{
public:
	/**
	 * Adds an option with a value, or, if @p names has no dash, an argument that is known by its place. Numbers
	 * must be finite, and fit their type.
	 * @param names such as "-p,--port", without spaces, '=' and ':', which newer releases of CLI11 do not take:
	 *    otherwise std::invalid_argument is thrown
	 * @param target is left as it is if the option is not given. Its type is one of those that command_line.cpp
	 *    lists; the linker misses others.
	 */
	template <typename Target>
	Option add_option(const std::string &names, Target &target, const std::string &help = {});

	/** Adds an option without a value, which makes @p target true; or false, if its name begins with '!'. */
	Option add_flag(const std::string &names, bool &target, const std::string &help);
	/** Does the same, but sets @p target to the number of times that it was given, 0 if never. */
	Option add_flag(const std::string &names, int &target, const std::string &help);

	/** Adds an option whose value is one of the words of @p choices, and assigns that one's value to @p target. */
	template <typename Enum, typename Target>
	Option add_choice(const std::string &names, Target &target, const std::vector<Choice<Enum>> &choices,
		const std::string &help)
	{
		std::vector<std::string> words;
		std::vector<Enum> values;
		for (const Choice<Enum> &choice : choices) {
			words.push_back(choice.word);
			values.push_back(choice.value);
		}
		return add_word(
			names, words, [&target, values](std::size_t choice) { target = values[choice]; }, help);
	}

	Command add_subcommand(const std::string &name, const std::string &help);
	/** Requires the line to have this number of subcommands. */
	void require_subcommand(int number);
	/** Sets a function that is called after parsing the whole line, if it has this subcommand. */
	void callback(const std::function<void()> &action);
	/** Returns true if the line has this subcommand. */
	[[nodiscard]] bool parsed() const;
	/** Returns the number of times that the line has the option, or the argument, of this name. */
	[[nodiscard]] std::size_t count(const std::string &name) const;
	/** Sets the text at the end of help. */
	void footer(const std::string &text);

protected:
	explicit Command(CLI::App *app) : app_(app) {}
	[[nodiscard]] CLI::App &app() const { return *app_; }

private:
	/** @param choose is called with the index of the word in @p words */
	Option add_word(const std::string &names, const std::vector<std::string> &words,
		const std::function<void(std::size_t)> &choose, const std::string &help);

	CLI::App *app_;
};

/** The command line of a program, with -h and --help. */
class CommandLine : public Command
{
public:
	/**
	 * @param description the beginning of help
	 * @param program its name, for help; without it, the name by which the user has called it
	 */
	explicit CommandLine(const std::string &description, const std::string &program = {});
	~CommandLine();
	CommandLine(const CommandLine &) = delete;
	CommandLine &operator=(const CommandLine &) = delete;

	/** Adds -V and --version: @p program and PRISM's version. */
	void add_version(std::string_view program);
	/** Adds version and help with the same words, instead of CLI11's. */
	void add_help_and_version(std::string_view program);

	/**
	 * Adds an option whose value is a file that has more options, a line each, by the rules of TOML: their long
	 * names without dashes. The command line takes precedence. Errors name the file, the line and the option: a
	 * file that cannot be read or is no TOML, a name that is no option's or is there twice, a value that the option
	 * refuses.
	 */
	void add_config(const std::string &names, const std::string &help);

	/**
	 * Reads the line.
	 * @return nothing, or the reason to end the program. An error has CLI11's code and words.
	 */
	[[nodiscard]] std::optional<EarlyExit> parse(int argc, const char *const *argv);
	/** Does the same, but returns errors as usage_error() of @p program. */
	[[nodiscard]] std::optional<EarlyExit> parse(std::string_view program, int argc, const char *const *argv);

private:
	explicit CommandLine(std::unique_ptr<CLI::App> app);

	std::unique_ptr<CLI::App> owned_;
};

} // namespace prism::cli

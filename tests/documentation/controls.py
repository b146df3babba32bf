#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The controls of run_page.py: pages with one mistake each, which it must find, and pages without, which it must not."""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))


def fenced(*lines):
    return "\n".join(("```sh", *lines, "```", ""))


LATENCY = "build/bin/ib_prism_read_lat"

# name: (page, expected message; None if the page has no mistake)
PAGES = {
    "good.md": (fenced("build/bin/prism-run ibv_devices", "test -d docs"), None),
    "variables.md": (fenced("name=prism_lo", "build/bin/prism-run ibv_devinfo -d $name", "cd docs", "test -e semantics.md"), None),
    "server.md": (fenced(f"{LATENCY} -p 18900 &", f"{LATENCY} -p 18900 -n 100 127.0.0.1"), None),
    "killed.md": (fenced("sleep 100 &", "kill $!"), None),
    "installed.1": (".TH X 1\n.SH EXAMPLES\n.EX\nprism\\-run ibv_devices\n.EE\n", None),
    "printed.md": ("<!-- prints: ^to be read$ -->\n" + fenced("echo to be read"), None),
    "prepared.md": ("<!-- first: echo 1 >made -->\n" + fenced("grep 1 made"), None),
    "shown.md": ("<!-- shown: it would fail -->\n" + fenced("false"), None),
    "good.1": ('.TH X 1\n.SH EXAMPLES\n.\\" prints: a-b\n.EX\necho a\\-b\n.EE\n', None),
    "good.c": ("/* $ echo c */\n".replace(" */", "\n */"), None),
    "built_before.py": ("# $ ninja -C nowhere\n# $ true\n", None),
    "not_in_path.md": (fenced("prism-run ibv_devices"), "FAILED"),
    "pause.md": (fenced("{ sleep 1; touch made; } &", "test -e made"), "FAILED"),
    "program.md": (fenced("prism-rum ibv_devices"), "prism-rum"),
    "option.md": (fenced("build/bin/prism-run --no-such-option ibv_devices"), "FAILED"),
    "status.md": (fenced("false", "true"), "FAILED"),
    "pipe.md": (fenced("false | cat"), "FAILED"),
    "server_gone.md": (fenced(f"{LATENCY} --no-such-option &", f"{LATENCY} -n 100 127.0.0.1"), "FAILED"),
    "background.md": (fenced(f"{LATENCY} --no-such-option &"), "FAILED"),
    "background_later.md": (fenced(f"{LATENCY} --no-such-option &", "sleep 0.5"), "FAILED"),
    "or.md": (fenced("prism-rum x || echo none"), "FAILED"),
    "substituted.md": (fenced('echo "$(prism-rum x 2>/dev/null)"'), "FAILED"),
    "hidden.md": (fenced("prism-run --no-such-option || true"), "nobody would see"),
    "in_list.md": ("* text\n  ```sh\n  true\n  ```\n", "not seen"),
    "quoted.md": ("> ```sh\n> true\n> ```\n", "not seen"),
    "continued.c": ("/*\n * $ prism-run \\\n *   ibv_devices\n */\n", "one line"),
    "not_printed.md": ("<!-- prints: ^to be read$ -->\n" + fenced("echo something else"), "the output has no"),
    "slow.md": (fenced("sleep 30"), "out of time"),
    "bad.1": (".TH X 1\n.SH EXAMPLES\n.EX\nfalse\n.EE\n", "FAILED"),
    "bad.c": ("/*\n * $ false\n */\n", "FAILED"),
    "indented.md": ("text\n\n    prism-run ibv_devices\n", "outside of a block"),
    "other_fence.md": ("```\nbuild/bin/prism-run ibv_devices\n```\n", "outside of a block"),
    "bare.1": (".TH X 1\n.SH EXAMPLES\n.nf\nprism\\-run ibv_devices\n.fi\n", "outside of a block"),
    "dangling.md": ("<!-- shown: why -->\ntext\n\n" + fenced("true"), "without a block"),
    "reasonless.md": ("<!-- shown: -->\n" + fenced("true"), "says nothing"),
    "place.md": ("<!-- where: moon -->\n" + fenced("true"), "no such place"),
    "endless.md": ("```sh\ntrue\n", "without an end"),
}


def run(path, build):
    command = [sys.executable, os.path.join(HERE, "run_page.py"), "--build", build, "--seconds", "10", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, wanted) in PAGES.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            status, output = run(path, options.build)
            if status == 77:
                print(output, end="")
                return 77
            as_wanted = status == 0 if wanted is None else status == 1 and wanted in output
            print(f"{'ok  ' if as_wanted else 'FAIL'} {name}")
            if not as_wanted:
                failures += 1
                print(output)
    print(f"{len(PAGES)} pages, {failures} not judged as they should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

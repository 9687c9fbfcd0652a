"""The Scrapy command ``scrapy dedup SUBCOMMAND``.

The common parts of all subcommands are in :mod:`.subcommands`. Scrapy imports this module, and in
this repository the whole package, for every command: neither may have slow imports at its top.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from .output import print_notice
from .strict_arguments import StrictParser, suggest_word
from .subcommands import ALIASES, EXIT_CODES, GOING, USES, Exit, find_subcommand, list_names

if TYPE_CHECKING:
    from .subcommands import Subcommand


# Errors of a full or faulty disk to which the output is written.
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))


class _HelpFormatter(argparse.RawDescriptionHelpFormatter, ScrapyHelpFormatter):
    """Keeps the lines of the list of subcommands."""


class Command(ScrapyCommand):
    """Finds the subcommand, reads its arguments, runs it, and sets the exit code."""

    requires_crawler_process = False

    _subcommand: Subcommand

    def syntax(self) -> str:
        """The form of the command."""
        return "<subcommand> [options]"

    def short_desc(self) -> str:
        """The line in the list of all Scrapy commands."""
        return "Inspect and manage the index of near-duplicates"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Read the subcommand and leave the rest to its own parser."""
        super().add_options(parser)
        parser.formatter_class = _HelpFormatter
        listing = "\n".join(f"  {name:<13} {find_subcommand(name).HELP}" for name in list_names())
        parser.epilog = (
            f"Subcommands\n===========\n{listing}\n\n"
            f'Use "scrapy dedup <subcommand> -h" for its options.\n\n{EXIT_CODES}'
        )
        parser.add_argument("subcommand", nargs="?", help=argparse.SUPPRESS)
        parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the subcommand's arguments into `opts`, beside Scrapy's own options."""
        if opts.subcommand is None:
            if args:
                _exit_with(
                    f"name a subcommand before {args[0]!r}: {', '.join(list_names())}", Exit.USAGE
                )
            raise UsageError
        name, defaults = ALIASES.get(opts.subcommand, (opts.subcommand, {}))
        if name not in list_names():
            hint = suggest_word(name, list_names())
            _exit_with(f"there is no subcommand {name!r}; {hint}", Exit.USAGE)
        if name != opts.subcommand:
            print_notice(
                f"{opts.subcommand!r} is deprecated and will be removed in {GOING}: "
                f"use {USES.get(opts.subcommand, name)!r} (-h)"
            )
        self._subcommand = find_subcommand(name)
        parser = StrictParser(
            prog=f"scrapy dedup {name}",
            description=self._subcommand.__doc__,
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self._subcommand.add_arguments(parser)
        parser.set_defaults(**defaults)
        super().add_options(parser)
        # Options that stand before the subcommand have been left over in `args`.
        parser.parse_strictly(args + opts.arguments, opts)
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the subcommand. An error is one line and an exit code, Ctrl-C only a code."""
        try:
            self._run(opts)
        except KeyboardInterrupt:
            raise SystemExit(int(Exit.INTERRUPTED)) from None

    def _run(self, opts: argparse.Namespace) -> None:
        from ..dedup.errors import ConfigError, DedupError, InputError, MissingExtra

        assert self.settings is not None
        if sys.stdout is None:  # the caller has closed it: the exit code still counts
            sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # where it is not UTF-8
        try:
            self.exitcode = self._subcommand.run(opts, self.settings)
            sys.stdout.flush()
        except (ConfigError, InputError, MissingExtra) as error:
            _exit_with(str(error), Exit.USAGE)
        except DedupError as error:
            _exit_with(str(error), Exit.SERVER)
        except BrokenPipeError:  # the reader, such as `head`, has ended
            _drop_output()
        except OSError as error:
            if error.errno in _FULL:
                _drop_output()
                _exit_with(f"cannot write: {error.strerror}", Exit.USAGE)
            if error.filename is None:
                raise
            # A folder that is another user's, or a name that is too long.
            _exit_with(f"cannot use {str(error.filename)!r}: {error.strerror}", Exit.USAGE)


def _drop_output() -> None:
    """Discard further output, including that at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with(message: str, code: Exit) -> None:
    print_notice(message)
    raise SystemExit(int(code))

import { dirname, join } from "node:path";
import { EXIT, TeamError } from "../../errors.ts";
import { readText } from "../../os/files/fs.ts";
import type { Io } from "../../terminal/io.ts";
import { visible } from "../../terminal/output.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { Command, LoadCommand } from "../command.ts";
import { liveNames } from "./live-names.ts";
import { bashReply, readBashLine, unquoted } from "./shell-words.ts";
import type { CompletionTable } from "./table.ts";
import { type Candidate, type Wanted, wantedAt } from "./wanted.ts";

type LoadCommands = () => Promise<readonly Command[]>;

/** Runs a hidden subcommand of `teams completion`. @param words its name, `words` or `table`, and its arguments */
export function answerShell(
  io: Io,
  [name, ...words]: readonly string[],
  commands: Readonly<Record<string, LoadCommand>>,
): Promise<number> {
  const load = () => Promise.all(Object.values(commands).map(async (one) => (await one()).command));
  return name === "table" ? printTable(io, load) : printWords(io, words, load);
}

/**
 * Runs the hidden command that the completion scripts call: `teams completion words <shell> …`.
 *
 * - `bash <word breaks> <line up to the cursor>`
 * - `zsh|fish <word>…`, the words of the line up to the cursor, without `teams`
 *
 * The first line of its output is the kind of completion: `words`, `file` or `directory`. Words follow, one a line, each with a
 * tab and its explanation. For bash they are quoted and have no explanation; zsh and fish quote them.
 */
async function printWords(io: Io, words: readonly string[], load: LoadCommands): Promise<number> {
  const [shell = "", ...given] = words;
  if (shell === "bash") {
    const [breaks = "", line = ""] = given;
    const { words: before, last } = readBashLine(line, breaks);
    const wanted = wantedAt(await tableOf(io, load), withoutProgram(before), last.value);
    const found = await candidates(io, wanted, last.value);
    print(
      io,
      wanted,
      found.flatMap(({ word }) => bashReply(word, last) ?? []),
    );
    return EXIT.done;
  }
  const last = unquoted(given.at(-1) ?? "");
  const wanted = wantedAt(await tableOf(io, load), given.slice(0, -1), last);
  const found = await candidates(io, wanted, last);
  print(
    io,
    wanted,
    found.map(({ word, about }) => `${word}\t${shortened(visible(about), MAX_ABOUT)}`),
  );
  return EXIT.done;
}

/** Maximum characters of an explanation. */
const MAX_ABOUT = 60;

function withoutProgram(words: readonly string[]): readonly string[] {
  return words.slice(1 + words.findIndex((word) => !/^\w+=/.test(word)));
}

async function candidates(io: Io, wanted: Wanted, last: string): Promise<readonly Candidate[]> {
  const { live, prefix, team, isAfterDashes } = wanted;
  const typed = last.slice(prefix.length);
  const names = live === undefined ? [] : await readNames(io, live, { team, last: typed });
  const usable = names.filter(({ word }) => isAfterDashes || prefix !== "" || !word.startsWith("-"));
  return [...wanted.words, ...usable].flatMap(({ word, about }) =>
    word.startsWith(typed) ? [{ word: `${prefix}${word}`, about }] : [],
  );
}

/** Returns no names for a team that cannot be read: an error would be drawn into the line that the user types. */
async function readNames(...args: Parameters<typeof namesFor>): Promise<readonly Candidate[]> {
  try {
    return await namesFor(...args);
  } catch (error) {
    if (error instanceof TeamError) return [];
    throw error;
  }
}

function namesFor(io: Io, live: NonNullable<Wanted["live"]>, at: { team: string | undefined; last: string }) {
  return liveNames(live, io.env, at);
}

function print(io: Io, { path, live }: Wanted, lines: readonly string[]): void {
  const kind = path !== undefined && (live === undefined || lines.length === 0) ? path : "words";
  io.out([kind, ...lines].map((text) => `${text}\n`).join(""));
}

/** The table as the build wrote it, next to the program. Run from its source, the program reads all its commands instead. */
async function tableOf({ program }: Io, load: LoadCommands): Promise<CompletionTable> {
  const text = readText(join(dirname(program[1] ?? "."), TABLE_FILE));
  if (text !== undefined) return JSON.parse(text) as CompletionTable;
  const { completionTable } = await import("./table.ts");
  return completionTable(await load());
}

const TABLE_FILE = "completion.json";

/** Prints the table for the build, which writes it next to the program. */
async function printTable(io: Io, load: LoadCommands): Promise<number> {
  const { completionTable } = await import("./table.ts");
  io.out(`${JSON.stringify(completionTable(await load()))}\n`);
  return EXIT.done;
}

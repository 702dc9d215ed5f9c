import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROWS } from "./check-program.ts";
import { MIXED } from "./mixed-team.ts";
import { PROGRAMS } from "./programs.ts";

export interface Options {
  readonly programs: readonly string[];
  readonly rows: readonly string[];
  readonly cache: string;
  readonly write: string | undefined;
  /** Path for the picture of the mixed team. */
  readonly picture: string | undefined;
  readonly keep: boolean;
  /** Skips rows that have a result in the cache. */
  readonly missing: boolean;
  /** A factor for all limits. */
  readonly patience: number;
}

/** The programs, and the mixed team. */
const NAMES = [...PROGRAMS.map(({ id }) => id), MIXED];

export const USAGE = `Usage: scripts/interop/run [options]

Checks teams with the real programs that can be teammates: without a network, as an unprivileged user, with a model
server on loopback, and with a private home and tmux server for each. Prints a table.

  --only NAME[,NAME]  check some of: ${NAMES.join(" ")}
  --rows ROW[,ROW]    check only these rows: ${ROWS.map(({ id }) => id).join(" ")}
  --missing           skip the rows for which the cache has a result for this version, unless they failed for no
                      known reason: to continue a run that was cut off
  --cache DIRECTORY   keep the installed programs, and the last result of each row and version, here (default:
                      $TMPDIR/teams-interop-cache)
  --write FILE.md     write the table into the marked section of this file; a check that this run leaves out keeps its
                      result in the cache, or else in that table; a cell without a result is empty
  --picture FILE.svg  save a picture of the mixed team at work
  --patience NUMBER   multiply all time limits, on a machine with other work
  --keep              keep the homes of the teams, with a failed-ROW.txt for each failed row
  -h, --help          show this text

It needs Linux, tmux, git, and root or user namespaces. It exits with 1 if a row failed without a known reason, or was not checked.`;

/** @returns undefined for --help. @throws Error for invalid options */
export function optionsOf(args: readonly string[], from: string): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      rows: { type: "string" },
      cache: { type: "string" },
      write: { type: "string" },
      picture: { type: "string" },
      patience: { type: "string", default: "1" },
      keep: { type: "boolean", default: false },
      missing: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const patience = Number(values.patience);
  if (!(patience >= 1)) throw new Error("--patience must be a number of at least 1; nothing was run.");
  const cache = resolve(from, values.cache ?? join(tmpdir(), "teams-interop-cache"));
  mkdirSync(cache, { recursive: true });
  return {
    programs: listed("program", values.only, NAMES),
    rows:
      values.rows === undefined
        ? []
        : listed(
            "row",
            values.rows,
            ROWS.map(({ id }) => id),
          ),
    cache,
    write: values.write === undefined ? undefined : resolve(from, values.write),
    picture: values.picture === undefined ? undefined : resolve(from, values.picture),
    keep: values.keep,
    missing: values.missing,
    patience,
  };
}

function listed(what: string, text: string | undefined, known: readonly string[]): readonly string[] {
  const names = text?.split(",") ?? known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`Unknown ${what} ${unknown}; nothing was run. Known: ${known.join(" ")}`);
  return names;
}

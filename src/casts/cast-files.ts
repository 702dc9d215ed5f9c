import { join } from "node:path";
import { systemCode, TeamError } from "../errors.ts";
import { ensureDir, isDirectory, isOwnEntry, listDir, writeNew } from "../os/files/fs.ts";
import { agentFileName } from "../protocol/paths.ts";
import { type CastHeader, headerLine } from "./cast-format.ts";

const SUFFIX = ".cast";

/** A recording on disk. */
export interface CastFile {
  readonly path: string;
  /** The agent's name as a file name. */
  readonly stem: string;
  /** 1 for the first start of the agent, 2 for its next one, … */
  readonly part: number;
}

/**
 * Creates the file of a new recording, 0600, in a directory that is created 0700. Each start of an agent gets a separate file:
 * `ada.cast`, `ada.2.cast`, ….
 * @throws TeamError PERMISSION_DENIED; a system error if the file cannot be written
 */
export function createCast(directory: string, agent: string, header: CastHeader): string {
  requireCastDirectory(directory);
  const stem = agentFileName(agent);
  const line = `${headerLine(header)}\n`;
  for (let part = lastPart(directory, stem) + 1; ; part += 1) {
    const path = join(directory, castName(stem, part));
    try {
      writeNew(path, line, undefined, false);
      return path;
    } catch (error) {
      // Another start of the same name was faster.
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

/**
 * Creates the directory of recordings if it is missing.
 * @throws TeamError PERMISSION_DENIED if it belongs to another user; a system error
 */
export function requireCastDirectory(directory: string): void {
  ensureDir(directory);
  if (isOwnEntry(directory)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${directory} belongs to another user; nothing is recorded there.`,
    {
      hint: "Choose a directory of your own: --rec=<directory>",
    },
  );
}

function lastPart(directory: string, stem: string): number {
  return castsIn(directory).reduce(
    (last, cast) => (cast.stem === stem ? Math.max(last, cast.part) : last),
    0,
  );
}

function castName(stem: string, part: number): string {
  return part === 1 ? `${stem}${SUFFIX}` : `${stem}.${part}${SUFFIX}`;
}

/** Returns the recordings in a directory, by agent and part; none if it is missing. */
export function castsIn(directory: string): readonly CastFile[] {
  if (!isDirectory(directory)) return [];
  return listDir(directory)
    .flatMap((name) => {
      // Encoded names of agents have no dot.
      const [, stem, part = "1"] = /^([^.]+)(?:\.([1-9]\d{0,5}))?\.cast$/.exec(name) ?? [];
      return stem === undefined ? [] : [{ path: join(directory, name), stem, part: Number(part) }];
    })
    .sort((a, b) => (a.stem === b.stem ? a.part - b.part : a.stem < b.stem ? -1 : 1));
}

import { TeamError } from "../../errors.ts";

/** An answer of a program of `teams.notify`. */
export interface ProgramAnswer {
  readonly token: string;
  readonly approve: boolean;
  readonly note?: string;
}

/** Maximum characters of a note. */
const MAX_NOTE = 10_000;

/** Reads a line as an answer. @throws TeamError INVALID_INPUT if it is not an answer */
export function readProgramAnswer(line: string | undefined): ProgramAnswer {
  if (line === undefined) throw refused("The line is longer than 64 KB");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw refused("The line is not JSON");
  }
  if (typeof value !== "object" || value === null) throw refused("The line is not an object");
  const { token, approve, note } = value as Readonly<Record<string, unknown>>;
  if (typeof token !== "string") throw refused("An answer needs the token of its request");
  if (typeof approve !== "boolean") throw refused("An answer needs approve: true or false");
  if (note === undefined || note === null) return { token, approve };
  if (typeof note !== "string") throw refused("A note must be a string");
  if (note.length > MAX_NOTE) throw refused(`A note can have at most ${MAX_NOTE} characters`);
  return { token, approve, note };
}

function refused(why: string): TeamError {
  return new TeamError("INVALID_INPUT", `${why}; nothing was answered.`, {
    hint: 'Write one JSON object per line: {"token":"…","approve":true,"note":"…"}',
  });
}

import { TeamError } from "../errors.ts";

/** The lead's name, which peers rely on (interop.md). */
export const LEAD_NAME = "team-lead";
/** Sender of notifications that come from no member: an ending, a budget. */
export const SYSTEM_NAME = "system";
/** Sender of a person's words to an agent: a line typed in its pane, an answer. */
export const PERSON_NAME = "user";
/** Names that no spawned member may have (protocol.md section 1). */
const RESERVED_NAMES: readonly string[] = [LEAD_NAME, SYSTEM_NAME, PERSON_NAME];
/** Maximum length of a team's or an agent's name, in characters. */
const MAX_NAME = 64;

declare const brand: unique symbol;
type Brand<B extends string> = string & { readonly [brand]: B };
/** A team's name in the form that is used in directories and ids. */
export type TeamDir = Brand<"TeamDir">;
/** A checked member's name, spelled as the user wrote it. */
type AgentName = Brand<"AgentName">;
/** `<name>@<team>`. */
type AgentId = Brand<"AgentId">;

/**
 * Returns the directory form of a team's name: lower case, with `-` for every character outside `[A-Za-z0-9]`. The composition of letters does
 * not count: people type them composed, and macOS lists them decomposed.
 * @throws TeamError INVALID_NAME if the name has no ASCII letter or digit, or more than 64 characters
 */
export function teamDir(given: string): TeamDir {
  const name = composed(given);
  if ([...name].length > MAX_NAME || !/[A-Za-z0-9]/.test(name)) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(given)} cannot be a team's name.`, {
      hint: `A team's name has an ASCII letter or digit and at most ${MAX_NAME} characters.`,
    });
  }
  return name.replace(/[^A-Za-z0-9]/gu, "-").toLowerCase() as TeamDir;
}

/** Like {@link teamDir}, but returns undefined if no team can have the name. */
export function possibleTeamDir(name: string): TeamDir | undefined {
  try {
    return teamDir(name);
  } catch (error) {
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

/** Returns whether a run has probably generated this name, because the user gave none. */
export function isGeneratedTeamName(name: string): boolean {
  return /^run-[0-9a-f]{4}$/.test(name);
}

/** Returns whether {@link teamDir} can produce this name. */
export function isOwnTeamDir(name: string): name is TeamDir {
  return /[a-z0-9]/.test(name) && name.length <= MAX_NAME && /^[a-z0-9-]+$/.test(name);
}

/**
 * Returns whether a directory of this name can be a team's. Other programs also use capitals, underscores and letters of other
 * alphabets; other characters could have a meaning in a format of tmux.
 */
export function isTeamDir(name: string): name is TeamDir {
  if (isOwnTeamDir(name)) return true;
  return [...name].length <= MAX_NAME && new RegExp(TEAM_DIR, "u").test(name);
}

/** Compares two names of teams: they are the same if they have the same directory form, or if {@link sameName} says so. */
export function sameTeamName(a: string, b: string): boolean {
  if (sameName(a, b)) return true;
  // All letters outside ASCII have the same directory form.
  const dir = PLAIN.test(a) && PLAIN.test(b) ? possibleTeamDir(a) : undefined;
  return dir !== undefined && dir === possibleTeamDir(b);
}

/**
 * Checks a member's name: any Unicode text without `@`, control characters and invisible characters (zero-width and
 * bidirectional ones). Invisible characters could make two names look alike, or reverse the text around a name.
 * @throws TeamError INVALID_NAME, which names the broken rule
 */
export function agentName(name: string): AgentName {
  const problem = nameProblem(name);
  if (problem !== undefined) {
    throw new TeamError("INVALID_NAME", `${spelled(name)} cannot be a member's name: it ${problem}.`, {
      hint: `Use up to ${MAX_NAME} visible characters without @.`,
    });
  }
  return name as AgentName;
}

/**
 * Checks the name of a new member: as {@link agentName}, and not a reserved name.
 * @throws TeamError INVALID_NAME
 */
export function newAgentName(name: string): AgentName {
  const checked = agentName(name);
  if (RESERVED_NAMES.some((reserved) => sameName(reserved, name))) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(name)} is a reserved name.`, {
      hint: `${RESERVED_NAMES.join(", ")} are reserved for the lead, the system and the user; choose another name.`,
    });
  }
  return checked;
}

/*
 * The patterns below are strings: V8 checks each regular expression literal when it reads a file, and a Unicode property
 * costs every cold command up to a millisecond. A string is compiled when its function runs.
 */

/** A name of letters, digits, `-` and `_` that has a letter or digit. */
const TEAM_DIR = "^(?=.*[\\p{L}\\p{N}])(?!.*\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{M}\\p{N}_-]+$";
const CONTROL = "[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]";
const INVISIBLE = "[\\p{Cf}\\p{Default_Ignorable_Code_Point}]";
const TO_ESCAPE = "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]";
const EMOJI_MODIFIERS = "[\\uFE0E\\uFE0F\\p{Emoji_Modifier}]*";
const PICTOGRAPH = `\\p{Extended_Pictographic}${EMOJI_MODIFIERS}`;
/** Emoji that contain invisible characters: joined (👩‍💻), with a variation selector (❤️), a keycap (1️⃣). */
const EMOJI = `${PICTOGRAPH}(?:\\u200D${PICTOGRAPH})*|[0-9#*]\\uFE0F\\u20E3`;

function nameProblem(name: string): string | undefined {
  if (name.trim() === "") return "is empty";
  if ([...name].length > MAX_NAME) return `has more than ${MAX_NAME} characters`;
  if (new RegExp(CONTROL, "u").test(name)) return "has control characters";
  if (hasInvisible(name)) return "has invisible characters";
  return name.includes("@") ? "has an @" : undefined;
}

/** Returns whether the name has invisible characters outside of emoji. */
function hasInvisible(name: string): boolean {
  return new RegExp(INVISIBLE, "u").test(name.replace(new RegExp(EMOJI, "gu"), ""));
}

/** Returns a refused name as JSON, with control and invisible characters escaped. */
function spelled(name: string): string {
  return JSON.stringify(name).replace(
    new RegExp(TO_ESCAPE, "gu"),
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Compares two names, ignoring case and Unicode composition (protocol.md section 2). */
export function sameName(a: string, b: string): boolean {
  return a === b || foldName(a) === foldName(b);
}

const PLAIN = /^[ -~]*$/;

/** Returns the form of a name for comparisons. */
export function foldName(name: string): string {
  return composed(name).toLowerCase();
}

/** A plain name, as nearly all are, needs no tables of Unicode: a sender compares it with each member. */
function composed(name: string): string {
  return PLAIN.test(name) ? name : name.normalize("NFC");
}

export function agentId(name: AgentName | typeof LEAD_NAME, team: TeamDir): AgentId {
  return `${name}@${team}` as AgentId;
}

/** Splits `name` or `name@team` at the first `@`; a name has none. */
export function splitAddress(address: string): { readonly name: string; readonly team?: string } {
  const at = address.indexOf("@");
  return at < 0 ? { name: address } : { name: address.slice(0, at), team: address.slice(at + 1) };
}

/**
 * Returns the first of `name`, `name-2`, `name-3`, … that is not taken (protocol.md section 2). A long name is shortened to
 * make room for its number.
 */
export function freeName(name: string, taken: Iterable<string>): string {
  const folded = new Set([...taken].map(foldName));
  for (let n = 1; ; n += 1) {
    const free = n === 1 ? name : numbered(name, n);
    if (!folded.has(foldName(free))) return free;
  }
}

function numbered(name: string, n: number): string {
  const end = `-${n}`;
  return `${cut(name, MAX_NAME - end.length)}${end}`;
}

/** Cuts between grapheme clusters: part of an emoji could be an invisible character. */
function cut(name: string, max: number): string {
  if ([...name].length <= max) return name;
  let kept = "";
  for (const { segment } of new Intl.Segmenter("en").segment(name)) {
    if ([...kept].length + [...segment].length > max) break;
    kept += segment;
  }
  return kept;
}

/** The key of a member's metadata for the session id of its conversation. Without a schema: a starting agent reads it. */
export const SESSION_KEY = "_session";
/** The key of a team's metadata for its former names. */
export const FORMER_NAMES_KEY = "_formerNames";

/** The ids that can be file names; a record of another program may contain anything. */
export const SESSION_PATTERN = "[\\w-]{1,128}";

export function isSessionId(id: unknown): id is string {
  return typeof id === "string" && new RegExp(`^${SESSION_PATTERN}$`).test(id);
}

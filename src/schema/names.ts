import { TeamError } from "../errors.ts";

/** The lead's name, the same in all programs (interop.md). */
export const LEAD_NAME = "team-lead";
/** Sender of notifications that come from no member: an end, a budget. */
export const SYSTEM_NAME = "system";
/** Sender of a person's text to an agent: typed in its pane, or an answer. */
export const PERSON_NAME = "user";
/** Names that no spawned member may have (protocol.md section 1). */
const RESERVED_NAMES: readonly string[] = [LEAD_NAME, SYSTEM_NAME, PERSON_NAME];
/** Longest name of a team or an agent, in characters. */
const MAX_NAME = 64;

declare const brand: unique symbol;
type Brand<B extends string> = string & { readonly [brand]: B };
/** A team's name in the form of directories and ids. */
export type TeamDir = Brand<"TeamDir">;
/** A member's name as the user wrote it, validated. */
type AgentName = Brand<"AgentName">;
/** `<name>@<team>`. */
type AgentId = Brand<"AgentId">;

/**
 * Returns the directory form of a team's name: lower case, with `-` for every character outside `[A-Za-z0-9]`.
 * @throws TeamError INVALID_NAME without an ASCII letter or digit, or with more than 64 characters.
 */
export function teamDir(name: string): TeamDir {
  if ([...name].length > MAX_NAME || !/[A-Za-z0-9]/.test(name)) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(name)} cannot be a team's name.`, {
      hint: `Use at most ${MAX_NAME} characters, with at least one ASCII letter or digit.`,
    });
  }
  return name.replace(/[^A-Za-z0-9]/gu, "-").toLowerCase() as TeamDir;
}

/** True if {@link teamDir} could return this name. */
export function isTeamDir(name: string): name is TeamDir {
  return /[a-z0-9]/.test(name) && name.length <= MAX_NAME && /^[a-z0-9-]+$/.test(name);
}

/**
 * Validates a member's name: any Unicode without `@`, control characters and invisible characters (zero-width and
 * bidirectional ones), so that two names never look the same, and no name changes the direction of the text around it.
 * @throws TeamError INVALID_NAME with the rule that it breaks
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
 * Validates the name of a new member: like {@link agentName}, and not reserved.
 * @throws TeamError INVALID_NAME
 */
export function newAgentName(name: string): AgentName {
  const checked = agentName(name);
  if (RESERVED_NAMES.some((reserved) => sameName(reserved, name))) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(name)} is a reserved name.`, {
      hint: `Choose another name; ${RESERVED_NAMES.join(", ")} are reserved.`,
    });
  }
  return checked;
}

function nameProblem(name: string): string | undefined {
  if (name.trim() === "") return "is empty";
  if ([...name].length > MAX_NAME) return `has more than ${MAX_NAME} characters`;
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return "has control characters";
  if (hasInvisible(name)) return "has invisible characters";
  return name.includes("@") ? "has an @" : undefined;
}

/** The patterns are inside the function, since compiling them would add two milliseconds to every process start. */
function hasInvisible(name: string): boolean {
  // Allows emoji whose parts are joined (👩‍💻), coloured or framed (❤️, 1️⃣) by invisible characters.
  const emoji =
    /\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]*(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]*)*|[0-9#*]\uFE0F\u20E3/gu;
  return /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(name.replace(emoji, ""));
}

/** Formats a refused name as JSON, with escapes for characters that a terminal would hide or interpret. */
function spelled(name: string): string {
  return JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** True if two names are the same, ignoring case and Unicode composition (protocol.md section 2). */
export function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}

/** Returns the form in which names are compared. */
export function foldName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

export function agentId(name: AgentName | typeof LEAD_NAME, team: TeamDir): AgentId {
  return `${name}@${team}` as AgentId;
}

/** Splits `name` or `name@team` at the first `@`, which a name cannot contain. */
export function splitAddress(address: string): { readonly name: string; readonly team?: string } {
  const at = address.indexOf("@");
  return at < 0 ? { name: address } : { name: address.slice(0, at), team: address.slice(at + 1) };
}

/**
 * Returns the first of `name`, `name-2`, `name-3`, … that is not taken (protocol.md section 2). A long name is shortened
 * for its number, so that it stays valid.
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
  return `${shorten(name, MAX_NAME - end.length)}${end}`;
}

/** Shortens a name between grapheme clusters: half an emoji would leave invisible characters. */
function shorten(name: string, maxLength: number): string {
  if ([...name].length <= maxLength) return name;
  let kept = "";
  for (const { segment } of new Intl.Segmenter("en").segment(name)) {
    if ([...kept].length + [...segment].length > maxLength) break;
    kept += segment;
  }
  return kept;
}

import { TeamError } from "../errors.ts";

/** The lead's name: peers know it by no other (interop.md). */
export const LEAD_NAME = "team-lead";
/** Who tells of what no member says: an end, a budget. */
export const SYSTEM_NAME = "system";
/** Who a person's words to an agent are from: what is typed in its pane, an answer. */
export const PERSON_NAME = "user";
/** Names that no spawned member may have (protocol.md section 1). */
const RESERVED_NAMES: readonly string[] = [LEAD_NAME, SYSTEM_NAME, PERSON_NAME];
/** Longest name of a team or an agent, in characters. */
const MAX_NAME = 64;

declare const brand: unique symbol;
type Brand<B extends string> = string & { readonly [brand]: B };
/** A team's name in the form that directories and ids hold. */
export type TeamDir = Brand<"TeamDir">;
/** A member's name as its user wrote it, checked. */
type AgentName = Brand<"AgentName">;
/** `<name>@<team>`. */
type AgentId = Brand<"AgentId">;

/**
 * The directory form of a team's name: every character outside `[A-Za-z0-9]` as `-`, lower case.
 * @throws TeamError INVALID_NAME without an ASCII letter or digit, or with more than 64 characters.
 */
export function teamDir(name: string): TeamDir {
  if ([...name].length > MAX_NAME || !/[A-Za-z0-9]/.test(name)) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(name)} cannot be a team's name.`, {
      hint: `A team's name has an ASCII letter or digit and at most ${MAX_NAME} characters.`,
    });
  }
  return name.replace(/[^A-Za-z0-9]/gu, "-").toLowerCase() as TeamDir;
}

/** Whether {@link teamDir} could have made this name. */
export function isTeamDir(name: string): name is TeamDir {
  return /[a-z0-9]/.test(name) && name.length <= MAX_NAME && /^[a-z0-9-]+$/.test(name);
}

/**
 * A name that a member may have: any Unicode without `@`, control characters and what nobody sees (zero-width and
 * bidirectional ones), so that two names never look alike and none turns the text around it.
 * @throws TeamError INVALID_NAME, saying which rule it breaks.
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
 * A name for somebody who is about to be spawned: as {@link agentName}, and not a reserved one.
 * @throws TeamError INVALID_NAME
 */
export function newAgentName(name: string): AgentName {
  const checked = agentName(name);
  if (RESERVED_NAMES.some((reserved) => sameName(reserved, name))) {
    throw new TeamError("INVALID_NAME", `${JSON.stringify(name)} is a reserved name.`, {
      hint: `${RESERVED_NAMES.join(", ")} have a meaning of their own; choose another name.`,
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

/** The patterns stand in here: to build them takes every start of a process that has none to check two milliseconds. */
function hasInvisible(name: string): boolean {
  // Pictures that invisible characters join (👩‍💻), colour or number (❤️, 1️⃣) are seen as one.
  const emoji =
    /\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]*(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]*)*|[0-9#*]\uFE0F\u20E3/gu;
  return /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(name.replace(emoji, ""));
}

/** A refused name as JSON, with what a terminal would hide or obey written out. */
function spelled(name: string): string {
  return JSON.stringify(name).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Whether two names are one: comparison ignores case and Unicode composition (protocol.md section 2). */
export function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}

/** The form in which names are compared. */
export function foldName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

export function agentId(name: AgentName | typeof LEAD_NAME, team: TeamDir): AgentId {
  return `${name}@${team}` as AgentId;
}

/** Splits `name` or `name@team`; a name has no `@`, so the first one parts them. */
export function splitAddress(address: string): { readonly name: string; readonly team?: string } {
  const at = address.indexOf("@");
  return at < 0 ? { name: address } : { name: address.slice(0, at), team: address.slice(at + 1) };
}

/**
 * First free of `name`, `name-2`, `name-3`, … among names that are taken (protocol.md section 2). A long name is cut for its
 * number, so that it stays one that the team or the member may have.
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

/** Cut between what is seen as one: half an emoji would be invisible characters. */
function cut(name: string, most: number): string {
  if ([...name].length <= most) return name;
  let kept = "";
  for (const { segment } of new Intl.Segmenter("en").segment(name)) {
    if ([...kept].length + [...segment].length > most) break;
    kept += segment;
  }
  return kept;
}

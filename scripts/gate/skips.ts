/** Tests that may be skipped in CI: `test/skips.json`. */
import { mayMount } from "../../test/support/files/may-mount.ts";
import { readList } from "./read-list.ts";

export interface AllowedSkip {
  /** File and name, as the last lines of `scripts/test` name a test; a file or a group of tests covers all its tests. */
  readonly test: string;
  readonly reason: string;
  /** Users with this ability must run the test. */
  readonly unless?: Ability;
}

/** Abilities of a user: to act as root, or to mount a disk. */
const ABILITIES = { root: () => process.getuid?.() === 0, mounts: mayMount };
export type Ability = keyof typeof ABILITIES;

/** Reads the allowed skips. @throws Error if the file cannot be read or is not a list of them */
export function readSkips(path: string): readonly AllowedSkip[] {
  return readList(path, isSkip, '{"test", "reason", "unless": "root" or "mounts"}');
}

function isSkip(skip: unknown): skip is AllowedSkip {
  if (typeof skip !== "object" || skip === null) return false;
  const { test, reason, unless = "root" } = skip as Record<string, unknown>;
  const isKnown = typeof unless === "string" && Object.hasOwn(ABILITIES, unless);
  return typeof test === "string" && typeof reason === "string" && reason !== "" && isKnown;
}

/** Returns the abilities of this user. */
export function ownAbilities(): ReadonlySet<Ability> {
  return new Set((["root", "mounts"] as const).filter((ability) => ABILITIES[ability]()));
}

/**
 * Returns the problems with the skipped tests of a run in CI, where two machines must not run two different suites.
 * @param all the titles of all tests
 * @param abilities of this user
 */
export function skipFlaws(
  skipped: readonly string[],
  allowed: readonly AllowedSkip[],
  all: ReadonlySet<string>,
  abilities: ReadonlySet<Ability>,
): readonly string[] {
  const here = allowed.filter(({ unless }) => unless === undefined || !abilities.has(unless));
  const unlisted = skipped.filter((title) => !here.some((entry) => covers(entry, title)));
  const unknown = allowed.filter((entry) => ![...all].some((title) => covers(entry, title)));
  return [
    ...unlisted.map((title) => `not in test/skips.json for this user, but skipped: ${title}`),
    ...unknown.map(({ test }) => `skips: no test has this name: ${test}`),
  ];
}

function covers({ test }: AllowedSkip, title: string): boolean {
  return title === test || title.startsWith(`${test} > `);
}

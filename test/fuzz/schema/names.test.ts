import { basename, dirname, join, relative, resolve, sep } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { TeamError } from "../../../src/errors.ts";
import { agentFileName } from "../../../src/protocol/paths.ts";
import {
  agentName,
  freeName,
  isTeamDir,
  sameName,
  splitAddress,
  teamDir,
} from "../../../src/schema/names.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { cases } from "../../support/random/arbitraries.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const root = resolve("/r");
const home = { root, runtime: join(root, "runtime") };
const piece = fc.oneof(
  fc.constantFrom(
    "..",
    "/",
    "\\",
    ".",
    "%2F",
    "%",
    "\0",
    "\n",
    "-",
    "_",
    "~",
    "$",
    "@",
    ":",
    " ",
    "CON",
    "é",
    "E\u0301",
    "\u202e",
    "\u200b",
    "👩‍💻",
    "K",
    "ß",
    "İ",
  ),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.string({ maxLength: 4 }),
);
const name = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", minLength: 50, maxLength: 80 }),
);
/** The longest file name: with the suffix of a lock or a temporary file it still fits into 255 bytes. */
const LONGEST = 210;
/** Two names that are often alike. */
const pair = fc.oneof(
  fc.tuple(name, name),
  name.map((one) => [one, one.toUpperCase()] as const),
  fc
    .tuple(name, fc.constantFrom("-", "_", "%", ".json", " "))
    .map(([one, more]) => [one, one + more] as const),
  name.map((one) => [one, one.normalize("NFD")] as const),
);

/** Returns the result of the check; undefined if it throws a TeamError. */
function accepted<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    expect(error).toBeInstanceOf(TeamError);
    return undefined;
  }
}

test("team paths of any name, id or address stay inside their directory (S44)", () => {
  const ref = teamRef(home, "crew");
  fc.assert(
    fc.property(name, (one) => {
      const { paths } = ref;
      const agent = paths.agent(one);
      const request = paths.request(one);
      const inPlace: [string, string][] = [
        [paths.inbox(one), paths.inboxes],
        [paths.task(one), paths.tasks],
        [request.request, paths.requests],
        [request.answer, paths.requests],
        [agent.run, join(paths.dir, "run")],
        [agent.runtime, paths.runtime],
      ];
      const misplaced = inPlace.filter(([path, directory]) => {
        const file = basename(path);
        return dirname(path) !== directory || !/^[\w%-][\w.%-]*$/.test(file) || file.length > LONGEST;
      });
      expect(misplaced).toEqual([]);
      splitAddress(one);
    }),
    cases(12_000),
  );
});

test("teamDir rejects a name or returns one plain directory below the root (S44)", () => {
  fc.assert(
    fc.property(name, (one) => {
      const directory = accepted(() => teamDir(one));
      if (directory === undefined) return;
      expect(isTeamDir(directory)).toBe(true);
      expect(relative(root, teamRef(home, one).paths.dir).split(sep)).toEqual(["teams", directory]);
      expect(teamDir(directory)).toBe(directory);
    }),
    cases(10_000),
  );
});

test("agentFileName gives different names different files, even if the disk ignores case (S55)", () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const both = [one, other].map((each) => accepted(() => agentName(each)));
      if (both.includes(undefined) || sameName(one, other)) return;
      expect(agentFileName(one).toLowerCase()).not.toBe(agentFileName(other).toLowerCase());
    }),
    cases(15_000),
  );
});

test("freeName returns a name that is free, and valid if the given name is valid", () => {
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 3 }), fc.nat({ max: 3 }), (one, others, times) => {
      const taken = [...others];
      for (let i = 0; i <= times; i += 1) taken.push(freeName(one, taken));
      const free = freeName(one, taken);
      expect(taken.some((other) => sameName(other, free))).toBe(false);
      if (accepted(() => agentName(one)) !== undefined) expect(agentName(free)).toBe(free);
    }),
    cases(5_000),
  );
});

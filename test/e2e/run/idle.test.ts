import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { TAG } from "../../../src/backend/tmux/pane-tags.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { ring } from "../../../src/wakeup/fifo-bell.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const PRELOAD = fileURLToPath(new URL("../../fixtures/preload/log-wakeups.cjs", import.meta.url));
/** The shortest timer that an idle process may have, in milliseconds. */
const MIN_MS = 5_000;

/** One teammate runs a long command; the other, the lead and the sidebar are idle. */
const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        tools: [
          { name: "Agent", input: { name: "calm", prompt: "watch" } },
          { name: "Agent", input: { name: "busy", prompt: "work" } },
        ],
      },
      { say: "They are there.", repeat: true },
    ],
    calm: [{ say: "watching" }],
    busy: [{ tools: [{ name: "Bash", input: { command: "touch working; sleep 300" } }] }],
  },
};

/** The idle processes, and the arguments that identify them. */
const WAITING: readonly (readonly [string, RegExp])[] = [
  ["the lead", /^run /],
  ["the teammate", /--agent-name calm /],
  ["the sidebar", /^sidebar/],
];

it("idle lead, teammate and sidebar › fork nothing, poll nothing and have no timer under 5 s", async () => {
  const t = privateTmux();
  const armed = join(t.home, "armed");
  mkdirSync(armed);
  writeFileSync(join(t.home, "calm.json"), JSON.stringify(PLAYBOOK));
  const env = { ARMED: armed, NODE_OPTIONS: `--require ${PRELOAD}` };
  const words = [
    "run",
    "--team",
    "crew",
    "--playbook",
    "calm.json",
    "--permission-mode",
    "bypassPermissions",
    "--rm",
  ];
  const person = personInside(t, words, { env });
  await eventually("the long command", () => existsSync(join(t.home, "working")));
  const ref = teamRef({ root: t.root, runtime: "" }, "crew");
  // The lead keeps calm's idle notice unread while the other works.
  await eventually(
    "idle agents",
    () => isAtRest(ref, "calm") && readStatus(ref, "team-lead")?.state === "idle",
  );
  // The border is the last change after a new state, and is drawn a moment later.
  const calmsPane = readStatus(ref, "calm")?.paneId ?? "";
  await eventually(
    "the border of an idle teammate",
    () => t.tmux("display-message", "-p", "-t", calmsPane, `#{${TAG.state}}`) === "idle",
  );
  const since = performance.timeOrigin + performance.now();
  // Each process now wakes up, finds no work, and waits again.
  for (const name of ["team-lead", "calm"]) expect(ring(readStatus(ref, name)?.bell ?? "")).toBe("rung");
  utimesSync(ref.paths.config, 1, 1);
  const found = await Promise.all(
    WAITING.map(async ([who, argv]) => {
      const idle = await eventually(`quiet time of ${who}`, () => quietPart(armed, argv, since));
      return [who, idle] as const;
    }),
  );
  expect(found).toEqual(WAITING.map(([who]) => [who, []]));
  await person.endsRun();
  expect(await person.code()).toBe(130);
  await leaves(t, nothing(["work:cat"]));
});

/** A line of the preload's log; the preload documents the fields. */
interface Entry {
  readonly at: number;
  readonly argv?: string;
  readonly timer?: number;
  readonly ms?: number;
  readonly over?: number;
  readonly poll?: number;
  readonly fork?: string;
}

/**
 * Returns the wake-ups and forks of a process during the first 5 s wait of its slow check, with the fast
 * timers and polls that continued from before.
 * That wait was complete if the timer of 10 s follows: any event in between would have prevented it.
 * @param since milliseconds since the epoch, after which the wait must begin
 * @returns undefined until the wait is complete
 */
function quietPart(directory: string, argv: RegExp, since: number): Entry[] | undefined {
  const log = logs(directory).find(([first]) => argv.test(first?.argv ?? "")) ?? [];
  const end = log.findLast(({ ms }) => ms === 2 * MIN_MS);
  const begin = log.findLast(({ at, ms }) => ms === MIN_MS && end !== undefined && at < end.at);
  if (begin === undefined || end === undefined) return undefined;
  const until = begin.at + MIN_MS;
  if (begin.at < since || end.at < until) return undefined;
  // Node reports a cleared timer only in the next turn of its event loop.
  const over = new Set(log.flatMap((entry) => entry.over ?? []));
  return log.filter(({ at, timer = 0, ms = MIN_MS, poll, fork }) => {
    // Forks of the slow check's own work count too.
    if (fork !== undefined) return at > begin.at && at < end.at;
    const isFast = poll !== undefined || ms < MIN_MS;
    return isFast && (at < begin.at ? !over.has(timer) : at < until);
  });
}

function logs(directory: string): Entry[][] {
  return readdirSync(directory).map((pid) => {
    const lines = readFileSync(join(directory, pid), "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  });
}

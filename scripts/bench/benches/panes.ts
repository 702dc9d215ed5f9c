import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { OperationContext } from "../../../src/operations/context.ts";
import { shutdownTeammates } from "../../../src/operations/ending/shutdown.ts";
import { spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { capturePanes } from "../../../src/tmux/capture.ts";
import { equals } from "../../../src/tmux/command.ts";
import { listPanes } from "../../../src/tmux/list-panes.ts";
import { tmuxServer } from "../../../src/tmux/server.ts";
import { makeFifos } from "../../../src/wakeup/fifo-bell.ts";
import {
  atMost,
  atMostTimes,
  type Bench,
  countAtMost,
  type Figure,
  type Place,
  type Setup,
} from "../figure.ts";
import { programFile, timeOfNode } from "../support/children.ts";
import { countedTmux, endServer, endTeam, leadOf, tmuxOf, untilIdle } from "../support/lead.ts";
import { Samples, sampleInTurn, timeOf } from "../support/samples.ts";
import { type BenchTeam, benchTeam, TEAM } from "../support/scratch.ts";

/** Teammates in panes: their start, their end, and the number of tmux calls. */
export const panes: Bench = {
  name: "panes",
  title: "Teammates in panes",
  short: false,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined) return [];
    const figures: Figure[] = [];
    for (const count of [1, 4, 16]) figures.push(await starts(setup, place, count));
    for (const count of [4, 16]) figures.push(await ends(setup, place, count));
    figures.push(await captures(setup, place), ...(await calls(setup, place)));
    return figures;
  },
};

/** Measures the time from the call until all teammates have reported ready. */
async function starts(setup: Setup, place: Place, count: number): Promise<Figure> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let turn = 0; turn < setup.amount(5, 2); turn += 1) {
    const team = await benchTeam(place, []);
    const ctx = leadOf(setup, team);
    tmuxOf(team, "new-session", "-d", "-x", "400", "-y", "200", "--", "cat");
    const background: Promise<unknown>[] = [];
    try {
      bare.push(await timeOf(() => barePanes(team, count)));
      const inputs = names(count).map((name) => ({ name }));
      ours.push(
        await timeOf(() =>
          spawnTeammates(ctx, inputs, { mode: "tmux", background: (work) => background.push(work) }),
        ),
      );
      await Promise.all(background);
    } finally {
      await endTeam(ctx, team);
    }
  }
  const value = new Samples(ours).median;
  const reference = { what: "bare panes with an empty Node program", value: new Samples(bare).median };
  return {
    what: `spawn ${count} → all ready`,
    value,
    unit: "ms",
    references: [reference],
    goal: atMostTimes(1.5, value, reference),
  };
}

/** Opens the same number of panes in one call, and waits until each program has started. */
async function barePanes(team: BenchTeam, count: number): Promise<void> {
  const fifo = join(team.directory, "ready");
  await makeFifos([fifo]);
  const socket = new Socket({
    fd: openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK),
    readable: true,
    writable: false,
  });
  const program = [process.execPath, programFile("ready"), fifo];
  const splits = names(count).flatMap(() => [
    "split-window",
    "-d",
    "--",
    ...program,
    ";",
    "select-layout",
    "tiled",
    ";",
  ]);
  tmuxOf(team, ...splits.slice(0, -1));
  let ready = 0;
  for await (const bytes of socket) {
    ready += (bytes as Buffer).length;
    if (ready >= count) break;
  }
}

/** Measures the time from a shutdown request to the end of teammates that have worked and agree at once. */
async function ends(setup: Setup, place: Place, count: number): Promise<Figure> {
  const took: number[] = [];
  for (let turn = 0; turn < setup.amount(3, 1); turn += 1) {
    const team = await benchTeam(place, []);
    const ctx = leadOf(setup, team);
    try {
      await spawn(ctx, count, { prompt: "Look around." });
      await untilIdle(team, names(count));
      took.push(await timeOf(() => shutdownTeammates(ctx, names(count))));
    } finally {
      await endTeam(ctx, team);
    }
  }
  const value = new Samples(took).median;
  const what = `shutdown of ${count} teammates that agree at once`;
  // Each needs a turn to agree: for many teammates, these turns take most of the time.
  return { what, value, unit: "ms", goal: atMost(count <= 4 ? 500 : 1_000, "ms", value) };
}

const CAPTURED = 64;

/** Measures a capture of this many panes that checks the identity of each. */
async function captures(setup: Setup, place: Place): Promise<Figure> {
  const team = await benchTeam(place, []);
  const server = tmuxServer({ socket: { name: team.env.TEAMS_TMUX_SOCKET ?? "" }, env: team.env });
  try {
    tmuxOf(team, "new-session", "-d", "-x", "200", "-y", "50", "--", "cat");
    const more = names(CAPTURED - 1).flatMap(() => [";", "new-window", "-d", "--", "cat"]);
    tmuxOf(team, ...more.slice(1));
    const { panes } = await listPanes(server);
    const targets = panes.map(({ id }) => ({ pane: id, condition: equals("pane_id", id) }));
    const [one, each] = await sampleInTurn(setup.amount(15, 5), [
      () => timeOf(() => capturePanes(server, targets, 50)),
      () =>
        timeOf(async () => {
          for (const target of targets) await capturePanes(server, [target], 50);
        }),
    ]);
    return {
      what: `capture of ${panes.length} panes in one call, p50`,
      value: one?.median ?? Number.NaN,
      unit: "ms",
      references: [{ what: "one call for each pane", value: each?.median ?? Number.NaN }],
    };
  } finally {
    endServer(team);
  }
}

/** Counts the tmux calls of operations; the number of teammates must not matter. */
async function calls(setup: Setup, place: Place): Promise<readonly Figure[]> {
  const team = await benchTeam(place, []);
  const counted = countedTmux(team);
  const ctx = leadOf(setup, team, counted.env);
  const teams = (...words: string[]): Promise<number> =>
    timeOfNode([join(setup.dist, "teams.cjs"), ...words, "--team", TEAM], {
      env: ctx.env,
      cwd: team.directory,
    });
  const operations: readonly (readonly [string, number, () => unknown])[] = [
    ["spawn of 4", 3, () => spawn(ctx, 4)],
    ["status", 1, () => teams("status")],
    ["send", 0, () => teams("send", "agent-0", "hello")],
    // One of them is the launch script's: it checks whether clients of the team's session must be switched back.
    ["kill of one", 3, () => teams("kill", "agent-0")],
  ];
  const figures: Figure[] = [];
  try {
    for (const [what, most, operation] of operations) {
      counted.calls([]);
      await operation();
      const value = counted.calls(names(4));
      figures.push({ what: `tmux calls: ${what}`, value, unit: "", goal: countAtMost(most, value) });
    }
  } finally {
    await endTeam(ctx, team);
  }
  return figures;
}

/** @returns when all are ready and the work in the background is done */
async function spawn(ctx: OperationContext, count: number, options: { prompt?: string } = {}): Promise<void> {
  const background: Promise<unknown>[] = [];
  const inputs = names(count).map((name) => ({ name, ...options }));
  await spawnTeammates(ctx, inputs, { mode: "tmux", background: (work) => background.push(work) });
  await Promise.all(background);
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `agent-${index}`);
}
